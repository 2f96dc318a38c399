import { screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../../testing/render";
import { type Rules, bodyOf, FIRST_RULES } from "./draft";
import { RulesForm } from "./rules-form";

function Held({ onRules, errors }: { onRules: (rules: Rules) => void; errors: Partial<Record<string, string>> }) {
  const [rules, setRules] = useState(FIRST_RULES);
  const change = (next: Rules) => {
    setRules(next);
    onRules(next);
  };
  return <RulesForm rules={rules} onChange={change} errorAt={(name) => errors[name]} />;
}

it("gives what was typed as the body of a campaign", async () => {
  const onRules = vi.fn<(rules: Rules) => void>();
  const { user } = await renderPart(<Held onRules={onRules} errors={{}} />);
  const pace = await screen.findByLabelText(/Concurrency/);
  await user.clear(pace);
  await user.type(pace, "7");
  await user.click(screen.getByLabelText(/Spend limit/));
  await user.paste("12.5");
  await user.click(screen.getByLabelText("Allow premium-rate numbers"));
  await user.click(screen.getByLabelText("Leave a message"));
  await user.type(await screen.findByLabelText("Message"), "Call us");
  const last = onRules.mock.lastCall?.[0];
  expect(last && bodyOf(last)).toMatchObject({
    max_concurrency: 7,
    spend_cap_cents: 1250,
    destinations: { allow_premium: true },
    voicemail: { action: "leave_message", message: "Call us" },
  });
});

it("shows what the API says at its field", async () => {
  const errors = { max_concurrency: "Too many.", calling_hours: "No hours.", retry_config: "Too often." };
  await renderPart(<Held onRules={() => undefined} errors={errors} />);
  expect(await screen.findByText("Too many.")).toBeTruthy();
  expect(screen.getByLabelText(/Concurrency/).getAttribute("aria-invalid")).toBe("true");
  expect(screen.getAllByRole("alert").map((alert) => alert.textContent)).toEqual(["No hours.", "Too often."]);
});
