/** Which commands fit what was typed, best first. */

import type { Command } from "./commands";

const MAX_SHOWN = 40;

/** Every word has to begin a word of the title, the group or the keywords; titles that begin with the first word come first. */
export function matchCommands(commands: readonly Command[], query: string): Command[] {
  const words = wordsOf(query);
  const [first] = words;
  if (first === undefined) return commands.slice(0, MAX_SHOWN);
  const fitting = commands.filter((command) => {
    const known = wordsOf(`${command.title} ${command.group} ${command.keywords ?? ""}`);
    return words.every((word) => known.some((candidate) => candidate.startsWith(word)));
  });
  const rank = ({ title }: Command) => (title.toLowerCase().startsWith(first) ? 0 : 1);
  return fitting.sort((one, other) => rank(one) - rank(other)).slice(0, MAX_SHOWN);
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
