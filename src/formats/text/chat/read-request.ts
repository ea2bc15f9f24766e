import { readContents, rolesAsJson } from '../plain-messages.ts'
import type { TextCall } from '../../../canonical/call.ts'
import type { Demand } from '../../../canonical/usage.ts'
import { hasMember, type JsonDocument, memberBytes, memberValue } from '../../../json/document.ts'
import { assert } from '../../../core/assert.ts'
import { memberParseBytesMax, memberPassedBytesMax, messagesMax } from '../../../core/limits/text.ts'
import { readDebugOptions } from '../../debug-options.ts'
import { isRecord, parseExactly, parsePlainly } from '../../../json/values.ts'
import { parseField } from '../../field-error.ts'
import { fieldError } from '../../../core/errors.ts'
import { type HidingFields, readHiding } from '../thoughts/hidden-thoughts.ts'
import { lookInto } from '../../../json/set-aside-texts.ts'
import { checkChatMedia } from '../media/media-checks.ts'
import { parsePreferences } from '../../preferences.ts'
import { mayUseProviderTools } from '../tools/provider-tools.ts'
import { estimateTokens } from '../text-estimate.ts'
import { readUnserved, type UnservedFields } from '../../unserved-members.ts'
import { completeMembers } from './read-request-required.ts'
import { isDefault } from './pass-request.ts'
import { mayCarryMedia, weighMedia } from './media.ts'
import { type MediaWeight, noMedia } from '../media/media-source.ts'
import { areKnown } from './message-members.ts'
import { quickChecks } from '../quick-checks.ts'
import { chatRequestShape, extendedChatShape, gatewayChatShape, standardChatShape } from './request-schema.ts'
import { type DecodeContext, decodeSessionId, documentOf } from '../decode-context.ts'

type FieldName = keyof typeof chatRequestShape

/**
 * Members with their own reader: `messages` is checked without building values when it is large, `provider` has its own
 * parser.
 */
const readApart: ReadonlySet<string> = new Set(['messages', 'provider'])

/** Members that may be as large as the body: they are only passed on, and no decision depends on them. */
const neverParsed: ReadonlySet<string> = new Set(['tools', 'functions', 'prediction'])

/**
 * Members in which clients omit parts that most providers require. They are read even when they are too large to be
 * checked.
 */
const completable: ReadonlySet<string> = new Set(['tools', 'tool_choice', 'response_format'])

/** Names in a capability list that differ from the request's names. */
const capabilityOf: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_tokens',
  reasoning_effort: 'reasoning',
  include_reasoning: 'reasoning',
  functions: 'tools',
  function_call: 'tool_choice',
}

/** Optional members that say how to answer; an endpoint may or may not honour them. */
const capabilities: ReadonlySet<string> = new Set(
  [...Object.keys(standardChatShape), ...Object.keys(extendedChatShape)].filter(
    (name) =>
      ![
        'messages',
        'n',
        'stream',
        'stream_options',
        'user',
        'metadata',
        'store',
        'service_tier',
        'safety_identifier',
        'cache_control',
        'moderation',
      ].includes(name) && !name.startsWith('prompt_cache'),
  ),
)

/** Clients send these with their default values anyway, which asks nothing of an endpoint. */
const oftenDefault: ReadonlySet<string> = new Set([
  'tool_choice',
  'function_call',
  'logprobs',
  'top_logprobs',
  'reasoning',
  'include_reasoning',
])

/**
 * Reads a chat completions body as a call. Members that the gateway knows are checked, and an error names the wrong
 * one; unknown members stay in the document. Of large messages only the structure is checked. Throws `invalid_request`.
 */
export function decodeChatRequest(bytes: Uint8Array, context: DecodeContext): TextCall {
  const document = documentOf(bytes, context)
  const fields = readFields(document)
  const messages = decodeMessages(document)
  const isPlain = messages.arePlain && hasPlainMembers(document)
  const { preferences, dropped } = parsePreferences(memberValue(document, 'provider'))
  const debug = readDebugOptions(fields.debug)
  const { model, fallbackModels } = decodeModels(fields)
  const call: TextCall = {
    kind: 'text',
    operation: 'chat_completions',
    format: 'chat',
    model,
    fallbackModels,
    preferences,
    parameters: listParameters(document, fields),
    demand: demandOf(document, fields, messages, isPlain),
    sessionId: decodeSessionId(fields.session_id ?? null, context),
    userId: fields.user ?? null,
    trace: fields.trace ?? null,
    dropped: isPlain ? noneDropped : [...dropped, ...debug.dropped, ...readDropped(document, fields)],
    stream: fields.stream ?? false,
    document,
    completed: isPlain ? null : completeMembers(fields),
    encodingFormat: null,
  }
  if (isPlain) call.isPlain = true
  // Set one by one: spreading optional members into the call would cost more than all the others.
  if (messages.hasKnownMembers !== null) call.hasKnownMembers = messages.hasKnownMembers
  if (debug.asked.debug === true) call.debug = true
  const { hiddenThoughts } = readHiding(fields)
  if (hiddenThoughts !== undefined) call.hiddenThoughts = hiddenThoughts
  return call
}

const noneDropped: readonly string[] = []

/** The names of members that are accepted without effect. */
function readDropped(document: JsonDocument, fields: Fields): string[] {
  const dropped = readUnserved(document, fields)
  return hasMember(document, 'transforms') ? [...dropped, 'transforms'] : dropped
}

/** Members of plain requests: they carry no media, tools or addresses, and need no completion. */
const plainMembers: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'n',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'user',
])

function hasPlainMembers({ members }: JsonDocument): boolean {
  for (const name of members.keys()) if (!plainMembers.has(name)) return false
  return true
}

function demandOf(
  document: JsonDocument,
  fields: Fields,
  { tokens, media }: ReadMessages,
  isPlain: boolean,
): Demand {
  const demand: Demand = {
    inputTokens: isPlain ? tokens : tokens + estimateRest(document),
    inputBytes: document.bytes.length,
    outputTokensMax: fields.max_completion_tokens ?? fields.max_tokens ?? null,
    choices: fields.n ?? 1,
    audioMilliseconds: 0,
    characters: 0,
  }
  if (media.audioTokens > 0) demand.audioInputTokens = media.audioTokens
  if (media.images > 0) demand.images = media.images
  if (!isPlain && (media.isUncounted || mayUseProviderTools(document))) demand.hasUncountedInput = true
  return demand
}

interface Fields extends UnservedFields, HidingFields {
  model?: string
  models?: string[] | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  n?: number | null
  session_id?: string | null
  user?: string | null
  trace?: Record<string, unknown> | null
  stream?: boolean | null
  response_format?: { type: string } | null
  tools?: unknown
  tool_choice?: unknown
  debug?: { echo_upstream_body?: boolean | null } | null
}

/** Reads and checks every known member of moderate size; the provider judges larger ones. */
function readFields(document: JsonDocument): Fields {
  const fields: Record<string, unknown> = {}
  for (const [name, member] of document.members) {
    if (!isFieldName(name)) continue
    const size = member.valueEnd - member.valueStart
    if (size > memberParseBytesMax) {
      if (name in gatewayChatShape) throw fieldError(name, `must be at most ${memberParseBytesMax} bytes.`)
      if (size > memberPassedBytesMax && !neverParsed.has(name))
        throw fieldError(name, `must be at most ${memberPassedBytesMax} bytes.`)
      if (size <= memberPassedBytesMax && completable.has(name))
        fields[name] = memberValue(document, name, parseExactly)
      continue
    }
    // Members that may be completed are written again, so they are parsed exactly.
    const value = memberValue(document, name, completable.has(name) ? parseExactly : parsePlainly)
    fields[name] = quickChecks[name]?.(value)
      ? value
      : parseField<unknown>(chatRequestShape[name], name, value)
  }
  return fields
}

const fieldNames: ReadonlySet<string> = new Set(
  Object.keys(chatRequestShape).filter((name) => !readApart.has(name)),
)

function isFieldName(name: string): name is FieldName {
  return fieldNames.has(name)
}

const noModels: readonly string[] = []

function decodeModels(fields: Fields): { model: string; fallbackModels: readonly string[] } {
  const { model, models } = fields
  if (model !== undefined) return { model, fallbackModels: models ?? noModels }
  const [first, ...rest] = models ?? noModels
  if (first === undefined) {
    throw fieldError('model', 'is missing. Name a model, such as "openai/gpt-4o-mini", or give "models".')
  }
  return { model: first, fallbackModels: rest }
}

interface ReadMessages {
  tokens: number
  media: Readonly<MediaWeight>
  /** Null when the members were not checked. */
  hasKnownMembers: boolean | null
  /** Whether each message has nothing but a plain role and a text. */
  arePlain: boolean
}

/** Checks the conversation and estimates its tokens. */
function decodeMessages(document: JsonDocument): ReadMessages {
  const bytes = memberBytes(document, 'messages')
  if (bytes === null || !hasMember(document, 'messages')) {
    throw fieldError('messages', 'is missing. Send at least one message with a role and content.')
  }
  if (bytes[0] !== 0x5b) throw fieldError('messages', 'must be an array of messages.')
  if (document.values !== null) {
    const messages = document.values['messages'] as unknown[]
    checkMessages(messages)
    if (arePlainTexts(messages))
      return { tokens: estimateTokens(bytes), media: noMedia, hasKnownMembers: true, arePlain: true }
  }
  return lookAtMessages(document, bytes)
}

function lookAtMessages(document: JsonDocument, bytes: Uint8Array): ReadMessages {
  const conversation = lookInto(document, 'messages')
  assert(conversation, 'the messages are there')
  const mayHaveMedia = mayCarryMedia(conversation.bytes)
  if (conversation.bytes.length > memberParseBytesMax && !mayHaveMedia)
    return { tokens: estimateTokens(bytes), media: noMedia, hasKnownMembers: null, arePlain: false }
  const messages = conversation.value() as unknown[]
  if (document.values === null) checkMessages(messages)
  if (mayHaveMedia) checkChatMedia(messages, conversation)
  const media = mayHaveMedia ? weighMedia(messages, (text) => conversation.lengthOf(text)) : noMedia
  const tokens = estimateTokens(bytes, bytes.length - media.bytes) + media.tokens
  return { tokens, media, hasKnownMembers: areKnown(messages), arePlain: false }
}

/** Whether every message is a role that all hosts know and a text, so that it carries no media and needs no edit. */
function arePlainTexts(messages: readonly unknown[]): boolean {
  for (const message of messages) {
    if (!isRecord(message)) return false
    for (const name in message) {
      const value = message[name]
      if (typeof value !== 'string') return false
      if (name === 'role' ? !plainMessageRoles.has(value) : name !== 'content') return false
    }
  }
  return true
}

const plainMessageRoles: ReadonlySet<string> = new Set(['system', 'user', 'assistant'])

/** The roles of messages. */
const roles: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

// Written by hand, because it runs for every request: a schema that walks through every content part would cost as much
// as the rest of the request.
function checkMessages(messages: readonly unknown[]): void {
  if (messages.length === 0) throw fieldError('messages', 'is empty. Send at least one message.')
  if (messages.length > messagesMax) throw fieldError('messages', `has more than ${messagesMax} entries.`)
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index]
    if (!isRecord(message))
      throw fieldError(`messages[${index}]`, 'must be an object with a role and content.')
    if (!roles.has(message['role'])) {
      throw fieldError(
        `messages[${index}].role`,
        'must be one of system, developer, user, assistant, tool and function.',
      )
    }
    const { content } = message
    if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
      throw fieldError(`messages[${index}].content`, 'must be a string or an array of content parts.')
    }
  }
}

/** Estimates the tokens that reach the model besides the conversation. */
function estimateRest(document: JsonDocument): number {
  let tokens = 0
  for (const name of ['tools', 'functions', 'response_format', 'prediction'] as const) {
    const bytes = memberBytes(document, name)
    if (bytes !== null) tokens += estimateTokens(bytes)
  }
  return tokens
}

function listParameters(document: JsonDocument, fields: Fields): readonly string[] {
  const names: string[] = []
  for (const name of document.members.keys()) {
    if (!capabilities.has(name) || !hasMember(document, name)) continue
    if (oftenDefault.has(name) && isDefault(document, name)) continue
    const capability = capabilityOf[name] ?? name
    if (!names.includes(capability)) names.push(capability)
  }
  if (fields.response_format?.type === 'json_schema') names.push('structured_outputs')
  return names
}

const plainRoles = rolesAsJson(roles)

/**
 * Whether messages surely pass `decodeChatRequest` and have no media, so that their bytes tell their tokens; values are
 * not built. False says nothing. `bytes` are valid JSON.
 */
export function arePlainMessages(bytes: Buffer): boolean {
  const contents = readContents(bytes, plainRoles)
  return contents !== null && (!contents.hasParts || !mayCarryMedia(bytes))
}
