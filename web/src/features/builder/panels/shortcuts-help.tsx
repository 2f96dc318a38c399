/** The list of keys. */

import { Group, Kbd, Modal, Table } from "@mantine/core";

const KEYS: [string[], string][] = [
  [["Tab", "Shift Tab"], "Move between steps"],
  [["Enter"], "Select the step and open its form"],
  [["Escape"], "Return from the form to the step"],
  [["Space", "Arrow keys"], "Select the step, then move the selection"],
  [["Delete"], "Remove the selection"],
  [["Ctrl Z", "Ctrl Shift Z"], "Undo, redo"],
  [["Ctrl C", "Ctrl X", "Ctrl V"], "Copy, cut, paste (also between agents)"],
  [["Ctrl D"], "Duplicate"],
  [["Ctrl A"], "Select all steps and notes"],
  [["Ctrl F"], "Search"],
  [["Ctrl K"], "Find any page, agent, step, or command"],
  [["Shift F10"], "Open the menu of the step"],
  [["Shift N"], "Add a note"],
  [["Shift L"], "Arrange all steps"],
  [["Ctrl S"], "Save now"],
];

export function ShortcutsHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts" centered radius="lg">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td>
                <Group gap={4}>
                  {keys.map((key) => (
                    <Kbd key={key} style={{ whiteSpace: "nowrap" }}>
                      {key}
                    </Kbd>
                  ))}
                </Group>
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
