import * as check from '../checks.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { isSealed } from '../seals.ts'
import { countTokens } from '../tokens.ts'
import type { StoredResponses } from './stored.ts'

/** The origin of an item of the conversation. */
export type ItemSource = 'user' | 'instructions' | 'model' | 'tool'

/** One item of the input, as far as the simulator reads it. */
export interface ReadItem {
  type: string
  source: ItemSource
  text: string
  tokens: number
  callId: string | null
  raw: JsonObject
}

/** The settings for reading items. */
export interface ItemRules {
  lenient: boolean
  stored: StoredResponses
  /** The name of the sealer whose thoughts are accepted. */
  sealer: string | undefined
}

const itemTokens = 4
/** An image or a file counts the same whatever its size: the true rules are not public. */
const mediumTokens = 85

const type = check.string()
const detail = check.oneOf('low', 'high', 'auto', 'original')
const breakpoint = check.members({ mode: check.string() })
const partForms: Record<string, Record<string, check.Check>> = {
  input_text: { type, text: check.string(), prompt_cache_breakpoint: breakpoint },
  input_image: {
    type,
    image_url: check.string(),
    file_id: check.string(),
    detail,
    prompt_cache_breakpoint: breakpoint,
  },
  input_file: {
    type,
    file_data: check.string(),
    file_id: check.string(),
    file_url: check.string(),
    filename: check.string(),
    detail,
    prompt_cache_breakpoint: breakpoint,
  },
  output_text: {
    type,
    text: check.string(),
    annotations: check.listOf(check.object),
    logprobs: check.listOf(check.object),
  },
  refusal: { type, refusal: check.string() },
}
const requiredOf: Record<string, readonly string[]> = {
  input_text: ['text'],
  output_text: ['text'],
  refusal: ['refusal'],
}
const inputParts = ['input_text', 'input_image', 'input_file']
const outputParts = ['output_text', 'refusal']

interface ItemForm {
  fields: Record<string, check.Check>
  required: readonly string[]
  source: ItemSource
  /** The beginning of ids of this kind. */
  idPrefix?: string
}

const content = check.either(check.listOf(check.object), check.string())
const base = { type, id: check.string(), status: check.oneOf('in_progress', 'completed', 'incomplete') }
const forms: Record<string, ItemForm> = {
  message: {
    fields: {
      ...base,
      role: check.oneOf('user', 'assistant', 'system', 'developer'),
      content,
      phase: check.oneOf('commentary', 'final_answer'),
    },
    required: ['role', 'content'],
    source: 'user',
    idPrefix: 'msg',
  },
  function_call: {
    fields: {
      ...base,
      call_id: check.string(),
      name: check.string(),
      arguments: check.string(),
      namespace: check.string(),
      caller: check.object,
    },
    required: ['call_id', 'name', 'arguments'],
    source: 'model',
    idPrefix: 'fc',
  },
  function_call_output: {
    fields: { ...base, call_id: check.string(), output: content, caller: check.object },
    required: ['call_id', 'output'],
    source: 'tool',
  },
  custom_tool_call: {
    fields: {
      ...base,
      call_id: check.string(),
      name: check.string(),
      input: check.string(),
      namespace: check.string(),
      caller: check.object,
    },
    required: ['call_id', 'name', 'input'],
    source: 'model',
    idPrefix: 'ctc',
  },
  custom_tool_call_output: {
    fields: { ...base, call_id: check.string(), output: content, caller: check.object },
    required: ['call_id', 'output'],
    source: 'tool',
  },
  reasoning: {
    fields: {
      ...base,
      summary: check.listOf(check.members({ type, text: check.string() }, ['type', 'text'])),
      content: check.listOf(check.object),
      encrypted_content: check.string(),
    },
    required: ['id', 'summary'],
    source: 'model',
    idPrefix: 'rs',
  },
}

/**
 * Items that the provider itself makes (of its own tools and its bookkeeping), and results: callers send them
 * back unchanged.
 */
const hostedItems = new Set(
  [
    'compaction compaction_trigger file_search_call web_search_call computer_call computer_call_output',
    'image_generation_call code_interpreter_call local_shell_call local_shell_call_output shell_call',
    'shell_call_output apply_patch_call apply_patch_call_output mcp_list_tools mcp_approval_request',
    'mcp_approval_response mcp_call tool_search_call tool_search_output additional_tools program program_output',
  ].flatMap((names) => names.split(' ')),
)

/** Reads the input: text, or a list of items. Throws `ApiError` naming the item at fault. */
export function readItems(value: unknown, rules: ItemRules): ReadItem[] {
  if (typeof value === 'string') return [readItem({ role: 'user', content: value }, 'input', rules)]
  const list = Array.isArray(value) ? value : []
  const items = list.map((item: JsonObject, at) => readItem(item, `input[${at}]`, rules))
  refuseLooseThoughts(items)
  refuseLooseOutputs(items)
  return items
}

function readItem(given: JsonObject, param: string, rules: ItemRules): ReadItem {
  const item = given['type'] === 'item_reference' ? referenced(given, rules.stored) : given
  const kind = String(item['type'] ?? 'message')
  if (hostedItems.has(kind)) return hostedItem(item, kind)
  check.oneOf(...Object.keys(forms))(kind, `${param}.type`)
  const form = forms[kind]
  if (form === undefined) return hostedItem(item, kind)
  const { fields, required, idPrefix } = form
  check.checkMembers(item, { fields, required, strict: !rules.lenient, prefix: `${param}.` })
  refuseForeignId(item['id'], idPrefix, `${param}.id`)
  if (kind === 'reasoning' && !rules.lenient) refuseForeignThoughts(item, rules)
  const role = kind === 'message' ? String(item['role']) : ''
  const allowed = role === 'assistant' ? outputParts : inputParts
  const parts = readParts(item['content'] ?? item['output'], { param, allowed, lenient: rules.lenient, kind })
  const text = parts.map((part) => part.text).join('\n')
  const called = [item['name'], item['arguments'], item['input']].filter((one) => typeof one === 'string')
  const tokens = parts.reduce((sum, part) => sum + part.tokens, itemTokens) + countTokens(called.join(' '))
  const callId = typeof item['call_id'] === 'string' ? item['call_id'] : null
  return { type: kind, source: sourceOf(form.source, role), text, tokens, callId, raw: item }
}

function sourceOf(source: ItemSource, role: string): ItemSource {
  if (role === 'assistant') return 'model'
  return role === 'system' || role === 'developer' ? 'instructions' : source
}

function hostedItem(raw: JsonObject, kind: string): ReadItem {
  const source = kind.endsWith('output') || kind.endsWith('response') ? 'tool' : 'model'
  return { type: kind, source, text: '', tokens: countTokens(JSON.stringify(raw)), callId: null, raw }
}

function referenced(item: JsonObject, stored: StoredResponses): JsonObject {
  const found = stored.item(String(item['id']))
  if (found !== null) return found
  throw itemNotFound(String(item['id']))
}

function itemNotFound(id: string): ApiError {
  const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
  return new ApiError({ status: 404, message, param: 'input' })
}

function refuseForeignId(id: unknown, prefix: string | undefined, param: string): void {
  if (typeof id !== 'string' || prefix === undefined || id.startsWith(prefix)) return
  const message = `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`
  throw invalidRequest(message, param, 'invalid_value')
}

interface PartRules {
  param: string
  kind: string
  allowed: readonly string[]
  lenient: boolean
}

function readParts(value: unknown, rules: PartRules): { text: string; tokens: number }[] {
  if (typeof value === 'string') return [{ text: value, tokens: countTokens(value) }]
  if (!Array.isArray(value) || rules.kind === 'reasoning') return []
  const member = rules.kind === 'message' ? 'content' : 'output'
  return value.map((part: JsonObject, at) => {
    const path = `${rules.param}.${member}[${at}]`
    check.oneOf(...rules.allowed)(part['type'], `${path}.type`)
    const kind = String(part['type'])
    const fields = partForms[kind] ?? {}
    check.checkMembers(part, {
      fields,
      required: requiredOf[kind] ?? [],
      strict: !rules.lenient,
      prefix: `${path}.`,
    })
    const text = part['text'] ?? part['refusal']
    if (typeof text === 'string') return { text, tokens: countTokens(text) }
    return { text: '', tokens: mediumTokens }
  })
}

/** The encrypted thoughts of an item, which only this provider can read. */
export const encryptedPrefix = 'gAAAAA'

/** Thoughts come back encrypted, or stay with the provider under their id. */
function refuseForeignThoughts(item: JsonObject, { stored, sealer }: ItemRules): void {
  const id = String(item['id'])
  const encrypted = item['encrypted_content']
  if (typeof encrypted !== 'string') {
    if (stored.item(id) === null) throw itemNotFound(id)
    return
  }
  const isOwn = encrypted.startsWith(encryptedPrefix)
  if (isOwn && isSealed(`reasoning ${id}`, encrypted.slice(encryptedPrefix.length), sealer)) return
  throw invalidRequest(
    `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
    null,
    'invalid_encrypted_content',
  )
}

/** Throws unless thoughts come before the item that they led to. */
function refuseLooseThoughts(items: readonly ReadItem[]): void {
  for (const [at, item] of items.entries()) {
    if (item.type !== 'reasoning' || items[at + 1]?.source === 'model') continue
    const id = String(item.raw['id'])
    const message = `Item '${id}' of type 'reasoning' was provided without its required following item.`
    throw invalidRequest(message, 'input')
  }
}

/** Throws unless every call has its output somewhere after it, and every output its call before it. */
function refuseLooseOutputs(items: readonly ReadItem[]): void {
  const open = new Map<string, string>()
  const called = new Set<string>()
  for (const { type: kind, callId } of items) {
    if (callId === null) continue
    if (!kind.endsWith('_output')) {
      open.set(callId, kind)
      called.add(callId)
    } else if (!called.has(callId)) {
      const message = `No tool call found for ${kind.replaceAll('_', ' ')} with call_id ${callId}.`
      throw invalidRequest(message, 'input')
    } else open.delete(callId)
  }
  const [first] = open
  if (first === undefined) return
  const [callId, kind] = first
  throw invalidRequest(`No tool output found for ${kind.replaceAll('_', ' ')} ${callId}.`, 'input')
}
