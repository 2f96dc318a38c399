/** Which step a line that was let go over nothing should lead to. */

import { Menu } from "@mantine/core";
import type { Point } from "../../graph/definition";
import { canAdd, mayEnter } from "../../graph/specs";
import { useEditorContext } from "./editor";
import { KindIcon } from "./kinds";

export interface MenuPlace {
  /** On the screen. */
  x: number;
  y: number;
  from: string;
  /** On the canvas. */
  position: Point;
}

interface KindMenuProps {
  place: MenuPlace | null;
  onClose: () => void;
  onChoose: (kind: string, place: MenuPlace) => void;
}

export function KindMenu({ place, onClose, onChoose }: KindMenuProps) {
  const { specs, document } = useEditorContext();
  const kinds = [...specs.values()].filter((spec) => mayEnter(spec) && canAdd(spec, document.definition));
  return (
    <Menu opened={place !== null} onClose={onClose} position="bottom" withinPortal>
      <Menu.Target>
        <span style={{ position: "fixed", left: place?.x ?? 0, top: place?.y ?? 0, width: 1, height: 1 }} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Leads to a new</Menu.Label>
        {kinds.map((spec) => (
          <Menu.Item key={spec.name} leftSection={<KindIcon kind={spec.name} icon={spec.icon} size={13} />} onClick={() => place !== null && onChoose(spec.name, place)}>
            {spec.display_name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
