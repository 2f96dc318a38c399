import { Button, Menu, TextInput } from "@mantine/core";
import { cleanup, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { watchFocus } from "../../lib/focus/last-focused";
import { renderPart } from "../../testing/render";
import { Confirm, FormDialog } from "./dialog";

function DeleteMenu() {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button>More actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setIsAsking(true)}>Delete</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        title="Delete the agent?"
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={vi.fn()}
        confirm="Delete"
      >
        Its calls stay.
      </Confirm>
    </>
  );
}

it("gives the focus back to the button of a menu that was off the page before its dialog was on it", async () => {
  watchFocus();
  const { user } = await renderPart(<DeleteMenu />);
  const opener = screen.getByRole("button", { name: "More actions" });
  opener.focus();
  await user.keyboard("{Enter}");
  const item = await screen.findByRole("menuitem", { name: "Delete" });
  item.focus();
  await user.keyboard("{Enter}");
  const dialog = await screen.findByRole("dialog", { name: "Delete the agent?" });
  await waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
  await user.keyboard("{Escape}");
  await waitFor(() => expect(document.activeElement).toBe(opener));
});

async function renderNameForm() {
  const onSubmit = vi.fn();
  const { user } = await renderPart(
    <FormDialog title="Rename" isOpen onClose={vi.fn()} onSubmit={onSubmit} submit="Save" isBusy={false}>
      <TextInput label="Name" />
    </FormDialog>,
  );
  return { user, onSubmit };
}

it("asks before what was entered is lost, and keeps it", async () => {
  const onClose = vi.fn();
  const { user } = await renderPart(
    <FormDialog title="Rename" isOpen onClose={onClose} onSubmit={vi.fn()} submit="Save" isBusy={false} isChanged>
      <TextInput label="Name" />
    </FormDialog>,
  );
  await user.type(screen.getByRole("textbox", { name: "Name" }), "Front desk");
  await user.keyboard("{Escape}");
  const question = await screen.findByRole("dialog", { name: "Discard your changes?" });
  await waitFor(() => expect(question.contains(document.activeElement)).toBe(true));
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog", { name: "Discard your changes?" })).toBeNull());
  expect(screen.getByRole("textbox", { name: "Name" })).toHaveProperty("value", "Front desk");
  expect(onClose).not.toHaveBeenCalled();
  screen.getByRole("textbox", { name: "Name" }).focus();
  await user.keyboard("{Escape}");
  await user.click(await screen.findByRole("button", { name: "Discard" }));
  expect(onClose).toHaveBeenCalledTimes(1);
});

it("calls off a form without a question by its button, and where nothing was entered", async () => {
  const onClose = vi.fn();
  const form = (isChanged: boolean) => (
    <FormDialog
      title="Rename"
      isOpen
      onClose={onClose}
      onSubmit={vi.fn()}
      submit="Save"
      isBusy={false}
      isChanged={isChanged}
    >
      <TextInput label="Name" />
    </FormDialog>
  );
  const changed = await renderPart(form(true));
  await changed.user.click(screen.getByRole("button", { name: "Cancel" }));
  expect(onClose).toHaveBeenCalledTimes(1);
  cleanup();
  const { user } = await renderPart(form(false));
  screen.getByRole("textbox", { name: "Name" }).focus();
  await user.keyboard("{Escape}");
  expect(onClose).toHaveBeenCalledTimes(2);
});

it("sends a form once when its button is clicked twice", async () => {
  const { user, onSubmit } = await renderNameForm();
  await user.dblClick(screen.getByRole("button", { name: "Save" }));
  expect(onSubmit).toHaveBeenCalledTimes(1);
});

it("sends a form again as soon as something in it was changed", async () => {
  const { user, onSubmit } = await renderNameForm();
  await user.click(screen.getByRole("button", { name: "Save" }));
  await user.type(screen.getByRole("textbox", { name: "Name" }), "A");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(onSubmit).toHaveBeenCalledTimes(2);
});
