import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeServer } from "../../../testing/server";
import { renderPart } from "../../../testing/render";
import { DoNotCallForm } from "./do-not-call-section";

const ADD = "POST /api/v1/organizations/do-not-call";

it("sends each number by itself, and says which one is wrong", async () => {
  const server = new FakeServer().refuse(ADD, ["phone_numbers", 1], "value_error", "Value error, too short");
  const { user } = await renderPart(<DoNotCallForm onClose={() => undefined} />, { server });
  expect(await screen.findByRole("button", { name: "Add" })).toHaveProperty("disabled", true);
  await user.type(screen.getByRole("textbox", { name: /Numbers/ }), "+12015550101, 12");
  await user.type(screen.getByRole("textbox", { name: /Reason/ }), "asked");
  await user.click(screen.getByRole("button", { name: "Add" }));
  expect(await screen.findByText("12: Too short.")).toBeTruthy();
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(JSON.stringify(server.sent[0]?.body)).toContain('["+12015550101","12"]');
});
