import { hasEscape, isBytes, skipSpace, skipString, skipValue } from '../../json/scan.ts'

const comma = 0x2c
const letterN = 0x6e
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

const roleName = Buffer.from('"role"')
const contentName = Buffer.from('"content"')

/** Which contents, other than texts, the messages have. */
export interface PlainContents {
  /** Some are lists. */
  hasParts: boolean
  /** Some are null or missing. */
  hasNone: boolean
}

/** Names of roles in JSON. */
export function rolesAsJson(roles: ReadonlySet<unknown>): readonly Buffer[] {
  return [...roles].map((role) => Buffer.from(JSON.stringify(role)))
}

/**
 * Which contents messages have, found without building values; null when a message needs the full check. `bytes` are
 * valid JSON.
 */
export function readContents(bytes: Buffer, roleTexts: readonly Buffer[]): PlainContents | null {
  if (bytes[0] !== openBracket) return null
  const contents = { hasParts: false, hasNone: false }
  let at = 0
  do {
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== openBrace) return null
    at = readMessage(bytes, at, roleTexts, contents)
    if (at < 0) return null
    at = skipSpace(bytes, at)
  } while (bytes[at] === comma)
  return contents
}

/**
 * The offset after one message; -1 when it needs the full check, for example because a role or content stands twice or
 * has escapes. Notes the message's content in `contents`.
 */
function readMessage(
  bytes: Buffer,
  start: number,
  roleTexts: readonly Buffer[],
  contents: PlainContents,
): number {
  let hasRole = false
  let contentAt = -1
  let at = start
  do {
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== quote) return -1
    const nameEnd = skipString(bytes, at)
    const name = at
    at = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1)
    const end = skipValue(bytes, at)
    if (isBytes(bytes, name, nameEnd, roleName)) {
      if (hasRole || !isRole(bytes, at, end, roleTexts)) return -1
      hasRole = true
    } else if (isBytes(bytes, name, nameEnd, contentName)) {
      if (contentAt >= 0) return -1
      contentAt = at
    } else if (hasEscape(bytes, name, nameEnd)) {
      return -1
    }
    at = skipSpace(bytes, end)
  } while (bytes[at] === comma)
  const content = contentAt < 0 ? letterN : bytes[contentAt]
  if (!hasRole) return -1
  if (content === openBracket) contents.hasParts = true
  else if (content === letterN) contents.hasNone = true
  else if (content !== quote) return -1
  return at + 1
}

function isRole(bytes: Buffer, start: number, end: number, roleTexts: readonly Buffer[]): boolean {
  for (const role of roleTexts) if (isBytes(bytes, start, end, role)) return true
  return false
}
