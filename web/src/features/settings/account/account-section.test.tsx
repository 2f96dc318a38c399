import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { ChangePassword } from "./account-section";

it("sends a first password without a current one, and says at the field what is wrong", async () => {
  const { user, server } = await renderPart(<ChangePassword />);
  const route = "POST /api/v1/auth/password";
  server.refuse(route, ["new_password"], "string_too_short", "String should have at least 8 characters", 8);
  await user.type(await screen.findByLabelText(/New password/), "short");
  await user.click(screen.getByRole("button", { name: "Change password" }));
  expect(await screen.findByText("New password must have at least 8 characters.")).toBeTruthy();
  await waitFor(() => expect(server.sent).toEqual([{ route, body: { new_password: "short" } }]));
});
