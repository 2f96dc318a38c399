import { Table } from "@mantine/core";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { PassageRow } from "./passage-row";

const RUN = { run_id: 7, workflow_id: 3, workflow_name: "Ann's bakery", mode: "twilio", direction: "inbound" };
const PARTS = [
  { text: "Can I come on ", is_match: false },
  { text: "Friday", is_match: true },
  { text: "?", is_match: false },
];

function show(role: string, start_s: number) {
  return renderPart(
    <Table>
      <Table.Tbody>
        <PassageRow run={RUN} passage={{ role, start_s, parts: PARTS }} columns={9} />
      </Table.Tbody>
    </Table>,
  );
}

it("says who said it and when, marks the words, and leads to that place in the run", async () => {
  const { user, history } = await show("caller", 72.34);
  const link = screen.getByRole("link", { name: "Caller, 1:12 Can I come on Friday?" });
  expect(link.getAttribute("href")).toBe("/agents/3/runs/7?at=72.34");
  expect([...link.querySelectorAll("mark")].map((mark) => mark.textContent)).toEqual(["Friday"]);
  await user.click(screen.getByRole("cell"));
  expect(history.location.href).toBe("/agents/3/runs/7?at=72.34");
});

it("names the agent, and leads to the beginning of a run without a place", async () => {
  await show("agent", 0);
  const link = screen.getByRole("link", { name: "Ann's bakery, 0:00 Can I come on Friday?" });
  expect(link.getAttribute("href")).toBe("/agents/3/runs/7");
});
