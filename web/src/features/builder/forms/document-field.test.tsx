import { screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { DocumentField } from "./document-field";

const LIST = "GET /api/v1/knowledge-base/";
const HANDBOOK = { id: "d1", name: "House rules", filename: "handbook-v3.pdf", status: "ready" };

/** Answers uploads, which tell their progress and so are no `fetch`. */
function stubUpload(status: number, answer: object) {
  class Upload {
    status = status;
    responseText = JSON.stringify(answer);
    upload = {};
    onload = () => undefined;
    open() {}
    setRequestHeader() {}
    send() {
      queueMicrotask(this.onload);
    }
  }
  globalThis.XMLHttpRequest = Upload as unknown as typeof XMLHttpRequest;
}

const Original = globalThis.XMLHttpRequest;
afterEach(() => {
  globalThis.XMLHttpRequest = Original;
});

const seen: { value: unknown } = { value: undefined };

function Form({ isOff = false }: { isOff?: boolean }) {
  const [value, setValue] = useState<unknown>(["d1"]);
  seen.value = value;
  return (
    <DocumentField
      property={{
        name: "document_refs",
        type: "document_refs",
        display_name: "Documents",
        description: "",
        required: false,
      }}
      value={value}
      error={undefined}
      isOff={isOff}
      onChange={setValue}
      errorAt={() => undefined}
      common={{ label: "Documents", description: "", error: undefined, disabled: isOff, withAsterisk: false }}
    />
  );
}

const render = (part = <Form />) => renderPart(part, { server: new FakeServer().on(LIST, { body: [HANDBOOK] }) });

it("shows a document by its title, as the knowledge page does", async () => {
  await render();
  expect(await screen.findAllByText("House rules")).not.toEqual([]);
  expect(screen.queryByText("handbook-v3.pdf")).toBeNull();
});

it("chooses what was uploaded, beside what was chosen", async () => {
  stubUpload(200, { id: "d2" });
  const { user } = await render();
  await user.upload(screen.getByLabelText("Upload documents"), new File(["Open at nine."], "hours.txt"));
  await waitFor(() => expect(seen.value).toEqual(["d1", "d2"]));
});

it("chooses a web page that is added here", async () => {
  const { user, server } = await render();
  server.on("POST /api/v1/knowledge-base/pages", { body: { id: "d3", name: "acme.com/hours" } });
  await user.click(await screen.findByRole("button", { name: "From a web address" }));
  await user.type(await screen.findByRole("textbox", { name: /^Address/ }), "acme.com/hours");
  await user.click(screen.getByRole("button", { name: "Add page" }));
  await waitFor(() => expect(seen.value).toEqual(["d1", "d3"]));
  expect(screen.queryByRole("dialog")).toBeNull();
});

it("says why a file was refused, and chooses nothing", async () => {
  stubUpload(422, { detail: "This file cannot be read.", code: "document_unreadable" });
  const { user } = await render();
  await user.upload(screen.getByLabelText("Upload documents"), new File(["?"], "hours.txt"));
  expect((await screen.findByRole("alert")).textContent).toContain("This file cannot be read.");
  expect(seen.value).toEqual(["d1"]);
});

it("offers no upload to those who only read", async () => {
  await render(<Form isOff />);
  expect(screen.queryByLabelText("Upload documents")).toBeNull();
});
