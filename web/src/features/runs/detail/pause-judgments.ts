/** Describes how a turn detector judged a caller's pause. Pure. */

const THEN: Record<string, string> = { turn_ended: "the turn ended", caller_went_on: "the caller continued" };
const CHANGED: Record<string, string> = {
  sooner: "sooner than without the detector",
  later: "later than without the detector",
};

/** Describes the data of a `pause_judged` event. */
export function describePause(data: Record<string, unknown>): string {
  const { says, probability, then, changed } = data;
  if (says === "late" || says === "failed") return says === "late" ? "No answer in time" : "The detector failed";
  const share = typeof probability === "number" ? ` (${Math.round(probability * 100)}%)` : "";
  const outcome = typeof then === "string" ? `: ${THEN[then] ?? then.replaceAll("_", " ")}` : "";
  const effect = typeof changed === "string" && then === "turn_ended" ? ` ${CHANGED[changed] ?? changed}` : "";
  const kept = changed === "later" && then === "caller_went_on" ? " and was not cut off" : "";
  return `${sentenceCase(String(says))}${share}${outcome}${effect}${kept}`;
}

function sentenceCase(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
