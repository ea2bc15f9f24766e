import { skipSpace, skipString, skipValue } from './document.ts'

const quote = 0x22
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b

/** Whether an object or a list begins there. */
export function isBracketed(bytes: Buffer, at: number): boolean {
  return bytes[at] === openObject || bytes[at] === openArray
}

/** Position behind a string, or a number or word, which in a list may end at its bracket. */
export function skipElement(bytes: Buffer, start: number): number {
  if (bytes[start] === quote) return skipString(bytes, start)
  let at = start
  while (at < bytes.length && bytes[at] !== comma && bytes[at] !== closeArray) at += 1
  return at
}

/**
 * A JSON list with some elements replaced or, by null, left out; `edit` is given the bytes of an element and its index,
 * and gives them back where it stays as it is. `list` is valid JSON.
 */
export function editList(list: Buffer, edit: (element: Buffer, index: number) => Buffer | null): Buffer {
  const kept: Buffer[] = []
  for (const [index, element] of elementsOf(list).entries()) {
    const edited = edit(element, index)
    if (edited !== null) kept.push(kept.length === 0 ? opening : separator, edited)
  }
  return Buffer.concat([...(kept.length === 0 ? [opening] : kept), closing])
}

const opening = Buffer.from('[')
const separator = Buffer.from(',')
const closing = Buffer.from(']')

/** The bytes of each element of a JSON list that is known to be valid. */
export function elementsOf(list: Buffer): Buffer[] {
  const elements: Buffer[] = []
  let at = skipSpace(list, 1)
  while (at < list.length && list[at] !== closeArray) {
    const end = isBracketed(list, at) ? skipValue(list, at) : skipElement(list, at)
    elements.push(list.subarray(at, end))
    at = skipSpace(list, end)
    if (list[at] === comma) at = skipSpace(list, at + 1)
  }
  return elements
}
