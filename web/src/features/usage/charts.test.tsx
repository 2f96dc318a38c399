import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../testing/render";
import Chart from "./charts";

vi.mock("recharts", async (original) => ({
  ...(await original<typeof import("recharts")>()),
  // It measures its place, and jsdom has no layout.
  ResponsiveContainer: () => null,
}));

const SERIES = { key: "completed", name: "Completed", color: "green" };
const CHART = { label: "Runs", kind: "bars" as const, rows: [{ at: "1 May", completed: 2 }], show: String };

it("names what is drawn, also a single outcome", async () => {
  await renderPart(<Chart {...CHART} series={[SERIES]} hasLegend />);
  expect(await screen.findByText("Completed")).toBeTruthy();
});

it("leaves out the name of a series that the title has", async () => {
  await renderPart(<Chart {...CHART} series={[SERIES]} />);
  expect(await screen.findByRole("figure")).toBeTruthy();
  expect(screen.queryByText("Completed")).toBeNull();
});
