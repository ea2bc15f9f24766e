import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { fractionOf, lettersOf } from '../random.ts'
import type { BatchFault, BatchOutput, BatchTokens } from './kept-batches.ts'

/** Runs the request of one line as the live operation does. Never throws: a refusal is a status and its body. */
export type RunLine = (
  path: string,
  body: JsonObject,
  key: string,
) => Promise<{ status: number; body: string }>

/** One request of an input file. */
export interface InputLine {
  customId: string
  url: string
  body: JsonObject
  /** What the service has against it; then the batch fails. */
  fault?: string
}

/** How much a service takes in one batch. */
export interface LineBounds {
  lines: number
  /** Inputs to embed. */
  texts?: number
}

/** Reads one line of an input file; null for one that is none. */
export type ParseLine = (text: string) => InputLine | null

/** The lines of an input file, and what is wrong with them; such a batch fails. */
export function readInput(
  content: Buffer,
  endpoint: string,
  { parse, bounds }: { parse: ParseLine; bounds: LineBounds },
): { lines: InputLine[]; faults: BatchFault[]; model: string | null } {
  const lines: InputLine[] = []
  const faults: BatchFault[] = []
  const seen = new Set<string>()
  let model: string | null = null
  const fault = (code: string, message: string, line: number | null) => faults.push({ code, message, line })
  const texts = content.toString('utf8').split('\n')
  for (const [index, text] of texts.entries()) {
    if (text.trim() === '') continue
    const number = index + 1
    const line = parse(text)
    if (line === null) {
      fault('invalid_json_line', 'This line is not parseable as valid JSON.', number)
      continue
    }
    if (line.url !== endpoint)
      fault('mismatched_url', `The URL provided for this line does not match '${endpoint}'.`, number)
    if (seen.has(line.customId))
      fault('duplicate_custom_id', `The custom_id '${line.customId}' was used before.`, number)
    const named = String(line.body['model'])
    model ??= named
    if (named !== model) fault('model_mismatch', 'All requests of a batch must name one model.', number)
    if (line.body['stream'] === true)
      fault('invalid_request', 'Streaming is not supported in the Batch API.', number)
    if (line.fault !== undefined) fault('invalid_request', line.fault, number)
    seen.add(line.customId)
    lines.push(line)
  }
  if (lines.length === 0 && faults.length === 0) fault('empty_file', 'The input file is empty.', null)
  const { lines: linesMax, texts: textsMax = Number.POSITIVE_INFINITY } = bounds
  if (lines.length > linesMax) fault('too_many_tasks', `A batch has at most ${linesMax} requests.`, null)
  const inputs = lines.reduce(
    (sum, { body: { input } }) => sum + (Array.isArray(input) ? input.length : 1),
    0,
  )
  if (endpoint.endsWith('/embeddings') && inputs > textsMax)
    fault('too_many_tasks', `A batch has at most ${textsMax} inputs to embed.`, null)
  return { lines, faults, model }
}

/** Why a line is not run. */
type NotRun = 'batch_expired' | 'batch_cancelled'

/** How a service writes the lines of its results. */
export interface LineWriter {
  answered(line: InputLine, status: number, body: string, key: string): string
  /** A line that is refused by a fault. */
  refused(line: InputLine, key: string): string
  notRun(line: InputLine, reason: NotRun, key: string): string
}

interface Running {
  /** The part of the lines that is run, from 0 to 1. */
  share: number
  /** Why the others are not. */
  reason: NotRun | null
  key: string
  faults: Faults
  kept: { noteLine(): void }
  runLine: RunLine
  writer: LineWriter
}

const reasons = {
  batch_expired: 'This request could not be executed before the completion window expired.',
  batch_cancelled: 'This request was not executed because the batch was cancelled.',
}

/** Runs the lines, in an order of its own, and writes both files with the faults that were asked for. */
export async function runLines(lines: readonly InputLine[], running: Running): Promise<BatchOutput> {
  const { share, reason, key, faults, kept, runLine, writer } = running
  const place = (line: InputLine, what: string) => fractionOf(`${what} ${line.customId} ${key}`)
  const shuffled = lines.toSorted((one, other) => place(one, 'order') - place(other, 'order'))
  const runs = Math.ceil(shuffled.length * share)
  const tally = { answers: new Array<string>(), refusals: new Array<string>(), notRun: 0, usage: noTokens() }
  for (const [index, line] of shuffled.entries()) {
    if (index >= runs && reason !== null) {
      tally.notRun += 1
      tally.refusals.push(writer.notRun(line, reason, key))
      continue
    }
    if (index < (faults.batchLinesFailed ?? 0)) {
      tally.refusals.push(writer.refused(line, key))
      continue
    }
    kept.noteLine()
    const { status, body } = await runLine(line.url, line.body, `line ${line.customId} ${key}`)
    if (status < 400) addTokens(tally.usage, JSON.parse(body))
    const written = status < 400 ? tally.answers : tally.refusals
    written.push(writer.answered(line, status, body, key))
  }
  const { answers, refusals, notRun, usage } = tally
  const late = answers.splice(0, faults.batchLinesLate ?? 0)
  return {
    output: fileOf(withFaults(answers, faults, key)),
    errors: fileOf(refusals),
    late: fileOf(late) ?? '',
    readings: 0,
    completed: answers.length + late.length,
    failed: refusals.length,
    notRun,
    usage,
  }
}

function fileOf(lines: readonly string[]): string | null {
  return lines.length === 0 ? null : `${lines.join('\n')}\n`
}

/** Lines of OpenAI's results. */
export const openAiLines: LineWriter = {
  answered(line, status, body, key) {
    const response = {
      status_code: status,
      request_id: lettersOf(`request ${line.customId} ${key}`, 32),
      body: JSON.parse(body) as JsonObject,
    }
    return lineOf(line, key, { response })
  },
  refused: (line, key) => lineOf(line, key, { response: refusedResponse(line, key) }),
  notRun: (line, reason, key) => lineOf(line, key, { error: { code: reason, message: reasons[reason] } }),
}

function refusedResponse({ customId }: InputLine, key: string): JsonObject {
  const message = 'The request of this line is invalid.'
  return {
    status_code: 400,
    request_id: lettersOf(`request ${customId} ${key}`, 32),
    body: { error: { message, type: 'invalid_request_error', param: null, code: null } },
  }
}

function lineOf(
  { customId }: InputLine,
  key: string,
  { response = null, error = null }: { response?: JsonObject | null; error?: JsonObject | null },
): string {
  const id = `batch_req_${Buffer.from(lettersOf(`${customId} ${key}`, 16)).toString('hex')}`
  return JSON.stringify({ id, custom_id: customId, response, error })
}

/** The output file as a provider may spoil it: lines that are lost, that come twice, that nobody sent, or that are no JSON. */
function withFaults(answers: readonly string[], faults: Faults, key: string): string[] {
  const lost = faults.batchLinesLost ?? 0
  const left = answers.slice(lost)
  const doubled = left.slice(0, faults.batchLinesDoubled ?? 0)
  const foreign = left.slice(0, faults.batchLinesForeign ?? 0).map((line, index) => {
    const other = JSON.parse(line) as JsonObject
    const id = ['key', 'batch_request_id'].find((name) => name in other) ?? 'custom_id'
    return JSON.stringify({ ...other, [id]: `foreign-${index}-${lettersOf(`foreign ${index} ${key}`, 6)}` })
  })
  const malformed = left
    .slice(0, faults.batchLinesMalformed ?? 0)
    .map((line) => line.slice(0, Math.max(1, line.length >> 1)))
  // What is malformed stands for its line, the others come beside theirs.
  return [...malformed, ...left.slice(malformed.length), ...doubled, ...foreign]
}

function noTokens(): BatchTokens {
  return { input: 0, cached: 0, output: 0, reasoning: 0 }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function addTokens(sum: BatchTokens, body: unknown): void {
  const usage = isObject(body) && isObject(body['usage']) ? body['usage'] : {}
  const detail = (name: string, member: string): number => {
    const found = usage[name]
    return isObject(found) ? numberOf(found[member]) : 0
  }
  sum.input += numberOf(usage['input_tokens'] ?? usage['prompt_tokens'])
  sum.output += numberOf(usage['output_tokens'] ?? usage['completion_tokens'])
  sum.cached +=
    detail('input_tokens_details', 'cached_tokens') + detail('prompt_tokens_details', 'cached_tokens')
  sum.reasoning +=
    detail('output_tokens_details', 'reasoning_tokens') +
    detail('completion_tokens_details', 'reasoning_tokens')
}
