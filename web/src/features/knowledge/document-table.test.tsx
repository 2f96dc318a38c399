import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import type { Document } from "./api";
import { DocumentTable } from "./document-table";

const READ_AGAIN = "POST /api/v1/knowledge-base/d1/read-again";
const PAGE = {
  address: "https://acme.com/hours",
  read_at: new Date().toISOString(),
  is_being_read: false,
  error: null,
  error_code: null,
};

const documentOf = (page: object, more: object = {}) =>
  ({
    id: "d1",
    name: "Hours",
    filename: "hours",
    status: "ready",
    error: null,
    notice: null,
    size_bytes: 900,
    chunk_count: 2,
    created_at: new Date().toISOString(),
    web_page: { ...PAGE, ...page },
    ...more,
  }) as unknown as Document;

async function show(document: Document) {
  const server = new FakeServer();
  signIn(server, "member");
  return renderPart(<DocumentTable documents={[document]} />, { server });
}

it("links to a page and reads it again", async () => {
  const { user, server } = await show(documentOf({}));
  const link = await screen.findByRole("link", { name: "acme.com/hours" });
  expect(link.getAttribute("href")).toBe("https://acme.com/hours");
  expect(screen.getByText(/^Read /)).toBeTruthy();
  server.on(READ_AGAIN, { body: {} });
  await user.click(await screen.findByRole("button", { name: "Read Hours again" }));
  await waitFor(() => expect(server.sent).toEqual([{ route: READ_AGAIN, body: undefined }]));
});

it("says that agents keep what they had when a page could not be read again", async () => {
  await show(documentOf({ error: "The web server responded with status 503.", error_code: "page_unreachable" }));
  expect(await screen.findByText(/responded with status 503\. Agents keep using the previous content\./)).toBeTruthy();
  expect(screen.getByText("Ready")).toBeTruthy();
});

it("shows a page that is read again as being read, and does not offer it once more", async () => {
  await show(documentOf({ is_being_read: true }));
  expect(await screen.findByText("Reading again")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Read Hours again" })).toBeNull();
});

it("shows no passages and no size of a page that was never read", async () => {
  const error = "The host acme.com was not found.";
  const failed = { status: "failed", error, size_bytes: 0, chunk_count: null };
  await show(documentOf({ read_at: null, error, error_code: "page_unreachable" }, failed));
  expect(await screen.findByText(error)).toBeTruthy();
  expect(screen.getAllByText("–")).toHaveLength(2);
  expect(await screen.findByRole("button", { name: "Read Hours again" })).toBeTruthy();
});

it("says what a ready document lacks", async () => {
  await show(documentOf({}, { notice: "The file name ends in .png, but its content is text/plain." }));
  expect(await screen.findByText(/ends in \.png, but its content is text/)).toBeTruthy();
});
