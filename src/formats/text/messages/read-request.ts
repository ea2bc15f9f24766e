import { readContents, rolesAsJson } from '../plain-messages.ts'
import type { TextCall } from '../../../canonical/call.ts'
import { hasMember, type JsonDocument, memberBytes, memberValue } from '../../../json/document.ts'
import { userIdLengthMax } from '../../../core/limits/http.ts'
import { memberParseBytesMax, messagesMax } from '../../../core/limits/text.ts'
import { type MediaWeight, noMedia } from '../media/media-source.ts'
import { isRecord } from '../../../json/values.ts'
import { type DecodeContext, decodeSessionId, documentOf } from '../decode-context.ts'
import { fieldError } from '../../../core/errors.ts'
import { type HidingFields, readHiding } from '../thoughts/hidden-thoughts.ts'
import { lookInto } from '../../../json/set-aside-texts.ts'
import { checkSources } from '../media/media-checks.ts'
import { parsePreferences } from '../../preferences.ts'
import { type FieldRules, readFields } from '../../request-fields.ts'
import { mayUseProviderTools } from '../tools/provider-tools.ts'
import { estimateTokens } from '../text-estimate.ts'
import { readUnserved, type UnservedFields } from '../../unserved-members.ts'
import { mayCarrySources, weighSources } from './media.ts'
import { messagesQuickChecks } from './messages-checks.ts'
import { gatewayMessagesShape, messagesRequestShape } from './request-schema.ts'

const rules: FieldRules = {
  shape: messagesRequestShape,
  gateway: gatewayMessagesShape,
  quickChecks: messagesQuickChecks,
  readApart: new Set(['messages', 'provider']),
  neverParsed: new Set(['tools', 'system']),
}

interface Fields extends UnservedFields, HidingFields {
  model?: string
  models?: string[] | null
  fallbacks?: { model: string }[] | null
  max_tokens?: number | null
  session_id?: string | null
  metadata?: { user_id?: string | null } | null
  user?: string | null
  trace?: Record<string, unknown> | null
  stream?: boolean | null
  thinking?: { display?: unknown } | null
  output_config?: { effort?: string | null; format?: unknown } | null
}

/** The contract's names of optional capabilities, by the member that needs each. */
const capabilities: Readonly<Record<string, string>> = {
  max_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  stop_sequences: 'stop',
  tools: 'tools',
  tool_choice: 'tool_choice',
  thinking: 'reasoning',
}

/**
 * Reads a messages body as a call. Members that the gateway knows are checked, and an error names the wrong one;
 * unknown members stay in the document. Throws `invalid_request`.
 */
export function decodeMessagesRequest(bytes: Uint8Array, context: DecodeContext): TextCall {
  const document = documentOf(bytes, context)
  const fields: Fields = readFields(document, rules)
  if (fields.model === undefined)
    throw fieldError('model', 'is missing. Name a model, such as "anthropic/claude-sonnet-4.5".')
  if (fields.models && fields.fallbacks)
    throw fieldError('fallbacks', 'cannot be sent together with "models". Send one of them.')
  const input = estimateConversation(document)
  const { preferences, dropped } = parsePreferences(memberValue(document, 'provider'))
  return {
    kind: 'text',
    operation: 'messages',
    format: 'messages',
    model: fields.model,
    fallbackModels: fields.models ?? fields.fallbacks?.map(({ model }) => model) ?? [],
    preferences,
    parameters: listParameters(document, fields),
    demand: {
      inputTokens: input.tokens,
      inputBytes: bytes.length,
      ...(input.media.images > 0 ? { images: input.media.images } : {}),
      ...(input.media.isUncounted || mayUseProviderTools(document) ? { hasUncountedInput: true } : {}),
      outputTokensMax: fields.max_tokens ?? null,
      choices: 1,
      audioMilliseconds: 0,
      characters: 0,
    },
    sessionId: decodeSessionId(fields.session_id ?? null, context),
    userId: fields.user ?? fields.metadata?.user_id?.slice(0, userIdLengthMax) ?? null,
    trace: fields.trace ?? null,
    dropped: [...dropped, ...readUnserved(document, fields), ...otherWishes(fields)],
    stream: fields.stream ?? false,
    document,
    encodingFormat: null,
    ...(fields.thinking?.display === 'omitted' ? { hiddenThoughts: 'words' } : {}),
    ...readHiding(fields),
    ...readBetas(context.betaHeader ?? null),
  }
}

/** Options of the contract's `reasoning` other than `exclude`; the format has its own members for them. */
function otherWishes({ reasoning }: Fields): string[] {
  const said = Object.entries(reasoning ?? {}).filter(([name, value]) => name !== 'exclude' && value !== null)
  return said.map(([name]) => `reasoning.${name}`)
}

const betasPattern = /^[\w., -]{1,2000}$/

/** The value of `anthropic-beta` as a member of a call. Throws `invalid_request`. */
export function readBetas(header: string | null): { betas?: string } {
  if (header === null || header.trim() === '') return {}
  if (!betasPattern.test(header))
    throw fieldError('anthropic-beta', 'must be names with commas between them, 2,000 characters at most.')
  return { betas: header }
}

/** Checks the conversation and estimates its tokens. */
function estimateConversation(document: JsonDocument): { tokens: number; media: Readonly<MediaWeight> } {
  const bytes = memberBytes(document, 'messages')
  const conversation = lookInto(document, 'messages')
  if (bytes === null || conversation === null || !hasMember(document, 'messages'))
    throw fieldError('messages', 'is missing. Send at least one message with a role and content.')
  if (bytes[0] !== 0x5b) throw fieldError('messages', 'must be an array of messages.')
  const rest = estimateRest(document)
  const mayHaveMedia = mayCarrySources(conversation.bytes)
  if (conversation.bytes.length > memberParseBytesMax && !mayHaveMedia)
    return { tokens: estimateTokens(bytes) + rest, media: noMedia }
  const messages = conversation.value() as unknown[]
  checkMessages(messages)
  if (mayHaveMedia) checkSources(messages, conversation)
  const media = mayHaveMedia ? weighSources(messages, (text) => conversation.lengthOf(text)) : noMedia
  const tokens = estimateTokens(bytes, bytes.length - media.bytes) + media.tokens + rest
  return { tokens, media }
}

/** Roles of messages that are accepted. */
const turnRoles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system'])

// Written by hand, because it runs for every request.
function checkMessages(messages: readonly unknown[]): void {
  if (messages.length === 0) throw fieldError('messages', 'is empty. Send at least one message.')
  if (messages.length > messagesMax) throw fieldError('messages', `has more than ${messagesMax} entries.`)
  for (const [index, message] of messages.entries()) {
    if (!isRecord(message))
      throw fieldError(`messages[${index}]`, 'must be an object with a role and content.')
    const { role, content } = message
    if (!turnRoles.has(role)) {
      throw fieldError(
        `messages[${index}].role`,
        'must be user or assistant. Instructions go into the member "system".',
      )
    }
    if (typeof content === 'string') continue
    if (!Array.isArray(content))
      throw fieldError(`messages[${index}].content`, 'must be a string or an array of content blocks.')
    for (const [at, block] of content.entries()) {
      if (!isRecord(block) || typeof block['type'] !== 'string')
        throw fieldError(`messages[${index}].content[${at}]`, 'must be a content block with a type.')
    }
  }
}

/** Estimates the tokens that reach the model besides the conversation. */
function estimateRest(document: JsonDocument): number {
  let tokens = 0
  for (const name of ['system', 'tools', 'output_config'] as const) {
    const bytes = memberBytes(document, name)
    if (bytes !== null) tokens += estimateTokens(bytes)
  }
  return tokens
}

function listParameters(document: JsonDocument, { output_config: config }: Fields): readonly string[] {
  const names = Object.entries(capabilities)
    .filter(([name]) => hasMember(document, name))
    .map(([, capability]) => capability)
  if (config?.effort && !names.includes('reasoning')) names.push('reasoning')
  if (config?.format) names.push('response_format', 'structured_outputs')
  return names
}

const plainRoles = rolesAsJson(turnRoles)

/**
 * Whether messages surely pass `decodeMessagesRequest` and hold only texts, so that their bytes tell their tokens.
 * False says nothing. `bytes` are valid JSON.
 */
export function arePlainTurns(bytes: Buffer): boolean {
  const contents = readContents(bytes, plainRoles)
  return contents !== null && !contents.hasParts && !contents.hasNone
}
