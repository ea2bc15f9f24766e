import type { Answer, AnsweredCall } from '../answer.ts'
import type { Faults } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import { logprobsOf } from '../logprobs.ts'
import { lettersOf } from '../random.ts'
import { seal } from '../seals.ts'
import { splitTokens } from '../tokens.ts'
import { encryptedPrefix } from './items.ts'
import type { ResponsesRequest } from './request.ts'

/** One output item: its announcement, its pieces, and the whole. */
export type OutputItem =
  | { kind: 'reasoning'; whole: JsonObject; summary: string | null; open: string | null }
  | { kind: 'text'; whole: JsonObject; pieces: string[]; logprobs: unknown[]; annotations: JsonObject[] }
  | { kind: 'refusal'; whole: JsonObject; refusal: string }
  | { kind: 'call'; whole: JsonObject; call: AnsweredCall }

/** What the items of an answer are made from. */
export interface ItemSource {
  request: ResponsesRequest
  answer: Answer
  faults: Faults
  key: string
}

/** An id of the length that OpenAI's have. */
export function idOf(prefix: string, key: string): string {
  return `${prefix}_${Buffer.from(lettersOf(`${prefix} ${key}`, 25)).toString('hex')}`
}

/** The output of an answer, in the order in which the model makes it. */
export function outputItems(source: ItemSource): OutputItem[] {
  const { answer, key } = source
  const items: OutputItem[] = []
  if (isThinking(source)) items.push(reasoningItem(source))
  if (answer.refusal !== null) items.push(refusalItem(answer.refusal, key))
  else if (answer.pieces !== null && answer.pieces.length > 0) items.push(textItem(source, answer.pieces))
  for (const [at, call] of answer.calls.entries()) items.push(callItem(call, `${at} ${key}`))
  return items
}

function isThinking({ request, answer, faults }: ItemSource): boolean {
  if (faults.reasoningText === true) return answer.thoughts !== ''
  if (answer.isScripted) return answer.thoughts !== ''
  return request.effort !== 'none' && answer.reasoningTokens > 0
}

function reasoningItem({ request, answer, faults, key }: ItemSource): OutputItem {
  const id = idOf('rs', key)
  const encrypted = request.hasEncryptedThoughts
    ? { encrypted_content: encryptedPrefix + seal(`reasoning ${id}`, key, faults.sealer) }
    : {}
  const summary = request.hasSummary ? answer.thoughts : null
  const told = summary === null ? [] : [{ type: 'summary_text', text: summary }]
  const open = faults.reasoningText === true ? answer.thoughts : null
  const content = open === null ? {} : { content: [{ type: 'reasoning_text', text: open }] }
  const whole = { id, type: 'reasoning', ...encrypted, summary: told, ...content }
  return { kind: 'reasoning', whole, summary, open }
}

function messageItem(key: string, content: JsonObject): JsonObject {
  return {
    id: idOf('msg', key),
    type: 'message',
    status: 'completed',
    content: [content],
    role: 'assistant',
  }
}

function textItem({ request, answer, faults, key }: ItemSource, pieces: string[]): OutputItem {
  const logprobs = request.hasLogprobs ? logprobsOf(pieces, request.topLogprobs).content : []
  const page = { url: 'https://example.com/', title: 'Example Domain' }
  const annotations =
    faults.citations === undefined ? [] : [{ type: 'url_citation', start_index: 0, end_index: 5, ...page }]
  const text = pieces.join('')
  const whole = messageItem(key, { type: 'output_text', annotations, logprobs, text })
  const isCut = answer.finish === 'length' || answer.finish === 'content_filter'
  if (isCut) whole['status'] = 'incomplete'
  return { kind: 'text', whole, pieces, logprobs, annotations }
}

function refusalItem(refusal: string, key: string): OutputItem {
  return { kind: 'refusal', whole: messageItem(key, { type: 'refusal', refusal }), refusal }
}

function callItem(call: AnsweredCall, key: string): OutputItem {
  const { id, name, arguments: given, isCustom } = call
  const status = 'completed'
  const whole = isCustom
    ? { id: idOf('ctc', key), type: 'custom_tool_call', status, call_id: id, input: given, name }
    : { id: idOf('fc', key), type: 'function_call', status, arguments: given, call_id: id, name }
  return { kind: 'call', whole, call }
}

/** The pieces in which a call's arguments arrive. */
export function callPieces(call: AnsweredCall): string[] {
  return splitTokens(call.arguments)
}
