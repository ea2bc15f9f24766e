import type { Answer, AnsweredCall } from '../answer.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'
import { seal } from '../seals.ts'
import { splitTokens } from '../tokens.ts'
import type { MessagesRequest } from './request.ts'

/** One block of an answer: its first form, its deltas, and the whole. */
export interface AnswerBlock {
  start: JsonObject
  deltas: JsonObject[]
  whole: JsonObject
}

/** What the blocks of an answer are made from. */
export interface BlockSource {
  request: MessagesRequest
  answer: Answer
  faults: Faults
  key: string
}

/** The content of an answer, in the order in which the model makes it. */
export function answerBlocks(source: BlockSource): AnswerBlock[] {
  const { answer, faults } = source
  // A refusal before the first block has no content at all.
  if (answer.refusal !== null) return []
  return [
    ...thoughtBlocks(source),
    ...(faults.serverTools === true ? serverToolBlocks(source.key) : []),
    ...textBlocks(answer, faults),
    ...answer.calls.map((call) => callBlock(call, faults)),
  ]
}

function thoughtBlocks({ request, answer, faults, key }: BlockSource): AnswerBlock[] {
  const blocks: AnswerBlock[] = []
  if (answer.thoughts !== '' && (request.thinking.tokens > 0 || answer.isScripted))
    blocks.push(thinkingBlock(answer.thoughts, request.thinking.isOmitted, { key, faults }))
  const hidden = answer.redacted ?? (faults.redactedThinking === true ? key : null)
  if (hidden !== null) {
    const whole = { type: 'redacted_thinking', data: seal('redacted', hidden, faults.sealer) }
    blocks.push({ start: whole, deltas: [], whole })
  }
  return blocks
}

function thinkingBlock(
  thoughts: string,
  isOmitted: boolean,
  { key, faults }: Pick<BlockSource, 'key' | 'faults'>,
): AnswerBlock {
  const thinking = isOmitted ? '' : thoughts
  const signature = seal(`thinking ${thinking}`, isOmitted ? key : '', faults.sealer)
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...splitTokens(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
    whole: { type: 'thinking', thinking, signature },
  }
}

function serverToolBlocks(key: string): AnswerBlock[] {
  const id = `srvtoolu_01${lettersOf(`server tool ${key}`, 22)}`
  const use = { type: 'server_tool_use', id, name: 'web_search', input: { query: 'an example' } }
  const found = {
    type: 'web_search_result',
    title: 'Example Domain',
    url: 'https://example.com/',
    encrypted_content: seal('search result'),
    page_age: null,
  }
  const result = { type: 'web_search_tool_result', tool_use_id: id, content: [found] }
  return [
    {
      start: { ...use, input: {} },
      deltas: jsonDeltas(JSON.stringify(use.input)),
      whole: use,
    },
    { start: result, deltas: [], whole: result },
  ]
}

function textBlocks({ pieces }: Answer, faults: Faults): AnswerBlock[] {
  // Anthropic leaves an empty text block out.
  if (pieces === null || pieces.length === 0) return []
  const citations = faults.citations === undefined ? null : [citation(faults.citations)]
  const cited = citations === null ? {} : { citations }
  return [
    {
      start: { ...(citations === null ? {} : { citations: [] }), type: 'text', text: '' },
      deltas: [
        ...(citations ?? []).map((one) => ({ type: 'citations_delta', citation: one })),
        ...pieces.map((text) => ({ type: 'text_delta', text })),
      ],
      whole: { type: 'text', text: pieces.join(''), ...cited },
    },
  ]
}

function citation(kind: 'web' | 'document'): JsonObject {
  const text = { cited_text: 'This domain is for use in illustrative examples.' }
  if (kind === 'document') {
    const place = { document_index: 0, document_title: null, start_char_index: 0, end_char_index: 48 }
    return { type: 'char_location', ...text, ...place, file_id: null }
  }
  const page = { url: 'https://example.com/', title: 'Example Domain', encrypted_index: seal('citation') }
  return { type: 'web_search_result_location', ...text, ...page }
}

function callBlock(call: AnsweredCall, faults: Faults): AnswerBlock {
  const { id, name } = call
  const input = inputOf(call.arguments)
  const whole = { type: 'tool_use', id, name, input }
  if (faults.noToolDeltas === true) return { start: whole, deltas: [], whole }
  return { start: { ...whole, input: {} }, deltas: jsonDeltas(call.arguments), whole }
}

/** A call without arguments has one empty delta and no more, as recorded. */
function jsonDeltas(json: string): JsonObject[] {
  const pieces = json === '{}' ? [] : splitTokens(json)
  return ['', ...pieces].map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
}

/**
 * Arguments of a script that are not valid JSON: a stream carries them unchanged, a whole body cannot carry
 * them.
 */
function inputOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
