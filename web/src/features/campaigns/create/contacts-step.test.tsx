import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../../testing/render";
import { ContactsStep } from "./contacts-step";

it("hands over the name, and shows what the API says at its field", async () => {
  const onName = vi.fn();
  const errors: Partial<Record<string, string>> = { name: "Name is required.", workflow_id: "Agent is required." };
  const { user } = await renderPart(
    <ContactsStep
      name=""
      agentId={null}
      agents={[]}
      contacts={null}
      onName={onName}
      onAgent={() => undefined}
      onContacts={() => undefined}
      errorAt={(name) => errors[name]}
    />,
  );
  const field = await screen.findByRole("textbox", { name: /^Name/ });
  await user.type(field, "M");
  expect(onName).toHaveBeenCalledWith("M");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByText("Agent is required.")).toBeTruthy();
});
