import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { isSealed } from '../seals.ts'
import { countTokens } from '../tokens.ts'
import type { ApiVersion } from './errors.ts'

/** One content block of a request, with the members that the simulator reads. */
export interface ReadBlock {
  type: string
  /** The block's text; for a result, the texts of all its blocks. */
  text: string
  tokens: number
  raw: JsonObject
}

/** The settings that decide how strictly blocks are read. */
export interface BlockRules {
  role: string
  version: ApiVersion
  lenient: boolean
  /** The name of the sealer whose thoughts are accepted. */
  sealer: string | undefined
}

/** An image or a document counts the same whatever its size: the true rules are not public. */
const mediumTokens = 85
const blockId = /^[a-zA-Z0-9_-]+$/

/** A cache mark. */
export const cacheControl = check.members({ type: check.oneOf('ephemeral'), ttl: check.oneOf('5m', '1h') }, [
  'type',
])
const type = check.string()
const marked = { type, cache_control: cacheControl }
const idString: check.Check = (value, param) => {
  check.string()(value, param)
  if (!blockId.test(String(value)))
    throw invalidRequest(`String should match pattern '${blockId.source}'`, param)
}
const caller = check.object

const source: check.Check = (value, param) => {
  if (!isObject(value)) throw invalidRequest('Input should be an object', param)
  check.oneOf('base64', 'url', 'file', 'text', 'content')(value['type'], `${param}.type`)
  const fields: Record<string, check.Check> = {
    type,
    media_type: check.string(),
    data: check.string(),
    url: check.string(),
    file_id: check.string(),
    content: check.either(check.listOf(check.object), check.string()),
  }
  const required: Record<string, string[]> = {
    base64: ['media_type', 'data'],
    text: ['media_type', 'data'],
    url: ['url'],
    file: ['file_id'],
    content: ['content'],
  }
  const wanted = required[String(value['type'])] ?? []
  check.checkMembers(value, { fields, required: wanted, strict: true, prefix: `${param}.` })
  if (value['type'] === 'url' && !String(value['url']).startsWith('https://'))
    throw invalidRequest('Only HTTPS URLs are supported.', `${param}.url`)
  if (value['type'] === 'base64' && !/^[A-Za-z0-9+/\s]+=*\s*$/.test(String(value['data'])))
    throw invalidRequest('invalid base64 data', `${param}.data`)
}

const imageSource: check.Check = (value, param) => {
  source(value, param)
  if (!isObject(value)) return
  check.oneOf('base64', 'url', 'file')(value['type'], `${param}.type`)
  if (value['type'] !== 'base64') return
  check.oneOf(
    'image/jpeg',
    'image/png',
    'image/gif',
    'image/webp',
  )(value['media_type'], `${param}.media_type`)
}

/** A result of a tool of Anthropic's own: it comes back as it was sent. */
const serverResult = { fields: { ...marked, tool_use_id: idString, content: anything, caller }, required: [] }

function anything(): void {
  // Anthropic takes every value here.
}

interface BlockForm {
  fields: Record<string, check.Check>
  required: readonly string[]
}

/** Every kind of block that a request may carry. */
const forms: Record<string, BlockForm> = {
  text: {
    fields: { ...marked, text: check.string(), citations: check.listOf(check.object) },
    required: ['text'],
  },
  image: { fields: { ...marked, source: imageSource, transformations: check.object }, required: ['source'] },
  document: {
    fields: {
      ...marked,
      source,
      title: check.string(),
      context: check.string(),
      citations: check.members({ enabled: check.boolean }),
    },
    required: ['source'],
  },
  search_result: {
    fields: {
      ...marked,
      source: check.string(),
      title: check.string(),
      content: check.listOf(check.object),
      citations: check.object,
    },
    required: ['source', 'title', 'content'],
  },
  thinking: {
    fields: { type, thinking: check.string(), signature: check.string() },
    required: ['thinking', 'signature'],
  },
  redacted_thinking: { fields: { type, data: check.string() }, required: ['data'] },
  tool_use: {
    fields: {
      ...marked,
      id: idString,
      name: check.string(200),
      input: check.object,
      caller,
      toolset_name: type,
    },
    required: ['id', 'name', 'input'],
  },
  tool_result: {
    fields: {
      ...marked,
      tool_use_id: idString,
      content: check.either(check.listOf(check.object), check.string()),
      is_error: check.boolean,
    },
    required: ['tool_use_id'],
  },
  server_tool_use: {
    fields: { ...marked, id: idString, name: check.string(), input: check.object, caller },
    required: ['id', 'name', 'input'],
  },
  web_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  container_upload: { fields: { ...marked, file_id: check.string() }, required: ['file_id'] },
}

const assistantOnly = new Set([
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  ...Object.keys(forms).filter((name) => name.endsWith('_tool_result')),
])
const userOnly = new Set(['image', 'search_result', 'tool_result', 'container_upload'])
const inResults = ['text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state']

function allowedIn(role: string, version: ApiVersion): string[] {
  const all = Object.keys(forms)
  if (role === 'system') return ['text']
  if (role === 'user') return all.filter((name) => !assistantOnly.has(name))
  const own = all.filter((name) => !userOnly.has(name))
  return version === '2023-06-01' ? own : own.filter((name) => name !== 'document')
}

/** Reads the content of a message: text, or a list of blocks. Throws `ApiError` naming the block at fault. */
export function readContent(value: unknown, param: string, rules: BlockRules): ReadBlock[] {
  if (typeof value === 'string') return [textBlock(value)]
  if (!Array.isArray(value)) throw invalidRequest('Input should be a string or a list of blocks', param)
  return value.map((block, at) => readBlock(block, `${param}[${at}]`, rules))
}

function textBlock(text: string): ReadBlock {
  return { type: 'text', text, tokens: countTokens(text), raw: { type: 'text', text } }
}

function readBlock(block: unknown, param: string, rules: BlockRules): ReadBlock {
  if (!isObject(block)) throw invalidRequest('Input should be an object', param)
  const kind = String(block['type'])
  check.oneOf(...allowedIn(rules.role, rules.version))(block['type'], `${param}.type`)
  const { fields, required } = forms[kind] ?? { fields: {}, required: [] }
  check.checkMembers(block, { fields, required, strict: !rules.lenient, prefix: `${param}.` })
  if (kind === 'text') refuseText(block, param, rules)
  if (kind === 'search_result') refuseCitedResult(block, param, rules)
  if (kind === 'thinking' || kind === 'redacted_thinking') refuseForeignThoughts(block, param, rules)
  const inner = kind === 'tool_result' ? resultBlocks(block['content'], `${param}.content`, rules) : []
  const text = textOf(block, inner)
  const isMedium = kind === 'image' || kind === 'document'
  const tokens = isMedium ? mediumTokens : countTokens(text) + inner.reduce((sum, one) => sum + one.tokens, 0)
  return {
    type: kind,
    text: kind === 'tool_result' ? inner.map((one) => one.text).join('\n') : text,
    tokens,
    raw: block,
  }
}

/** The block's own text; empty for a result, whose blocks are counted separately. */
function textOf(block: JsonObject, inner: readonly ReadBlock[]): string {
  if (inner.length > 0 || block['type'] === 'tool_result') return ''
  if (block['type'] === 'tool_use') return `${String(block['name'])} ${JSON.stringify(block['input'])}`
  const text = block['text'] ?? block['thinking'] ?? ''
  return typeof text === 'string' ? text : ''
}

function resultBlocks(value: unknown, param: string, rules: BlockRules): ReadBlock[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [textBlock(value)]
  const blocks = Array.isArray(value) ? value : []
  return blocks.map((block: JsonObject, at) => {
    const path = `${param}[${at}]`
    check.oneOf(...inResults)(block['type'], `${path}.type`)
    const isKnown = Object.hasOwn(forms, String(block['type']))
    if (isKnown) return readBlock(block, path, { ...rules, role: 'user' })
    return { type: String(block['type']), text: '', tokens: 0, raw: block }
  })
}

function refuseText(block: JsonObject, param: string, rules: BlockRules): void {
  const text = String(block['text'])
  if (text === '') throw invalidRequest('text content blocks must be non-empty', `${param}.text`)
  if (text.trim() === '')
    throw invalidRequest('text content blocks must contain non-whitespace text', `${param}.text`)
  const { citations } = block
  if (rules.version === '2023-06-01' || rules.role === 'assistant') return
  if (Array.isArray(citations) && citations.length > 0)
    throw invalidRequest('citations are not allowed in a text block of this role', `${param}.citations`)
}

function refuseCitedResult(block: JsonObject, param: string, { version }: BlockRules): void {
  if (version === '2023-06-01' || !Array.isArray(block['content'])) return
  for (const [at, inner] of block['content'].entries()) {
    if (isObject(inner) && Array.isArray(inner['citations']) && inner['citations'].length > 0)
      throw invalidRequest(
        'citations are not allowed in a search result',
        `${param}.content[${at}].citations`,
      )
  }
}

/** Refuses a thought that was changed or that another provider made; leaving thoughts out is allowed. */
function refuseForeignThoughts(block: JsonObject, param: string, { sealer }: BlockRules): void {
  if (block['type'] === 'redacted_thinking') {
    if (isSealed('redacted', String(block['data']), sealer)) return
    throw invalidRequest('Invalid `data` in `redacted_thinking` block', param)
  }
  if (isSealed(`thinking ${String(block['thinking'])}`, String(block['signature']), sealer)) return
  throw invalidRequest('Invalid `signature` in `thinking` block', param)
}
