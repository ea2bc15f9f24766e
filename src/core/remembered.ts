/** Texts of which each function remembers what it made, and the longest of them. */
const rememberedMax = 1_000
const rememberedLengthMax = 100

/** The function, which remembers what it made of texts that are mostly one of few, such as the name of a model or a key's id. */
export function remembered(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const made = flat(make(text))
    if (known.size < rememberedMax && text.length <= rememberedLengthMax) known.set(text, made)
    return made
  }
}

/**
 * The same text in one piece. What is joined by `+` stays a tree of its parts, and stays one also when a longer text with it
 * is read; so a text that goes into many others is put together once.
 */
export function flat(text: string): string {
  return Buffer.from(text).toString()
}

/** The JSON of a text. */
export const quoted = remembered((text) => JSON.stringify(text))
