/** A form in a dialog, and a question before what cannot be undone. */

import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { type SubmitEvent, type ReactNode, useState } from "react";
import { messageOf } from "../../lib/api/errors";
import { useClickGuard } from "../../lib/ui/use-click-guard";
import { useFocusBack } from "../../lib/focus/use-focus-back";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  size?: string | number;
  /** Another dialog lies over this one, and takes Escape. */
  isCovered?: boolean;
  children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, size, isCovered = false, children }: DialogProps) {
  useFocusBack(isOpen);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size ?? "md"}
      closeOnEscape={!isCovered}
      closeOnClickOutside={!isCovered}
    >
      {children}
    </Modal>
  );
}

interface FormDialogProps extends Omit<DialogProps, "isCovered"> {
  onSubmit: () => void;
  submit: string;
  isBusy: boolean;
  isDisabled?: boolean;
  /** Nothing is left to be called off. */
  isDone?: boolean;
  isDangerous?: boolean;
  /** Something was entered that would be lost: closing by anything but “Cancel” asks first. */
  isChanged?: boolean;
  /** What is wrong beside the fields. */
  problem?: string | null;
}

export function FormDialog({
  title,
  isOpen,
  onClose,
  onSubmit,
  submit,
  isBusy,
  isDisabled,
  isDone = false,
  isDangerous = false,
  isChanged = false,
  problem,
  size,
  children,
}: FormDialogProps) {
  const clicks = useClickGuard(isOpen && !isBusy && !isDone);
  const [isAsking, setIsAsking] = useState(false);
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    clicks.run(onSubmit);
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={isChanged ? () => setIsAsking(true) : onClose}
      title={title}
      isCovered={isAsking}
      {...(size === undefined ? {} : { size })}
    >
      {/* Not there before it is asked: it would take the very press of Escape that asks for it. */}
      {isAsking && (
        <Confirm
          title="Discard your changes?"
          isOpen
          onClose={() => setIsAsking(false)}
          onConfirm={() => {
            setIsAsking(false);
            onClose();
          }}
          confirm="Discard"
          cancel="Keep editing"
        >
          What you entered is not saved.
        </Confirm>
      )}
      <form onSubmit={send} onInput={clicks.reset} noValidate>
        <Stack gap="md">
          {children}
          <FormProblem words={problem} />
          <Group justify="flex-end" gap="sm">
            {!isDone && (
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
            )}
            <Button type="submit" color={isDangerous ? "red" : "brand"} loading={isBusy} disabled={isDisabled ?? false}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

export function FormProblem({ words }: { words: string | null | undefined }) {
  if (!words) return null;
  return (
    <Alert color="red" variant="light" role="alert" py="xs">
      {words}
    </Alert>
  );
}

interface ConfirmProps extends Omit<DialogProps, "size" | "isCovered"> {
  onConfirm: () => void;
  confirm: string;
  cancel?: string;
  isBusy?: boolean;
  error?: unknown;
  isDangerous?: boolean;
}

export function Confirm({
  title,
  children,
  isOpen,
  onClose,
  onConfirm,
  confirm,
  cancel = "Cancel",
  isBusy = false,
  error,
  isDangerous = true,
}: ConfirmProps) {
  const clicks = useClickGuard(isOpen && !isBusy);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <Stack gap="md">
        <Text component="div" fz="sm">
          {children}
        </Text>
        <FormProblem words={error ? messageOf(error) : null} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button
            color={isDangerous ? "red" : "brand"}
            loading={isBusy}
            onClick={() => clicks.run(onConfirm)}
            data-autofocus
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
