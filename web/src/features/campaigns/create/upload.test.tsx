import { screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { stubUploads } from "../../../testing/uploads";
import type { Contacts } from "./contact-file-field";
import { ContactsStep } from "./contacts-step";

const PLACE = "POST /api/v1/s3/presigned-upload-url";

interface HeldProps {
  agentId: string | null;
  onContacts: (contacts: Contacts | null) => void;
}

function Held({ agentId, onContacts }: HeldProps) {
  const [contacts, setContacts] = useState<Contacts | null>(null);
  const change = (next: Contacts | null) => {
    setContacts(next);
    onContacts(next);
  };
  return (
    <ContactsStep
      name="Spring"
      agentId={agentId}
      agents={[]}
      contacts={contacts}
      onName={() => undefined}
      onAgent={() => undefined}
      onContacts={change}
      errorAt={() => undefined}
    />
  );
}

/** `greeting`: what the agent that is chosen says first. */
async function chooseFile(content: string, greeting?: string) {
  const onContacts = vi.fn<(contacts: Contacts | null) => void>();
  const server = new FakeServer().on(PLACE, {
    body: { upload_url: "http://localhost/api/v1/s3/files/f1?token=t", file_key: "f1" },
  });
  const definition = { nodes: [{ id: "s", type: "startCall", data: { greeting } }], edges: [] };
  server.on("GET /api/v1/workflow/7/versions", {
    body: [{ status: "published", workflow_json: definition, template_context_variables: {} }],
  });
  const { user } = await renderPart(<Held agentId={greeting === undefined ? null : "7"} onContacts={onContacts} />, {
    server,
  });
  await user.upload(
    await screen.findByLabelText("Contact file"),
    new File([content], "people.csv", { type: "text/csv" }),
  );
  return { user, server, onContacts };
}

it("sends a file to the place that the API gives it", async () => {
  const uploads = stubUploads(200);
  const { server, onContacts } = await chooseFile("phone_number,name\n+12015550101,Ann\n");
  await waitFor(() => expect(onContacts.mock.lastCall?.[0]?.fileKey).toBe("f1"));
  const body = { file_name: "people.csv", file_size: 35, content_type: "text/csv" };
  expect(server.sent).toEqual([{ route: PLACE, body }]);
  expect(uploads).toMatchObject([{ address: "/api/v1/s3/files/f1?token=t", body: { name: "people.csv", size: 35 } }]);
  expect(screen.getByText(/1 contact$/)).toBeTruthy();
});

it("shows the rows that are wrong, and sends nothing", async () => {
  const uploads = stubUploads(200);
  const { server } = await chooseFile("phone_number\n+12\n+12015550101\n+12015550101\n");
  expect(await screen.findByText("Duplicate of row 3.")).toBeTruthy();
  expect(screen.getByRole("alert").textContent).toContain("2 problems in this file. Fix them and choose the file");
  expect([server.sent, uploads]).toEqual([[], []]);
});

it("sends the rest when rows that are wrong are skipped", async () => {
  const uploads = stubUploads(200);
  const { user, onContacts } = await chooseFile("phone_number,name\n12,A\n+1 201-555-0101,B\n+12015550101,C\n");
  await user.click(await screen.findByRole("button", { name: "Skip 2 rows and keep 1 contact" }));
  await waitFor(() => expect(onContacts.mock.lastCall?.[0]?.fileKey).toBe("f1"));
  expect(await uploads[0]?.body.text()).toBe("phone_number,name\n\n+12015550101,B\n");
  expect(screen.getByText("2 rows skipped · 1 number reformatted")).toBeTruthy();
});

it("asks which column holds the phone numbers", async () => {
  const uploads = stubUploads(200);
  const { user, onContacts } = await chooseFile('Name;Line\n"Ann; B";+12015550101\n');
  await user.click(await screen.findByRole("combobox", { name: "Phone number column" }));
  expect(screen.getByText(/^people\.csv · \d+ B$/)).toBeTruthy();
  await user.click(await screen.findByRole("option", { name: "Line" }));
  await waitFor(() => expect(onContacts.mock.lastCall?.[0]?.fileKey).toBe("f1"));
  expect(await uploads[0]?.body.text()).toBe("Name,phone_number\nAnn; B,+12015550101\n");
});

it("begins with the column that is called phone, and lets it be changed", async () => {
  const uploads = stubUploads(200);
  const { user } = await chooseFile("Phone,Office\n+12015550101,+12015550102\n");
  const field = await screen.findByRole("combobox", { name: "Phone number column" });
  expect(field).toHaveProperty("value", "Phone");
  await waitFor(() => expect(uploads).toHaveLength(1));
  await user.click(field);
  await user.click(await screen.findByRole("option", { name: "Office" }));
  await waitFor(() => expect(uploads).toHaveLength(2));
  expect(await uploads[1]?.body.text()).toBe("Phone,phone_number\n+12015550101,+12015550102\n");
  // As in the file, not as it is sent.
  expect(screen.getAllByRole("columnheader").map((header) => header.textContent)).toEqual(["Phone", "Office"]);
  expect(field).toHaveProperty("value", "Office");
});

it("speaks of no row where the file as a whole is wrong", async () => {
  await chooseFile("phone_number\n");
  expect((await screen.findByRole("alert")).textContent).toBe("There are no contacts below the header.");
});

it("shows why an upload failed", async () => {
  stubUploads(413, { detail: "Contact files are limited to 50 MB." });
  await chooseFile("phone_number\n+12015550101\n");
  expect(await screen.findByText("Contact files are limited to 50 MB.")).toBeTruthy();
  expect(screen.getByText("The upload failed")).toBeTruthy();
});

it("says which variables of the agent stay empty, and takes the column that is meant", async () => {
  const uploads = stubUploads(200);
  const { user, onContacts } = await chooseFile(
    "phone_number,First Name\n+12015550101,Ann\n",
    "Hello {{ first_name | there }}, about {{ order }}",
  );
  expect((await screen.findByRole("status")).textContent).toContain(
    "first_name: its default is used for every contact.",
  );
  expect(screen.getByRole("status").textContent).toContain("order: it is required.");
  await user.click(screen.getByRole("button", { name: "Use “First Name” for it" }));
  await waitFor(() => expect(uploads.length).toBe(2));
  expect(await uploads[1]?.body.text()).toBe("phone_number,first_name\n+12015550101,Ann\n");
  await waitFor(() => expect(onContacts.mock.lastCall?.[0]?.fileKey).toBe("f1"));
  expect(screen.queryByText(/first_name:/)).toBeNull();
});

it("offers the country code to numbers that have none", async () => {
  const uploads = stubUploads(200);
  const { user, onContacts } = await chooseFile("phone_number\n(201) 555-0101\n+12015550102\n");
  await user.click(await screen.findByRole("button", { name: "Add +1 (US and Canada) to 1 number" }));
  await waitFor(() => expect(onContacts.mock.lastCall?.[0]?.fileKey).toBe("f1"));
  expect(await uploads[0]?.body.text()).toBe("phone_number\n+12015550101\n+12015550102\n");
});
