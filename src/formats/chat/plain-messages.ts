import { skipSpace, skipString, skipValue } from '../json-document.ts'
import { mayCarryMedia } from './chat-media.ts'
import { roles } from './chat-request.ts'

const quote = 0x22
const comma = 0x2c
const openArray = 0x5b
const letterN = 0x6e
const openObject = 0x7b

/**
 * Whether messages are surely what `decodeChatRequest` accepts, and weigh what their bytes weigh: told without building
 * them. False says nothing. `bytes` are known to be valid JSON.
 */
export function arePlainMessages(bytes: Buffer): boolean {
  if (bytes[0] !== openArray) return false
  let hasParts = false
  let at = 0
  do {
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== openObject) return false
    const message = readMessage(bytes, at)
    if (message === null) return false
    hasParts ||= message.hasParts
    at = skipSpace(bytes, message.end)
  } while (bytes[at] === comma)
  return !hasParts || !mayCarryMedia(bytes)
}

/** One message; null when it is not plainly right. A role or content that is named twice or with escapes is not. */
function readMessage(bytes: Buffer, start: number): { end: number; hasParts: boolean } | null {
  let hasRole = false
  let contentAt = -1
  let at = start
  do {
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== quote) return null
    const nameEnd = skipString(bytes, at)
    const name = bytes.toString('latin1', at + 1, nameEnd - 1)
    at = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1)
    const end = skipValue(bytes, at)
    if (name.includes('\\')) return null
    if (name === 'role') {
      if (hasRole || !roles.has(bytes.toString('latin1', at + 1, end - 1))) return null
      hasRole = true
    } else if (name === 'content') {
      if (contentAt >= 0) return null
      contentAt = at
    }
    at = skipSpace(bytes, end)
  } while (bytes[at] === comma)
  const content = contentAt < 0 ? letterN : bytes[contentAt]
  const hasParts = content === openArray
  const isPlain = hasRole && (hasParts || content === quote || content === letterN)
  return isPlain ? { end: at + 1, hasParts } : null
}
