const quote = 0x22
const backslash = 0x5c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Whether a JSON text is nested at most so deep. Asked before it is parsed whatever is to be written again: the runtime
 * writes ten thousands of levels in time that grows with their square, and dies of more. Of what is no JSON the answer
 * means nothing, but it comes as fast.
 */
export function isNestedWithin(json: string, depthMax: number): boolean {
  // Every level opens and closes.
  if (json.length <= 2 * depthMax) return true
  let depth = 0
  for (let position = 0; position < json.length; position += 1) {
    const code = json.charCodeAt(position)
    if (code === quote) position = endOfString(json, position)
    else if (code === openArray || code === openObject) {
      depth += 1
      if (depth > depthMax) return false
    } else if (code === closeArray || code === closeObject) depth -= 1
  }
  return true
}

/** Position of the closing quote; the text's end when there is none. */
function endOfString(json: string, start: number): number {
  for (let from = start + 1; ;) {
    const end = json.indexOf('"', from)
    if (end === -1) return json.length
    let escapes = end - 1
    while (escapes >= from && json.charCodeAt(escapes) === backslash) escapes -= 1
    if ((end - escapes) % 2 === 1) return end
    from = end + 1
  }
}
