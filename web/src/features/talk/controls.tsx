/** Mute, keypad and hang up, with the levels of both sides. */

import { Button, Popover, SimpleGrid } from "@mantine/core";
import { useEffect, useState } from "react";
import { Meter } from "./meter";
import classes from "./talk-panel.module.css";
import type { Call } from "./use-call";

const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "0", "#"];

export function Controls({ call }: { call: Call }) {
  return (
    <div className={classes.controls}>
      <div className={classes.meters}>
        <Meter name="You" level={() => call.levels().caller} />
        <Meter name="Agent" level={() => call.levels().agent} />
      </div>
      <div className={classes.actions}>
        <Button
          variant={call.isMuted ? "filled" : "default"}
          color="yellow"
          aria-pressed={call.isMuted}
          onClick={() => call.setMuted(!call.isMuted)}
        >
          {call.isMuted ? "Unmute" : "Mute"}
        </Button>
        <Keypad onPress={call.press} />
        <Button color="red" onClick={call.hangUp}>
          Hang up
        </Button>
      </div>
    </div>
  );
}

function Keypad({ onPress }: { onPress: (digit: string) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return;
    const type = (event: KeyboardEvent) => {
      if (KEYS.includes(event.key)) onPress(event.key);
    };
    window.addEventListener("keydown", type);
    return () => window.removeEventListener("keydown", type);
  }, [isOpen, onPress]);
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="top" withArrow trapFocus>
      <Popover.Target>
        <Button variant="default" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Keypad
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <SimpleGrid cols={3} spacing={6}>
          {KEYS.map((key) => (
            <Button
              key={key}
              variant="default"
              w={54}
              h={44}
              fz="md"
              aria-label={`Key ${key}`}
              onClick={() => onPress(key)}
            >
              {key}
            </Button>
          ))}
        </SimpleGrid>
      </Popover.Dropdown>
    </Popover>
  );
}
