/** Which step a line that was let go over nothing should lead to. */

import { Menu } from "@mantine/core";
import type { Point } from "../../../graph/definition";
import { canAdd, mayEnter } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
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
  if (place === null) return null;
  return (
    <Menu opened onClose={onClose} position="bottom" withinPortal>
      <Menu.Target>
        <button
          type="button"
          aria-label="Choose the next step"
          style={{
            position: "fixed",
            left: place.x,
            top: place.y,
            width: 1,
            height: 1,
            padding: 0,
            border: 0,
            opacity: 0,
          }}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Connect to new step</Menu.Label>
        {kinds.map((spec) => (
          <Menu.Item
            key={spec.name}
            leftSection={<KindIcon kind={spec.name} icon={spec.icon} size={13} />}
            onClick={() => onChoose(spec.name, place)}
          >
            {spec.display_name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
