/** The words of a text alone: small letters, without marks. */
export function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().replaceAll(/[^\p{L}\p{N}' ]/gu, ' ')
  return plain.split(' ').filter((word) => word !== '')
}

/** How many words have to be replaced, left out or put in to make the spoken text of the heard one, for each word of it. */
export function wordErrorRate(spoken: string, heard: string): number {
  const [wanted, found] = [wordsOf(spoken), wordsOf(heard)]
  let distances = Array.from({ length: found.length + 1 }, (_, index) => index)
  for (const [row, word] of wanted.entries()) {
    const next = [row + 1]
    for (const [column, other] of found.entries()) {
      const replaced = (distances[column] ?? 0) + (word === other ? 0 : 1)
      next.push(Math.min(replaced, (distances[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    distances = next
  }
  return (distances.at(-1) ?? 0) / Math.max(1, wanted.length)
}
