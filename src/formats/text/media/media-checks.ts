import { mediaAddressLengthMax } from '../../../core/limits/media.ts'
import { isRecord } from '../../../json/values.ts'
import { fieldError } from '../../../core/errors.ts'
import type { LookedInto } from '../../../json/set-aside-texts.ts'

/** Characters of media in base64 that are looked at: what follows is for the provider to find. */
const base64CheckedLength = 65_536

type Wire = Readonly<Record<string, unknown>>

/** Checks the media of one part; `path` is its place in the request. */
type CheckPart = (part: Wire, path: string, looked: LookedInto) => void

/** Refuses media that are neither a URL nor base64. Throws `invalid_request`, which names the member. */
export function checkChatMedia(messages: readonly unknown[], looked: LookedInto): void {
  checkEntries(messages, 'messages', { looked, check: checkChatPart })
}

/** The same for the items of a responses request. */
export function checkInputMedia(items: readonly unknown[], looked: LookedInto): void {
  checkEntries(items, 'input', { looked, check: checkInputPart })
}

/** The same for messages in Anthropic's format. */
export function checkSources(messages: readonly unknown[], looked: LookedInto): void {
  checkEntries(messages, 'messages', { looked, check: checkBlock })
}

function checkEntries(
  entries: readonly unknown[],
  path: string,
  { looked, check }: { looked: LookedInto; check: CheckPart },
): void {
  for (const [index, entry] of entries.entries()) {
    if (!isRecord(entry)) continue
    const { content, output } = entry
    checkParts(content, `${path}[${index}].content`, { looked, check })
    checkParts(output, `${path}[${index}].output`, { looked, check })
  }
}

function checkParts(
  parts: unknown,
  path: string,
  { looked, check }: { looked: LookedInto; check: CheckPart },
): void {
  if (!Array.isArray(parts)) return
  for (const [at, part] of parts.entries()) if (isRecord(part)) check(part, `${path}[${at}]`, looked)
}

function checkChatPart({ image_url: image, file }: Wire, path: string, looked: LookedInto): void {
  if (isRecord(image)) requireMedia(image['url'], `${path}.image_url.url`, looked)
  else if (image !== undefined) requireMedia(image, `${path}.image_url`, looked)
  if (isRecord(file)) checkFile(file['file_data'], `${path}.file.file_data`, looked)
}

function checkInputPart(part: Wire, path: string, looked: LookedInto): void {
  const { type, image_url: image } = part
  // An image may also be named by a file id.
  if (type === 'input_image' && image !== undefined && image !== null)
    requireMedia(image, `${path}.image_url`, looked)
  if (type !== 'input_file') return
  const { file_data: data, file_url: address } = part
  checkFile(data, `${path}.file_data`, looked)
  if (typeof address === 'string') requireMedia(address, `${path}.file_url`, looked)
}

function checkBlock({ source, content }: Wire, path: string, looked: LookedInto): void {
  if (isRecord(source)) {
    if (source['type'] === 'url') requireMedia(source['url'], `${path}.source.url`, looked)
    else if (source['type'] === 'base64') requireBase64(source['data'], `${path}.source.data`, looked)
  }
  // Results of tools have their own blocks.
  checkParts(content, `${path}.content`, { looked, check: checkInnerBlock })
}

function checkInnerBlock({ source }: Wire, path: string, looked: LookedInto): void {
  checkBlock({ source }, path, looked)
}

/** A file may be plain base64. A text with a scheme must be a URL to fetch, or a `data:` URL. */
function checkFile(text: unknown, path: string, looked: LookedInto): void {
  if (typeof text === 'string' && scheme.test(text)) requireMedia(text, path, looked)
}

const scheme = /^[a-z][a-z0-9+.-]*:/i
const dataLead = /^data:[^,]*,/i

function requireMedia(value: unknown, path: string, looked: LookedInto): void {
  if (typeof value !== 'string') throw noMedia(path)
  const [lead] = dataLead.exec(value) ?? []
  if (lead === undefined) requireAddress(value, path, looked)
  else if (/;base64,$/i.test(lead)) requireBase64(value.slice(lead.length), path, looked)
  else throw noMedia(path)
}

/** Schemes other than those of the web are for providers that keep files. */
function requireAddress(value: string, path: string, looked: LookedInto): void {
  const address = looked.textOf(value, mediaAddressLengthMax)
  if (address === null || !/^[a-z][a-z0-9+.-]*:\/\/./i.test(address)) throw noMedia(path)
  if (/^https?:/i.test(address) && !URL.canParse(address)) throw noMedia(path)
}

/** Matches nearly all base64 at once; a request may have tens of thousands of small pictures. */
const ordinaryBase64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2}={0,2}|[\w+/-]{3}=?)?$/
const base64 = /^[\w+/\s-]*={0,2}\s*$/

function requireBase64(value: unknown, path: string, looked: LookedInto): void {
  if (typeof value !== 'string' || value === '') throw noMedia(path)
  const isShort = looked.lengthOf(value) <= base64CheckedLength
  const text = looked.beginningOf(value, base64CheckedLength).slice(0, base64CheckedLength)
  if (isShort && ordinaryBase64.test(text)) return
  // Four characters make three bytes, so a single left-over character cannot be base64.
  const isWhole = !isShort || text.replaceAll(/[=\s]/g, '').length % 4 !== 1
  if (!base64.test(text) || !isWhole || text.trim() === '') throw noMedia(path)
}

function noMedia(path: string): Error {
  return fieldError(path, 'must be an address that begins with https://, or bytes in base64.')
}
