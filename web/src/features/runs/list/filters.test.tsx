import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { Filters } from "./filters";

it("says of every choice that is not made that anything goes", async () => {
  const { user } = await renderPart(<Filters search={{}} onChange={() => undefined} />, { server: new FakeServer() });
  await user.click(await screen.findByRole("button", { name: "More filters" }));
  for (const name of ["Channel", "Status", "Success", "Direction", "Campaign"])
    expect(screen.getByLabelText<HTMLInputElement>(name, { selector: "input" }).placeholder).toBe("Any");
});
