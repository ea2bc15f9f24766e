/** Texts whose JSON is kept, and the longest of them. */
const keptMax = 1_000
const keptLengthMax = 100

const kept = new Map<string, string>()

/** The JSON of a text that is mostly one of few, such as the name of a model or a key's id. */
export function quoted(text: string): string {
  const known = kept.get(text)
  if (known !== undefined) return known
  const json = JSON.stringify(text)
  if (kept.size < keptMax && text.length <= keptLengthMax) kept.set(text, json)
  return json
}
