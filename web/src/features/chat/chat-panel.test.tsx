import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { ChatPanel } from "./chat-panel";
import { useChat } from "./use-chat";

const ROUTE = "POST /api/v1/workflow/7/text-chat/sessions";
const STEPS = [
  { value: "a", label: "Greeting" },
  { value: "b", label: "Booking" },
];
const prepare = () => Promise.resolve();

function Panel({ steps }: { steps: typeof STEPS }) {
  return <ChatPanel chat={useChat(7, prepare)} agentId={7} agentName="Orders" steps={steps} />;
}

it("starts where the agent starts, or at the step that is chosen", async () => {
  const server = new FakeServer().refuse(ROUTE, ["start_node_id"], "unknown_step", "This step is not in the agent.");
  const { user } = await renderPart(<Panel steps={STEPS} />, { server });
  await user.click(screen.getByRole("button", { name: "Start chat" }));
  await screen.findByText(/not in the agent/);
  await user.click(screen.getByRole("combobox", { name: "Start at" }));
  await user.click(await screen.findByRole("option", { name: "Booking" }));
  await user.click(screen.getByRole("button", { name: "Start chat" }));
  await expect
    .poll(() => server.sent)
    .toEqual([
      { route: ROUTE, body: {} },
      { route: ROUTE, body: { start_node_id: "b" } },
    ]);
});

it("offers no choice where there is only one step", async () => {
  await renderPart(<Panel steps={STEPS.slice(0, 1)} />, { server: new FakeServer() });
  expect(screen.queryByLabelText("Start at")).toBeNull();
});

it("says what it found out as the run's page does", async () => {
  const chat = {
    ...{ runId: 4, isOver: true, isBusy: false, turns: [], tools: [], pending: null, error: null },
    variables: { would_recommend: false, topic: "the shower" },
  };
  await renderPart(<ChatPanel chat={chat as never} agentId={7} agentName="Survey" steps={[]} />, {
    server: new FakeServer(),
  });
  expect(screen.getByLabelText("Variables").textContent).toBe("Would recommendNoTopicthe shower");
});
