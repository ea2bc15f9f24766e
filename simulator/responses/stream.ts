import type { Faults, StreamErrorFault } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'
import { namedFrame, type StreamForm } from '../reply.ts'
import { splitTokens } from '../tokens.ts'
import { callPieces, type OutputItem } from './output-items.ts'

/** Everything that is needed to put an answer on the wire as a stream. */
export interface ResponsesResult {
  /** The response before it has any output. */
  begun: JsonObject
  /** The response at its end. */
  ended: JsonObject
  items: OutputItem[]
  includeObfuscation: boolean
  faults: Faults
  key: string
}

/** An event before its sequence number is set. */
type Event = [type: string, data: JsonObject]

/** The frames of a streamed answer: the items one after another, each announced, grown and closed, numbered from 0. */
export function* responseFrames(result: ResponsesResult): Generator<string> {
  let number = 0
  for (const [type, data] of events(result))
    yield namedFrame(type, { type, sequence_number: number++, ...data })
}

function* events({
  begun,
  ended,
  items,
  includeObfuscation,
  faults,
  key,
}: ResponsesResult): Generator<Event> {
  yield ['response.created', { response: begun }]
  yield ['response.in_progress', { response: begun }]
  for (let count = 0; count < (faults.pings ?? 0); count++) yield ['keepalive', {}]
  if (faults.unknownEvent === true) yield ['response.model_mood.delta', { delta: 'curious' }]
  const padding = lettersOf(key, 16)
  let written = 0
  for (const [at, item] of items.entries()) {
    for (const [type, data] of itemEvents(item, at)) {
      const isPadded = includeObfuscation && typeof data['delta'] === 'string'
      // OpenAI pads deltas, so that their length does not reveal the token to an eavesdropper.
      const pad = isPadded ? { obfuscation: padding.slice(0, 2 + (written++ % 9)) } : {}
      yield [type, { ...data, ...pad }]
    }
  }
  yield [`response.${String(ended['status'])}`, { response: ended }]
}

function* itemEvents(item: OutputItem, outputIndex: number): Generator<Event> {
  const place = { item_id: item.whole['id'], output_index: outputIndex }
  yield ['response.output_item.added', { output_index: outputIndex, item: announced(item) }]
  yield* grown(item, place)
  yield ['response.output_item.done', { output_index: outputIndex, item: item.whole }]
}

/** The item before any of its content. */
function announced({ kind, whole, ...rest }: OutputItem): JsonObject {
  const begun = { ...whole, status: 'in_progress' }
  if (kind === 'reasoning')
    return { ...whole, summary: [], ...(whole['content'] === undefined ? {} : { content: [] }) }
  if (kind !== 'call') return { ...begun, content: [] }
  return 'call' in rest && rest.call.isCustom ? { ...begun, input: '' } : { ...begun, arguments: '' }
}

function grown(item: OutputItem, place: JsonObject): Iterable<Event> {
  if (item.kind === 'reasoning')
    return [...summaryEvents(item.summary, place), ...openThoughtEvents(item.open, place)]
  if (item.kind === 'text') return textEvents(item, place)
  if (item.kind === 'refusal') return refusalEvents(item.refusal, place)
  const name = item.call.isCustom ? 'custom_tool_call_input' : 'function_call_arguments'
  const member = item.call.isCustom ? 'input' : 'arguments'
  return [
    ...callPieces(item.call).map((delta): Event => [`response.${name}.delta`, { ...place, delta }]),
    [`response.${name}.done`, { ...place, [member]: item.call.arguments }],
  ]
}

function* summaryEvents(summary: string | null, place: JsonObject): Generator<Event> {
  if (summary === null) return
  const at = { ...place, summary_index: 0 }
  yield ['response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }]
  for (const delta of splitTokens(summary)) yield ['response.reasoning_summary_text.delta', { ...at, delta }]
  yield ['response.reasoning_summary_text.done', { ...at, text: summary }]
  yield ['response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: summary } }]
}

function* openThoughtEvents(text: string | null, place: JsonObject): Generator<Event> {
  if (text === null) return
  const at = { ...place, content_index: 0 }
  for (const delta of splitTokens(text)) yield ['response.reasoning_text.delta', { ...at, delta }]
  yield ['response.reasoning_text.done', { ...at, text }]
}

function* textEvents(item: OutputItem & { kind: 'text' }, place: JsonObject): Generator<Event> {
  const at = { ...place, content_index: 0 }
  const empty = { type: 'output_text', annotations: [], logprobs: [], text: '' }
  const text = item.pieces.join('')
  yield ['response.content_part.added', { ...at, part: empty }]
  for (const [index, delta] of item.pieces.entries())
    yield ['response.output_text.delta', { ...at, delta, logprobs: item.logprobs.slice(index, index + 1) }]
  for (const [index, annotation] of item.annotations.entries())
    yield ['response.output_text.annotation.added', { ...at, annotation_index: index, annotation }]
  yield ['response.output_text.done', { ...at, text, logprobs: item.logprobs }]
  const { annotations, logprobs } = item
  yield ['response.content_part.done', { ...at, part: { ...empty, annotations, logprobs, text } }]
}

function* refusalEvents(refusal: string, place: JsonObject): Generator<Event> {
  const at = { ...place, content_index: 0 }
  yield ['response.content_part.added', { ...at, part: { type: 'refusal', refusal: '' } }]
  for (const delta of splitTokens(refusal)) yield ['response.refusal.delta', { ...at, delta }]
  yield ['response.refusal.done', { ...at, refusal }]
  yield ['response.content_part.done', { ...at, part: { type: 'refusal', refusal } }]
}

/** How the frames of a Responses stream go wrong. */
export function responseForm(begun: JsonObject): StreamForm {
  return {
    broken:
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":2,"del\n\n',
    isEnd: (sent) => /^event: response\.(completed|incomplete|failed)\n/.test(sent),
    error: (index, fault) => errorFrames(index, fault, begun),
  }
}

/** An error event, nested as in recordings or flat as in the documentation, and the failed response after it. */
function errorFrames(index: number, fault: StreamErrorFault, begun: JsonObject): string[] {
  const message = fault.message ?? 'The server had an error while processing your request.'
  const { code = 'server_error', param = null, type = 'server_error', form = 'nested' } = fault
  const flat = { code, message, param }
  const told = form === 'flat' ? flat : { error: { type, ...flat } }
  const event = namedFrame('error', { type: 'error', sequence_number: index, ...told })
  const failed = namedFrame('response.failed', {
    type: 'response.failed',
    sequence_number: form === 'failed' ? index : index + 1,
    response: { ...begun, status: 'failed', error: { code, message } },
  })
  return form === 'failed' ? [failed] : [event, failed]
}
