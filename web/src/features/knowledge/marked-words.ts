/** Which words of a question are marked in what was found. */

const COMMON = new Set(
  (
    "a an and any are at be but by can could did do does for from had has have how i if in is it its me my no not of on or our " +
    "shall should so some that the their them there they this to us was we were what when where which who why will with would you your"
  ).split(" "),
);

export function markedWords(question: string): string[] {
  const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].filter((word) => !COMMON.has(word) && word.length > 1);
}
