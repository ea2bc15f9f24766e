import type { TextCall } from '../../canonical/call.ts'
import type { Conversation } from '../../canonical/text/conversation.ts'
import { fieldError } from '../../core/errors.ts'
import { memberParseBytesMax } from '../../core/limits/text.ts'
import {
  hasMember,
  type JsonDocument,
  leanMemberValue,
  memberBytes,
  memberValue,
  parseJsonDocument,
} from '../../json/document.ts'
import { numberOrNull, recordOrNull, textOrNull, isWholeNumber } from '../../json/values.ts'
import { parseField } from '../field-error.ts'
import { parsePreferences } from '../preferences.ts'
import { type DecodeContext, decodeSessionId } from '../text/decode-context.ts'
import { unknownMembers } from '../text/member-names.ts'
import { estimateTokens } from '../text/text-estimate.ts'
import { completionsRequestShape, ownShape, promptsMax, tuningShape } from './request-schema.ts'

type FieldName = keyof typeof completionsRequestShape

const parameterNames = [...Object.keys(tuningShape), ...Object.keys(ownShape)]

/** Reads a legacy completions body as a call. Known members are checked, and an error names the wrong one. */
export function decodeCompletionsRequest(bytes: Uint8Array, context: DecodeContext): TextCall {
  const document = parseJsonDocument(bytes, context.lean)
  const fields = readFields(document)
  const { model, n, best_of: bestOf, max_tokens: tokensMax } = fields
  if (typeof model !== 'string') {
    throw fieldError('model', 'is missing. Name a model, such as "openai/gpt-4o-mini".')
  }
  const prompts = countPrompts(document)
  const { preferences, dropped } = parsePreferences(memberValue(document, 'provider'))
  const prompt = memberBytes(document, 'prompt') ?? new Uint8Array()
  return {
    kind: 'text',
    operation: 'completions',
    format: 'completions',
    model,
    fallbackModels: (fields['models'] as string[] | null | undefined) ?? [],
    preferences,
    parameters: parameterNames.filter((name) => hasMember(document, name)),
    demand: {
      inputTokens:
        estimateTokens(prompt) + estimateTokens(memberBytes(document, 'suffix') ?? new Uint8Array()),
      inputBytes: bytes.length,
      outputTokensMax: numberOrNull(tokensMax),
      // With `best_of` the provider makes, and charges for, the answers that it throws away too.
      choices: prompts * Math.max(numberOrNull(n) ?? 1, numberOrNull(bestOf) ?? 1),
      audioMilliseconds: 0,
      characters: 0,
    },
    sessionId: decodeSessionId(textOrNull(fields['session_id']), context),
    userId: textOrNull(fields['user']),
    trace: recordOrNull(fields['trace']),
    dropped,
    stream: fields['stream'] === true,
    document,
    encodingFormat: null,
  }
}

/** Written by hand, because a union of schemas cannot tell which form the caller meant. */
function countPrompts(document: JsonDocument): number {
  if (!hasMember(document, 'prompt')) throw fieldError('prompt', 'is missing. Send a text to go on with.')
  const prompt = leanMemberValue(document, 'prompt')
  if (typeof prompt === 'string') return 1
  if (!Array.isArray(prompt)) throw fieldError('prompt', 'must be a text, a list of texts, or token numbers.')
  if (prompt.length === 0) throw fieldError('prompt', 'is empty. Send at least one text.')
  const isRow = isWholeNumber(prompt[0])
  for (const [index, each] of prompt.entries()) {
    const isSound = isRow
      ? isWholeNumber(each)
      : typeof each === 'string' || (Array.isArray(each) && each.length > 0 && each.every(isWholeNumber))
    if (!isSound) throw fieldError(`prompt[${index}]`, 'must be a text or token numbers, like the others.')
  }
  if (!isRow && prompt.length > promptsMax)
    throw fieldError('prompt', `has ${prompt.length} entries; at most ${promptsMax} fit in one request.`)
  return isRow ? 1 : prompt.length
}

function readFields(document: JsonDocument): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, member] of document.members) {
    if (!isFieldName(name) || name === 'provider' || name === 'prompt') continue
    if (member.valueEnd - member.valueStart > memberParseBytesMax) {
      throw fieldError(name, `must be at most ${memberParseBytesMax} bytes.`)
    }
    fields[name] = parseField<unknown>(completionsRequestShape[name], name, memberValue(document, name))
  }
  return fields
}

function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(completionsRequestShape, name)
}

/**
 * A prompt of one text as a conversation of one turn, for providers that lack this format. Throws `invalid_request` for
 * what a conversation cannot express; another provider may have it.
 */
export function* readCompletionsConversation(call: TextCall): Generator<void, Conversation> {
  const { document, model } = call
  for (const name of Object.keys(ownShape)) {
    const value = memberValue(document, name)
    // A value that asks for nothing, such as `best_of: 1`, is ignored.
    if (value === undefined || value === null || value === false || value === '') continue
    if (name === 'best_of' && value === 1) continue
    throw fieldError(name, `cannot be had of ${model}: its provider has no legacy completions.`)
  }
  const prompt = leanMemberValue(document, 'prompt')
  const [only] = Array.isArray(prompt) && prompt.length === 1 ? prompt : [prompt]
  if (typeof only !== 'string') {
    throw fieldError('prompt', `must be one text for ${model}: its provider has no legacy completions.`)
  }
  yield
  const number = (name: keyof typeof tuningShape) => numberOrNull(memberValue(document, name))
  const stop = memberValue(document, 'stop') ?? []
  return {
    format: 'chat',
    turns: [{ role: 'user', parts: [{ type: 'text', text: only }], name: null, place: 'prompt' }],
    tools: [],
    toolChoice: null,
    isParallel: null,
    outputTokensMax: call.demand.outputTokensMax,
    choices: call.demand.choices,
    stop: typeof stop === 'string' ? [stop] : (stop as string[]),
    output: { kind: 'text' },
    reasoning: null,
    logprobs: null,
    tuning: {
      temperature: number('temperature'),
      topP: number('top_p'),
      topK: number('top_k'),
      minP: number('min_p'),
      seed: number('seed'),
      presencePenalty: number('presence_penalty'),
      frequencyPenalty: number('frequency_penalty'),
      repetitionPenalty: number('repetition_penalty'),
      logitBias: recordOrNull(memberValue(document, 'logit_bias')) as Record<string, number> | null,
      verbosity: null,
      serviceTier: null,
      cacheKey: null,
    },
    userId: call.userId,
    metadata: null,
    stream: call.stream,
    ownMembers: { needed: [], optional: [], unknown: unknownMembers(document, completionsRequestShape) },
  }
}
