import { hasMember, type JsonDocument, memberBytes, memberValue } from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import { memberParseBytesMax } from '../../../core/limits/text.ts'
import { isRecord } from '../../../json/values.ts'

/** Members that let a provider search, read files that it keeps, or ask other servers. */
const members = [
  'web_search_options',
  'search_parameters',
  'enable_search',
  'plugins',
  'mcp_servers',
  'cached_content',
] as const

/** Types of tools that the caller runs, and types in the JSON schema of a tool's parameters. */
const callersTypes =
  /^(?:function|custom|namespace|local_shell|apply_patch|computer|bash|text_editor|memory|grammar|text|object|array|string|number|integer|boolean|null)(?:_|$)/i

const typeMark = Buffer.from('"type"')
const stringValue = /^\s*:\s*"([^"\\]*)"/
/** Longer than any type of a tool with white space around it. */
const typeLengthMax = 96
/** Tools that some providers name only by a member. */
const toolMarks = ['"google_search', '"googleSearch', '"url_context', '"urlContext'].map((text) =>
  Buffer.from(text),
)

/**
 * Whether the request lets its provider search or run its own tools; their findings become part of the prompt. Most
 * requests have no tools, and most tools are the caller's functions, so tools are parsed only when another type occurs.
 */
export function mayUseProviderTools(document: JsonDocument): boolean {
  for (const name of members) if (hasMember(document, name)) return true
  const bytes = memberBytes(document, 'tools')
  if (bytes === null || !namesOthers(toBuffer(bytes))) return false
  if (bytes.length > memberParseBytesMax) return true
  const tools = memberValue(document, 'tools')
  return Array.isArray(tools) && tools.some(isRunByProvider)
}

function namesOthers(bytes: Buffer): boolean {
  if (toolMarks.some((mark) => bytes.includes(mark))) return true
  for (let at = bytes.indexOf(typeMark); at >= 0; at = bytes.indexOf(typeMark, at + typeMark.length)) {
    const begin = at + typeMark.length
    const type = stringValue.exec(bytes.toString('latin1', begin, begin + typeLengthMax))?.[1]
    if (type !== undefined && !callersTypes.test(type)) return true
  }
  return false
}

function isRunByProvider(tool: unknown): boolean {
  if (!isRecord(tool)) return false
  const { type } = tool
  if (typeof type === 'string') return !callersTypes.test(type)
  return tool['name'] === undefined && tool['function'] === undefined
}
