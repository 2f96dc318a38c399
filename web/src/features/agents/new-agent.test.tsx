import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { NewAgent } from "./new-agent";

const WRITE = "POST /api/v1/workflow/create/template";

it("sends the name of a small agent", async () => {
  const { user, server } = await renderPart(<NewAgent isOpen onClose={() => undefined} />);
  server.refuse("POST /api/v1/workflow/create/definition", ["name"], "string_too_long", "at most 200 characters");
  await user.type(await screen.findByRole("textbox", { name: /Name/ }), "Reception");
  await user.click(screen.getByRole("button", { name: /^(Create|Make)/ }));
  expect(await screen.findByText("Name must have at most 200 characters.")).toBeTruthy();
  expect(server.sent.map(({ body }) => body)).toMatchObject([{ name: "Reception" }]);
});

it("sends what an agent is for, and says at the field what is wrong", async () => {
  const { user, server } = await renderPart(<NewAgent isOpen onClose={() => undefined} />);
  server.refuse(WRITE, ["activity_description"], "string_too_short", "at least 20 characters");
  await user.click(await screen.findByLabelText("From a description"));
  await user.type(screen.getByRole("textbox", { name: /Use case/ }), "Appointments");
  expect(screen.getByRole("button", { name: "Generate" })).toHaveProperty("disabled", true);
  await user.type(screen.getByRole("textbox", { name: /What the agent does/ }), "Books");
  await user.click(screen.getByRole("button", { name: /^(Generate|Create)/ }));
  expect(await screen.findByText("What the agent does must have at least 20 characters.")).toBeTruthy();
  const body = { call_type: "inbound", use_case: "Appointments", activity_description: "Books" };
  await waitFor(() => expect(server.sent).toEqual([{ route: WRITE, body }]));
});
