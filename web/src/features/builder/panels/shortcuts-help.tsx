/** The list of keys. */

import { Kbd, Modal, Table } from "@mantine/core";

const KEYS: [string, string][] = [
  ["Tab, Shift Tab", "Move between steps"],
  ["Enter", "Select the step and open its form"],
  ["Escape", "Return from the form to the step"],
  ["Space, then arrow keys", "Select the step, move the selection"],
  ["Delete", "Remove the selection"],
  ["Ctrl Z, Ctrl Shift Z", "Undo, redo"],
  ["Ctrl C, Ctrl X, Ctrl V", "Copy, cut, paste (also between agents)"],
  ["Ctrl D", "Duplicate"],
  ["Ctrl A", "Select all steps"],
  ["Ctrl F", "Search"],
  ["Ctrl K", "Find any page, agent, step, or command"],
  ["Shift F10", "Open the menu of the step"],
  ["Shift L", "Arrange all steps"],
  ["Ctrl S", "Save now"],
];

export function ShortcutsHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts" centered radius="lg">
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
            <Table.Td colSpan={2}>
              To connect steps without a mouse, select one and use Transitions in its form.
            </Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
