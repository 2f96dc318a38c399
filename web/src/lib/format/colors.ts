/** One color for each outcome, the same in every bar and line, readable on light and dark. */

const OUTCOMES: Record<string, string> = {
  answered: "#1b9c89",
  transferred: "#3b82d6",
  not_understood: "#b9722e",
  interrupted_by_us: "#c2476b",
  voicemail: "#8b6cd9",
  no_answer: "#d9a520",
  busy: "#e07b39",
  failed: "#d64545",
  invalid_number: "#a33b5e",
  do_not_call: "#6b7a80",
  canceled: "#93a1a6",
};

const UNKNOWN = "#93a1a6";

export function outcomeColor(outcome: string): string {
  return OUTCOMES[outcome] ?? UNKNOWN;
}

/** The same in the colors of badges, whose words have to be legible on their tint; "gray" for what is neither good nor bad. */
const BADGES: Record<string, string> = {
  answered: "brand",
  in_progress: "brand",
  transferred: "blue",
  not_understood: "orange",
  interrupted_by_us: "red",
  voicemail: "violet",
  no_answer: "yellow",
  busy: "yellow",
  failed: "red",
  error: "red",
  invalid_number: "red",
};

export function outcomeBadgeColor(word: string): string {
  return BADGES[word] ?? "gray";
}

/** For series without a meaning of their own. */
export const SERIES = ["#1b9c89", "#3b82d6", "#8b6cd9", "#d9a520", "#e07b39", "#d64545", "#6b7a80", "#a33b5e"] as const;

/** The golden angle: hues that follow each other at it never come back to one that was there. */
const HUE_STEP = 137.508;

/** The color of a series by its place, another one for each. */
export function seriesColor(index: number): string {
  const named = SERIES[index];
  if (named !== undefined) return named;
  const lightness = index % 2 === 0 ? 42 : 60;
  return `hsl(${Math.round((index * HUE_STEP) % 360)} 48% ${lightness}%)`;
}

/** Gives each of these results, whatever their order, the same color in every chart of them; others are gray. */
export function resultColors(names: readonly string[]): (name: string) => string {
  const places = new Map([...new Set(names)].sort().map((name, index) => [name, index]));
  return (name) => {
    const place = places.get(name);
    return place === undefined ? UNKNOWN : seriesColor(place);
  };
}
