import { toldByChat, toldByMessages, toldByResponses, type Told } from '../recordings/told.ts'
import { listAt, objectAt, objectsOfStream, textAt, type Wire } from '../recordings/wire.ts'
import type { Answer } from '../support/gateway.ts'
import type { UsageRow } from '../support/ledger-view.ts'
import { anthropicTypes, responsesCodes, type ExpectedError, type FaultRow } from './fault-table.ts'
import { prices, providerKey, type FaultCase } from './fault-world.ts'

/** The most output that the requests of the table allow. */
export const outputTokensMax = 50
/** More than the prompt of the table could be in any count. */
const inputTokensMax = 60

/** What came of a case. */
export interface CaseResult {
  one: FaultCase
  answer: Answer
  asked: readonly [number, number]
  rows: readonly UsageRow[]
}

const told = { chat: toldByChat, responses: toldByResponses, messages: toldByMessages } as const

/** What is otherwise than the table has it; empty when nothing is. */
export function judgeCase(result: CaseResult): string[] {
  const { one, answer, asked } = result
  const { row, arrangement } = one
  const problems: string[] = []
  const wanted = arrangement === 'alone' ? row.alone : row.sound
  if (!Bun.deepEquals([...asked], [...(wanted ?? [])]))
    problems.push(`asked ${asked.join(' and ')} times, not ${String(wanted?.join(' and '))}`)
  if (answer.text.includes('127.0.0.1') || answer.text.includes(providerKey))
    problems.push(`tells a host or a key: ${answer.text.slice(0, 300)}`)
  const isError = row.outcome === 'refused' || row.outcome === 'broken' || arrangement === 'alone'
  if (isError && row.error) problems.push(...judgeError(result, row.error))
  else problems.push(...judgeAnswer(result))
  return problems.map(
    (problem) => `${row.name}, ${one.upstream} to ${one.caller}, ${one.kind}, ${arrangement}: ${problem}`,
  )
}

function judgeError({ one, answer, rows }: CaseResult, error: ExpectedError): string[] {
  const isInStream = one.row.outcome === 'broken' || one.row.isAfterKeepAlive === true
  const problems = isInStream ? judgeErrorEvent(one, answer, error) : judgeErrorBody(one, answer, error)
  if (rows.length > 0) problems.push(`was charged: ${JSON.stringify(rows, bigintsAsText)}`)
  return problems
}

function judgeErrorBody({ caller }: FaultCase, answer: Answer, expected: ExpectedError): string[] {
  const problems: string[] = []
  const same = sameInto(problems)
  same('status', answer.status, expected.status)
  same('content type', answer.headers.get('content-type'), 'application/json')
  same('retry-after', answer.headers.get('retry-after') ?? undefined, expected.retryAfter)
  const error = objectAt(answer.json, 'error')
  same('code', error['code'], expected.status)
  same('error_type', error['error_type'], expected.errorType)
  if (textAt(error, 'message') === '') problems.push('has no message')
  if (expected.says !== undefined && !textAt(error, 'message').includes(expected.says))
    problems.push(`does not say "${expected.says}" but "${textAt(error, 'message')}"`)
  same('envelope', answer.json['type'], caller === 'messages' ? 'error' : undefined)
  same('type', error['type'], caller === 'messages' ? anthropicTypes[expected.status] : undefined)
  return problems
}

/** The last event of a stream is the error, in the caller's own format, and nothing says that the answer is whole. */
function judgeErrorEvent({ caller, row }: FaultCase, answer: Answer, expected: ExpectedError): string[] {
  const problems: string[] = []
  const same = sameInto(problems)
  same('status', answer.status, 200)
  same('content type', answer.headers.get('content-type'), 'text/event-stream')
  const objects = objectsOfStream(answer.text)
  const last = objects.at(-1) ?? {}
  if (row.outcome === 'broken' && shownText(caller, objects) === '')
    problems.push('nothing was shown before it broke')
  if (caller === 'chat') {
    const error = objectAt(last, 'error')
    same('code', error['code'], expected.status)
    same('error_type', objectAt(error, 'metadata')['error_type'], expected.errorType)
    same('finish_reason', listAt(last, 'choices')[0]?.['finish_reason'], 'error')
    same('usage', last['usage'], undefined)
  } else if (caller === 'responses') {
    problems.push(...judgeFailedResponse(row, last, expected))
    same(
      'sequence numbers',
      objects.map((object) => object['sequence_number']),
      [...objects.keys()],
    )
    if (answer.text.includes('event: response.completed')) problems.push('says that it is completed')
  } else {
    same('event', last['type'], 'error')
    const error = objectAt(last, 'error')
    same('type', error['type'], anthropicTypes[expected.status])
    same('error_type', error['error_type'], expected.errorType)
    if (answer.text.includes('event: message_stop')) problems.push('says that it is over')
  }
  return problems
}

/** A response that nobody has begun has no object that could fail: its stream has the error alone. */
function judgeFailedResponse({ outcome }: FaultRow, last: Wire, expected: ExpectedError): string[] {
  const problems: string[] = []
  const same = sameInto(problems)
  const code = responsesCodes[expected.errorType] ?? 'server_error'
  if (outcome !== 'broken') {
    same('event', last['type'], 'error')
    same('code', last['code'], code)
    if (textAt(last, 'message') === '') problems.push('has no message')
    return problems
  }
  const response = objectAt(last, 'response')
  same('event', last['type'], 'response.failed')
  same('response.status', response['status'], 'failed')
  same('code', objectAt(response, 'error')['code'], code)
  same('error_type', last['error_type'], expected.errorType)
  return problems
}

function judgeAnswer({ one, answer, rows }: CaseResult): string[] {
  const { row, caller, kind } = one
  if (answer.status !== 200) return [`status ${answer.status}: ${answer.text.slice(0, 300)}`]
  const shown = toldOf(one, answer.text)
  const problems: string[] = []
  const same = sameInto(problems)
  const ends = { chat: 'stop', responses: 'completed', messages: 'end_turn' } as const
  same('end', shown.stop, ends[caller])
  if (row.fault !== 'text=' && shown.text === '') problems.push('shows no text')
  if (kind === 'stream' && caller === 'chat' && !answer.text.endsWith('data: [DONE]\n\n'))
    problems.push('has no [DONE]')
  const [charged] = rows
  if (rows.length !== 1 || !charged) return [...problems, `${rows.length} rows of usage`]
  const place = row.outcome === 'elsewhere' ? 'second' : 'first'
  same('status of its row', charged.status, 'completed')
  same('is estimated', charged.isEstimated, row.outcome === 'estimated')
  const { input, output } = prices[place]
  same(
    'cost',
    charged.costNanocredits,
    BigInt(charged.inputTokens * input + charged.outputTokens * output) * 1_000n,
  )
  same('shown tokens', [shown.usage?.input, shown.usage?.output], [charged.inputTokens, charged.outputTokens])
  if (charged.inputTokens < 1 || charged.inputTokens > inputTokensMax)
    problems.push(`${charged.inputTokens} tokens of input`)
  const outputMin = row.fault === 'text=' ? 0 : 1
  if (charged.outputTokens < outputMin || charged.outputTokens > outputTokensMax)
    problems.push(`${charged.outputTokens} tokens of output`)
  return problems
}

function toldOf({ caller, kind }: FaultCase, text: string): Told {
  return told[caller](kind === 'stream' ? objectsOfStream(text) : [JSON.parse(text) as Wire])
}

/** What a client has shown of a stream that broke. */
function shownText(caller: FaultCase['caller'], objects: readonly Wire[]): string {
  if (caller !== 'responses') return told[caller](objects).text
  return objects
    .filter(({ type }) => type === 'response.output_text.delta')
    .map((object) => textAt(object, 'delta'))
    .join('')
}

function sameInto(problems: string[]): (what: string, found: unknown, wanted: unknown) => void {
  return (what, found, wanted) => {
    if (Bun.deepEquals(found, wanted)) return
    problems.push(
      `${what} is ${JSON.stringify(found, bigintsAsText)}, not ${JSON.stringify(wanted, bigintsAsText)}`,
    )
  }
}

function bigintsAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
