import { skipSpace, skipString, skipValue } from '../json-document.ts'
import { mayCarryMedia } from './chat-media.ts'
import { roles } from './chat-request.ts'

const quote = 0x22
const comma = 0x2c
const openArray = 0x5b
const letterN = 0x6e
const openObject = 0x7b
const backslash = 0x5c

const roleName = Buffer.from('"role"')
const contentName = Buffer.from('"content"')
const roleTexts = [...roles].map((role) => Buffer.from(JSON.stringify(role)))

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
    const name = at
    at = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1)
    const end = skipValue(bytes, at)
    if (isText(bytes, name, nameEnd, roleName)) {
      if (hasRole || !isRole(bytes, at, end)) return null
      hasRole = true
    } else if (isText(bytes, name, nameEnd, contentName)) {
      if (contentAt >= 0) return null
      contentAt = at
    } else if (hasEscape(bytes, name, nameEnd)) {
      return null
    }
    at = skipSpace(bytes, end)
  } while (bytes[at] === comma)
  const content = contentAt < 0 ? letterN : bytes[contentAt]
  const hasParts = content === openArray
  const isPlain = hasRole && (hasParts || content === quote || content === letterN)
  return isPlain ? { end: at + 1, hasParts } : null
}

function isRole(bytes: Buffer, start: number, end: number): boolean {
  for (const role of roleTexts) if (isText(bytes, start, end, role)) return true
  return false
}

// By hand: for a few bytes a call into the runtime costs more than the comparison.
function isText(bytes: Buffer, start: number, end: number, text: Buffer): boolean {
  if (end - start !== text.length) return false
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text[at]) return false
  return true
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === backslash) return true
  return false
}
