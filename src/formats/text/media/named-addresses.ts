import type { TextCall } from '../../../canonical/call.ts'
import type { JsonDocument } from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import { mediaAddressLengthMax } from '../../../core/limits/media.ts'
import { isRecord } from '../../../json/values.ts'
import { type LookedInto, lookInto, mark, slicesOfText } from '../../../json/set-aside-texts.ts'

/** A URL in a request that a server may fetch; `field` is its path as the caller wrote it. */
export interface NamedAddress {
  /** Null when it is longer than any URL that is sent on. */
  url: string | null
  field: string
}

/** Parts of the names of the members that `listNamedAddresses` reads. */
const marks = ['rl"', '"file', 'image', 'audio"', 'video"'].map((text) => Buffer.from(text))
const backslash = 0x5c
const escapeMark = Buffer.from(String.raw`\u00`)
/** An escape of a character that such names have. */
const escapedLetter = /\\u00[2-7]/

/** Whether a request may contain a URL that a server fetches. It is a cheap test, because every call runs it. */
export function mayNameAddress({ document }: Pick<TextCall, 'document'>): boolean {
  const bytes = toBuffer((document.lean ?? document).bytes)
  for (const text of marks) if (bytes.includes(text)) return true
  const isEscaped = bytes.includes(backslash) && bytes.includes(escapeMark)
  return isEscaped && escapedLetter.test(bytes.toString('latin1'))
}

/** Members with a conversation; its parts carry media. */
const conversations = ['messages', 'input'] as const

/**
 * The URLs of a request that a server may fetch: of media, also of unknown types, of tool servers, and of callbacks. An
 * operator's own servers get unknown members too, so this reads names of members, not formats.
 */
export function listNamedAddresses({ document }: Pick<TextCall, 'document'>): NamedAddress[] {
  const found: NamedAddress[] = []
  for (const name of conversations) {
    const reading = readingOf(document, name, found)
    const value = reading?.looked.value()
    if (reading && Array.isArray(value)) walk(value, name, reading)
  }
  for (const name of ['tools', 'mcp_servers']) {
    const reading = readingOf(document, name, found)
    const value = reading?.looked.value()
    if (!reading || !Array.isArray(value)) continue
    for (const [index, tool] of value.entries())
      if (isRecord(tool)) addOwn(tool, `${name}[${index}]`, reading)
  }
  for (const name of document.members.keys()) {
    const reading = addressName.test(name) ? readingOf(document, name, found) : null
    if (reading) addValue(name, reading.looked.value(), { path: name, reading })
  }
  return found
}

interface Reading {
  document: JsonDocument
  looked: LookedInto
  found: NamedAddress[]
}

function readingOf(document: JsonDocument, name: string, found: NamedAddress[]): Reading | null {
  const looked = lookInto(document, name)
  return looked === null ? null : { document, looked, found }
}

/** Members whose text is a URL. */
const addressName = /[Uu]rl$/
/** Members whose text is media, or at some servers a URL of media. */
const mediaName = /^(?:(?:file_?)?data|images?|video|audio|input_(?:audio|image|video))$/

/** Members with a model's own text, searches or calls; no server fetches URLs in them. */
const saidNames: ReadonlySet<string> = new Set([
  'action',
  'annotations',
  'arguments',
  'citations',
  'function_call',
  'input',
  'results',
  'sources',
  'text',
  'thinking',
  'tool_calls',
])
/** Types of whole parts to which the same applies: search results. */
const saidTypes = /^(?:web_|search_)/

function walk(value: unknown, path: string, reading: Reading): void {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) walk(entry, `${path}[${index}]`, reading)
    return
  }
  if (!isRecord(value)) return
  const { type } = value
  if (typeof type === 'string' && saidTypes.test(type)) return
  addOwn(value, path, reading)
  for (const name in value) {
    const member = value[name]
    if (typeof member === 'object' && !saidNames.has(name)) walk(member, `${path}.${name}`, reading)
  }
}

/** Adds the URLs in the members of an object. */
function addOwn(value: Readonly<Record<string, unknown>>, path: string, reading: Reading): void {
  for (const name in value) addValue(name, value[name], { path: `${path}.${name}`, reading })
}

function addValue(name: string, value: unknown, { path, reading }: { path: string; reading: Reading }): void {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries())
      if (typeof each === 'string') addValue(name, each, { path: `${path}[${index}]`, reading })
    return
  }
  if (typeof value !== 'string' || /^data:/i.test(value)) return
  const isAddress =
    (addressName.test(name) && !isBare(value, reading)) || (mediaName.test(name) && hasScheme(value, reading))
  if (isAddress) reading.found.push({ url: reading.looked.textOf(value, mediaAddressLengthMax), field: path })
}

/** Whether a text is base64 where a URL may stand too: no scheme and no label of a host name is this long. */
function isBare(value: string, { looked }: Reading): boolean {
  return bare.test(looked.beginningOf(value, hostLabelLengthMax + 1))
}

const hostLabelLengthMax = 63
const bare = new RegExp(`^[a-z0-9+]{${hostLabelLengthMax + 1}}`, 'i')

/** Base64 has no colon, so a match means a scheme. */
function hasScheme(value: string, { document }: Reading): boolean {
  if (!value.includes(mark)) return scheme.test(value)
  for (const slice of slicesOfText(value, document)) if (slice !== '') return scheme.test(slice)
  return false
}

const scheme = /^\s*[a-z][a-z0-9+.-]*:/i
