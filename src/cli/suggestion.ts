/** With more differences than this, the user meant another word. */
const slipsMax = 2

/** ` Did you mean "keys"?` when one of the known words is close to what was typed; empty when none is. */
export function suggestionFor(typed: string, known: readonly string[]): string {
  let best: { word: string; slips: number } | null = null
  for (const word of known) {
    const slips = slipsBetween(typed, word)
    if (slips <= slipsMax && slips < word.length / 2 && slips < (best?.slips ?? Infinity))
      best = { word, slips }
  }
  return best === null ? '' : ` Did you mean "${best.word}"?`
}

/** The number of characters added, left out, changed, or swapped with a neighbour. */
function slipsBetween(typed: string, word: string): number {
  if (Math.abs(typed.length - word.length) > slipsMax) return Infinity
  let before: number[] = []
  let above = Array.from({ length: word.length + 1 }, (_, column) => column)
  for (let row = 1; row <= typed.length; row++) {
    const line = [row]
    for (let column = 1; column <= word.length; column++) {
      const isSame = typed[row - 1] === word[column - 1]
      const isSwapped = typed[row - 1] === word[column - 2] && typed[row - 2] === word[column - 1]
      line.push(
        Math.min(
          (above[column] ?? 0) + 1,
          (line[column - 1] ?? 0) + 1,
          (above[column - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
        ),
      )
    }
    before = above
    above = line
  }
  return above[word.length] ?? Infinity
}
