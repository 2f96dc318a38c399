/** Which words of a long text changed, between what stayed before and after them. Pure. */

export interface ChangedWords {
  head: string;
  before: string;
  after: string;
  tail: string;
}

/** Shorter texts are read as a whole. */
const MIN_CHARS = 60;

/** Null where marking words would not help: the texts are short, or have too little in common. */
export function findChangedWords(before: string, after: string): ChangedWords | null {
  if (Math.min(before.length, after.length) < MIN_CHARS) return null;
  const old = before.split(/(?<=\s)/);
  const next = after.split(/(?<=\s)/);
  const most = Math.min(old.length, next.length);
  let head = 0;
  // The last word has no space behind it: it is the same word where another one follows.
  while (head < most && old[head]?.trimEnd() === next[head]?.trimEnd()) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  if (head + tail === 0) return null;
  return {
    head: next.slice(0, head).join(""),
    before: old.slice(head, old.length - tail).join(""),
    after: next.slice(head, next.length - tail).join(""),
    tail: next.slice(next.length - tail).join(""),
  };
}
