import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { CredentialForm } from "./credentials-section";

const SAVE = "POST /api/v1/credentials/";

it("sends a credential with its secret", async () => {
  const { user, server } = await renderPart(<CredentialForm credential={null} onClose={() => undefined} />);
  server.on(SAVE, { body: {} });
  await user.type(await screen.findByRole("textbox", { name: /^Name/ }), "CRM");
  await user.type(screen.getByLabelText(/^Token/), "t0ken");
  await user.click(screen.getByRole("button", { name: /^(Save|Add)/ }));
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(server.sent[0]).toMatchObject({
    route: SAVE,
    body: { name: "CRM", credential_type: "bearer_token", credential_data: { token: "t0ken" } },
  });
});

it("says at the secret that it is missing", async () => {
  const { user, server } = await renderPart(<CredentialForm credential={null} onClose={() => undefined} />);
  server.refuse(SAVE, ["credential_data", "token"], "missing", "Field required");
  await user.click(await screen.findByRole("button", { name: /^(Save|Add)/ }));
  expect(await screen.findByText("Token is required.")).toBeTruthy();
});
