/** The page's sentences are plain American English: words that give away a translation are not in them. */

import { expect, it } from "vitest";
import { visibleStringsOf } from "./visible-strings";

const SOURCES = import.meta.glob<string>(
  ["../**/*.{ts,tsx}", "!../**/*.{test,fixture}.{ts,tsx}", "!../**/*.d.ts", "!../**/*.worklet.ts", "!../testing/**"],
  { query: "?raw", import: "default", eager: true },
);

const BANNED: [RegExp, string][] = [
  [/\b(?:whoever|whichever way|nobody|somebody|anew|surely|meanwhile|whereabouts)\b/i, "a rare word: say it plainly"],
  [/\bmay have\b/i, "“may have”: say “is limited to” or “can have”"],
  [/\bnews of\b/i, "“news of”: name the event"],
  [/\b(?:is|are|was|were) told\b/i, "“is told”: say “hears”, “is notified” or “gets”"],
  [/\bways?\b/i, "“way” for an edge: say “transition”"],
  [/\bnodes?\b/i, "“node”: say “step”"],
  [/\bedges?\b/i, "“edge”: say “transition”"],
  [/\bworkflows?\b/i, "“workflow”: say “agent”"],
  [
    /\b(?:colou?rs? scheme|colour|behaviour|organisation|dialling|dialled|cancelled|catalogue|favour|centre)\w*/i,
    "British spelling",
  ],
  [/\be-mail/i, "“e-mail”: say “email”"],
  [/\d %/, "a space before the percent sign"],
  [/\bE\.164\b/, "jargon"],
];

/** Sentences that are right as they are, each with the reason. */
const EXCEPTIONS: Record<string, string> = {
  "This browser has no speech recognition. Use Chrome, Edge, or Safari, or chat instead.": "the browser of that name",
  "node.a11yDescription.default": "a key of the canvas library",
  "node.a11yDescription.keyboardDisabled": "a key of the canvas library",
  "edge … …": "joins changes into one undo",
};

it("says nothing that a native speaker would not", () => {
  expect(Object.keys(SOURCES).length).toBeGreaterThan(200);
  const complaints = Object.entries(SOURCES).flatMap(([name, content]) =>
    visibleStringsOf(name, content).flatMap(({ line, text }) =>
      BANNED.filter(([pattern]) => pattern.test(text) && !(text in EXCEPTIONS)).map(
        ([, why]) => `${name}:${line}: ${text} (${why})`,
      ),
    ),
  );
  expect(complaints).toEqual([]);
  // A loaded machine parses 250 files in seconds.
}, 30_000);

it("finds texts, attributes, templates and constants, and no identifiers", () => {
  const content = `
    const TITLE = "Nobody here";
    export const part = (n: number) => (
      <Box className="Some Class" aria-label={n > 1 ? "Many of them" : "one"}>
        Some <b>bold</b> text {\`\${n} of \${TITLE}\`}
      </Box>
    );`;
  expect(visibleStringsOf("part.tsx", content).map(({ text }) => text)).toEqual([
    "Nobody here",
    "Many of them",
    "Some",
    "… of …",
  ]);
});
