/** The list of keys. */

import { Kbd, Modal, Table } from "@mantine/core";

const KEYS: [string, string][] = [
  ["Tab, Shift Tab", "Go from step to step"],
  ["Enter", "Choose the step and go to its form"],
  ["Escape", "Go back from the form to the step"],
  ["Space, then arrow keys", "Choose the step, move what is chosen"],
  ["Delete", "Remove what is chosen"],
  ["Ctrl Z, Ctrl Shift Z", "Undo, redo"],
  ["Ctrl C, Ctrl X, Ctrl V", "Copy, cut, paste: also between agents"],
  ["Ctrl D", "Duplicate"],
  ["Ctrl A", "Choose all steps"],
  ["Ctrl F", "Search"],
  ["Shift L", "Arrange all steps"],
  ["Ctrl S", "Save now"],
];

export function ShortcutsHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard" centered radius="lg">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={keys}>
              <Table.Td>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Td colSpan={2}>To join steps without a mouse, choose one and use “Leads to” in its form.</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
