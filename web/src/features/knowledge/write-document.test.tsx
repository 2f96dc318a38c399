import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { WriteDocument } from "./write-document";

it("hands over what was written as a text file with its name", async () => {
  const files: File[] = [];
  const { user } = await renderPart(<WriteDocument onClose={() => undefined} onWritten={(file) => files.push(file)} />);
  expect((await screen.findByRole("button", { name: "Add document" })).hasAttribute("disabled")).toBe(true);
  fireEvent.change(screen.getByRole("textbox", { name: /^Name/ }), { target: { value: "Hours 2026/27" } });
  fireEvent.change(screen.getByRole("textbox", { name: /^Text/ }), { target: { value: "Open at nine." } });
  await user.click(screen.getByRole("button", { name: "Add document" }));
  expect(files.map(({ name, type, size }) => [name, type, size])).toEqual([["Hours 2026-27.txt", "text/plain", 13]]);
});
