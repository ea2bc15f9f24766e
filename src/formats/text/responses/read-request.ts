import type { TextCall } from '../../../canonical/call.ts'
import { hasMember, type JsonDocument, memberBytes, memberValue } from '../../../json/document.ts'
import { memberParseBytesMax, messagesMax } from '../../../core/limits/text.ts'
import { type MediaWeight, noMedia } from '../media/media-source.ts'
import { isRecord } from '../../../json/values.ts'
import { type DecodeContext, decodeSessionId, documentOf } from '../decode-context.ts'
import { readDebugOptions } from '../../debug-options.ts'
import { isSealedPart } from './compaction.ts'
import { fieldError } from '../../../core/errors.ts'
import { type HidingFields, isOnlyHiding, readHiding } from '../thoughts/hidden-thoughts.ts'
import { lookInto } from '../../../json/set-aside-texts.ts'
import { checkInputMedia } from '../media/media-checks.ts'
import { parsePreferences } from '../../preferences.ts'
import { type FieldRules, readFields } from '../../request-fields.ts'
import { mayUseProviderTools } from '../tools/provider-tools.ts'
import { estimateTokens } from '../text-estimate.ts'
import { readUnserved, type UnservedFields } from '../../unserved-members.ts'
import { mayCarryInputs, weighInputs } from './media.ts'
import { gatewayResponsesShape, responsesRequestShape } from './request-schema.ts'

const openBracket = 0x5b
const quote = 0x22

const rules: FieldRules = {
  shape: responsesRequestShape,
  gateway: gatewayResponsesShape,
  readApart: new Set(['input', 'provider']),
  neverParsed: new Set(['tools', 'instructions']),
}

interface Fields extends UnservedFields, HidingFields {
  model?: string
  models?: string[] | null
  max_output_tokens?: number | null
  session_id?: string | null
  user?: string | null
  trace?: Record<string, unknown> | null
  stream?: boolean | null
  store?: boolean | null
  background?: boolean | null
  debug?: { echo_upstream_body?: boolean | null } | null
  text?: { format?: { type: string } | null } | null
}

/** The contract's names of optional capabilities, by the member that needs each. */
const capabilities: Readonly<Record<string, string>> = {
  max_output_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
  top_logprobs: 'top_logprobs',
  tools: 'tools',
  tool_choice: 'tool_choice',
  parallel_tool_calls: 'parallel_tool_calls',
  reasoning: 'reasoning',
}

/**
 * Reads a responses body as a call. Members that the gateway knows are checked, and an error names the wrong one;
 * unknown members stay in the document. Throws `invalid_request`, also for members that need stored answers: the
 * gateway stores none.
 */
export function decodeResponsesRequest(bytes: Uint8Array, context: DecodeContext): TextCall {
  const document = documentOf(bytes, context)
  const fields: Fields = readFields(document, rules)
  refuseState(document, fields)
  const input = estimateInput(document)
  const { preferences, dropped } = parsePreferences(memberValue(document, 'provider'))
  const debug = readDebugOptions(fields.debug)
  const [first, ...rest] = fields.models ?? []
  const model = fields.model ?? first
  if (model === undefined)
    throw fieldError('model', 'is missing. Name a model, such as "openai/gpt-4o-mini", or give "models".')
  return {
    kind: 'text',
    operation: 'responses',
    format: 'responses',
    model,
    fallbackModels: fields.model === undefined ? rest : (fields.models ?? []),
    preferences,
    parameters: listParameters(document, fields),
    demand: {
      inputTokens: input.tokens,
      inputBytes: bytes.length,
      ...(input.media.images > 0 ? { images: input.media.images } : {}),
      ...(input.media.isUncounted || mayUseProviderTools(document) ? { hasUncountedInput: true } : {}),
      outputTokensMax: fields.max_output_tokens ?? null,
      choices: 1,
      audioMilliseconds: 0,
      characters: 0,
    },
    sessionId: decodeSessionId(fields.session_id ?? null, context),
    userId: fields.user ?? null,
    trace: fields.trace ?? null,
    dropped: [...dropped, ...debug.dropped, ...readUnserved(document, fields)],
    stream: fields.stream ?? false,
    document,
    encodingFormat: null,
    ...debug.asked,
    ...readHiding(fields),
  }
}

function refuseState(document: JsonDocument, { store, background }: Fields): void {
  if (store === true) throw fieldError('store', 'must be false: answers are not stored. Leave it out.')
  if (background === true) throw fieldError('background', 'must be false. Send a batch instead.')
  for (const name of ['previous_response_id', 'conversation', 'prompt'] as const) {
    if (!hasMember(document, name)) continue
    throw fieldError(name, 'is not served: nothing is stored. Send the whole conversation as "input".')
  }
}

/** Checks the input and estimates its tokens. */
function estimateInput(document: JsonDocument): { tokens: number; media: Readonly<MediaWeight> } {
  const bytes = memberBytes(document, 'input')
  const looked = lookInto(document, 'input')
  if (bytes === null || looked === null || !hasMember(document, 'input'))
    throw fieldError('input', 'is missing. Send a text, or a list of messages.')
  const rest = estimateRest(document)
  if (bytes[0] === quote) return { tokens: estimateTokens(bytes) + rest, media: noMedia }
  if (bytes[0] !== openBracket) throw fieldError('input', 'must be a text or an array of items.')
  const mayHaveMedia = mayCarryInputs(looked.bytes)
  if (looked.bytes.length > memberParseBytesMax && !mayHaveMedia)
    return { tokens: estimateTokens(bytes) + rest, media: noMedia }
  const items = looked.value() as unknown[]
  checkItems(items)
  if (mayHaveMedia) checkInputMedia(items, looked)
  const media = mayHaveMedia ? weighInputs(items, (text) => looked.lengthOf(text)) : noMedia
  const tokens = estimateTokens(bytes, bytes.length - media.bytes) + media.tokens + rest
  return { tokens, media }
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer'])

// Written by hand, because it runs for every request.
function checkItems(items: readonly unknown[]): void {
  if (items.length === 0) throw fieldError('input', 'is empty. Send at least one item.')
  if (items.length > messagesMax) throw fieldError('input', `has more than ${messagesMax} entries.`)
  for (const [index, item] of items.entries()) {
    if (!isRecord(item)) throw fieldError(`input[${index}]`, 'must be an object.')
    const { type = 'message', role, content } = item
    if (type === 'item_reference') {
      throw fieldError(
        `input[${index}].type`,
        'is item_reference, but nothing is stored. Send the item itself.',
      )
    }
    if (type === 'compaction_trigger' || (type === 'compaction' && isSealedPart(item)))
      throw fieldError(`input[${index}].type`, `is ${type}, which calls have and items of batches do not.`)
    if (type !== 'message') continue
    if (!roles.has(role))
      throw fieldError(`input[${index}].role`, 'must be one of user, assistant, system and developer.')
    if (typeof content !== 'string' && !Array.isArray(content))
      throw fieldError(`input[${index}].content`, 'must be a string or an array of content parts.')
  }
}

/** Estimates the tokens that reach the model besides the input. */
function estimateRest(document: JsonDocument): number {
  let tokens = 0
  for (const name of ['instructions', 'tools', 'text'] as const) {
    const bytes = memberBytes(document, name)
    if (bytes !== null) tokens += estimateTokens(bytes)
  }
  return tokens
}

function listParameters(document: JsonDocument, { text, reasoning }: Fields): readonly string[] {
  const names = Object.entries(capabilities)
    .filter(([name]) => hasMember(document, name) && !(name === 'reasoning' && isOnlyHiding(reasoning)))
    .map(([, capability]) => capability)
  const format = text?.format?.type ?? 'text'
  if (format !== 'text') names.push('response_format')
  if (format === 'json_schema') names.push('structured_outputs')
  return names
}
