import { faultSpecCharactersMax, faultWaitMsMax, scriptedTokensMax } from './limits.ts'

/** A wait in milliseconds, drawn evenly between the two bounds; equal bounds for a fixed wait. */
export interface WaitMs {
  min: number
  max: number
}

export const usageModes = [
  'missing',
  'null',
  'zero',
  'negative',
  'absurd',
  'text',
  'always',
  'with_finish',
  'output_only',
  'excludes_reasoning',
  'cache_hits',
  'misspelt',
] as const
export const errorShapes = [
  'openai',
  'anthropic',
  'string',
  'detail',
  'detail_list',
  'flat',
  'reason',
  'message',
  'fault',
  'google',
  'text',
] as const
export const reasoningFields = ['reasoning', 'reasoning_content'] as const
const badKeyShapes = ['xai', 'gemini'] as const
const errorEventForms = ['nested', 'flat', 'failed'] as const
const batchEnds = ['completed', 'expired', 'cancelled'] as const
const citationKinds = ['web', 'document'] as const

export type UsageMode = (typeof usageModes)[number]
export type ErrorShape = (typeof errorShapes)[number]

/** Errors that every API has under a name and a status of its own. */
export type ErrorKind = 'overloaded' | 'context_length' | 'insufficient_quota'

/** An error that is answered instead of the real answer. */
export interface ErrorFault {
  /** The status; null for the API's usual status of this kind of error. */
  status: number | null
  kind?: ErrorKind
  retryAfterSeconds?: number
  retryAfterMs?: number
  type?: string
  code?: string
  param?: string
  message?: string
}

/** The contents of an error within a stream. */
export interface StreamErrorFault {
  type?: string
  code?: string
  param?: string
  message?: string
  /**
   * The form of an error in a Responses stream: members nested as in recordings, flat as in the types, or only a failed
   * response without an error event.
   */
  form?: (typeof errorEventForms)[number]
}

/** The faults of one request, and the changes to its answer. An absent member changes nothing.
 * Counts of chunks are frames in an event stream, pieces as produced in audio, and bytes in any other body.
 */
export interface Faults {
  error?: ErrorFault
  errorShape?: ErrorShape
  badKey?: (typeof badKeyShapes)[number]
  html?: boolean
  octetStream?: boolean
  /** The error is sent with HTTP status 200. */
  hiddenError?: boolean
  latency?: WaitMs
  firstByte?: WaitMs
  chunkDelay?: WaitMs
  hang?: boolean
  reset?: boolean
  stallAfterChunks?: number
  cutAfterChunks?: number
  errorAfterChunks?: number
  /** The contents of the error inside the stream, when it differs from the usual one. */
  streamError?: StreamErrorFault
  /** For a stream, the chunk (from 0) that is broken or cut off; for any other body, the whole. */
  malformedJson?: number
  truncateJson?: number
  emptyBody?: boolean
  wrongContentType?: boolean
  noDone?: boolean
  comments?: boolean
  crlf?: boolean
  splitBytes?: number
  noRateLimits?: boolean
  lenient?: boolean
  rejected?: string[]
  bareModels?: boolean
  outOfOrder?: boolean
  /** Every vector is sent as signed bytes in base64. */
  int8?: boolean
  /** The last chunk of a chat stream has the usage in Groq's own member `x_groq`. */
  xGroq?: boolean
  /** Blank lines before a body of JSON, and before the first chunk of a stream. */
  blankLines?: boolean
  /** Thoughts of chat are parts of the content. */
  thinkingParts?: boolean
  usage?: UsageMode
  cachedTokens?: number
  cacheWriteTokens?: number
  /** The input tokens in the first event of a Messages stream; its last event corrects them. */
  startInputTokens?: number
  reasoningTokens?: number
  tokens?: number
  text?: string
  finish?: string
  refusal?: string
  reasoningField?: (typeof reasoningFields)[number]
  emptyChoicesFirst?: boolean
  interleaveTools?: boolean
  anyModel?: boolean
  /** The name of the sealer that signs the thoughts. */
  sealer?: string
  redactedThinking?: boolean
  citations?: (typeof citationKinds)[number]
  serverTools?: boolean
  noToolDeltas?: boolean
  noThreads?: boolean
  duplicateStart?: boolean
  unknownEvent?: boolean
  /** A Responses answer has its thoughts in plain text, as hosts of open models send them. */
  reasoningText?: boolean
  pings?: number
  /** The reason for which the job that this request creates fails. */
  jobError?: string
  /** The job that this request creates never ends. */
  jobEndless?: boolean
  /** How a batch ends that this request creates, and after how many looks. */
  batchEnd?: (typeof batchEnds)[number]
  batchLooks?: WaitMs
  /** The batch fails as a whole. */
  batchFault?: { code: string; message: string; line: null }
  /** How many lines of the job's output are refused, missing, doubled, without a request of that id, or cut off. */
  batchLinesFailed?: number
  batchLinesLost?: number
  batchLinesDoubled?: number
  batchLinesForeign?: number
  batchLinesMalformed?: number
  /** Lines that are missing when the output is read for the first time. */
  batchLinesLate?: number
  /** Every n-th word is in the text but missing from the list of words. */
  loseWords?: number
  scripted?: boolean
  tone?: boolean
}

/** A specification that does not follow the grammar; the message says which fault and why. */
export class FaultSpecError extends Error {}

type Attributes = ReadonlyMap<string, string>
/** Reads one fault's value into the faults; throws `FaultSpecError` through the readers below. */
type FaultReader = (faults: Faults, value: string, attributes: Attributes) => void

function count(value: string, max = Number.MAX_SAFE_INTEGER): number {
  if (/^\d{1,15}$/.test(value) && Number(value) <= max) return Number(value)
  throw new FaultSpecError(`wants a whole number from 0 to ${max}, got "${value}"`)
}

function waitMs(value: string): WaitMs {
  const [low = '', high = low] = value.split('..')
  const wait = { min: count(low, faultWaitMsMax), max: count(high, faultWaitMsMax) }
  if (wait.min <= wait.max) return wait
  throw new FaultSpecError(`wants milliseconds or a range from low to high, got "${value}"`)
}

function choice<T extends string>(allowed: readonly T[], value: string): T {
  const found = allowed.find((name) => name === value)
  if (found !== undefined) return found
  throw new FaultSpecError(`wants one of ${allowed.join(', ')}, got "${value}"`)
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw new FaultSpecError(`wants percent-encoded text, got "${value}"`)
  }
}

function errorFault(status: string, attributes: Attributes): ErrorFault {
  const fault: ErrorFault = { status: count(status, 599) }
  if (Number(status) < 400) throw new FaultSpecError(`wants a status from 400 to 599, got "${status}"`)
  for (const [name, value] of attributes) {
    if (name === 'retry_after') fault.retryAfterSeconds = count(value)
    else if (name === 'retry_after_ms') fault.retryAfterMs = count(value)
    else if (name === 'type' || name === 'code' || name === 'param' || name === 'message') {
      fault[name] = percentDecoded(value)
    } else throw new FaultSpecError(`has no attribute "${name}"`)
  }
  return fault
}

function streamError(attributes: Attributes): StreamErrorFault {
  const fault: StreamErrorFault = {}
  for (const [name, value] of attributes) {
    if (name === 'form') fault.form = choice(errorEventForms, value)
    else if (name === 'type' || name === 'code' || name === 'param' || name === 'message')
      fault[name] = percentDecoded(value)
    else throw new FaultSpecError(`has no attribute "${name}"`)
  }
  return fault
}

/** The third chunk, so that the first frames of every format have been sent. */
const usualBrokenChunk = 2

const readers: Record<string, FaultReader> = {
  status: (faults, value, attributes) => void (faults.error = errorFault(value, attributes)),
  overloaded: (faults) => void (faults.error = { status: null, kind: 'overloaded' }),
  context_length: (faults) => void (faults.error = { status: null, kind: 'context_length' }),
  insufficient_quota: (faults) => void (faults.error = { status: null, kind: 'insufficient_quota' }),
  fault_body: (faults, value) => void (faults.errorShape = choice(errorShapes, value)),
  bad_key_400: (faults, value) => void (faults.badKey = choice(badKeyShapes, value || 'xai')),
  html_error: (faults) => void (faults.html = true),
  octet_stream_error: (faults) => void (faults.octetStream = true),
  hidden_error: (faults) => void (faults.hiddenError = true),
  latency: (faults, value) => void (faults.latency = waitMs(value)),
  first_byte: (faults, value) => void (faults.firstByte = waitMs(value)),
  chunk_delay: (faults, value) => void (faults.chunkDelay = waitMs(value)),
  hang: (faults) => void (faults.hang = true),
  reset: (faults) => void (faults.reset = true),
  stall: (faults) => void (faults.stallAfterChunks = 0),
  stall_after: (faults, value) => void (faults.stallAfterChunks = count(value)),
  cut_after: (faults, value) => void (faults.cutAfterChunks = count(value)),
  error_chunk: (faults, value, attributes) => {
    faults.errorAfterChunks = value === '' ? 1 : count(value)
    faults.streamError = streamError(attributes)
  },
  malformed_json: (faults, value) =>
    void (faults.malformedJson = value === '' ? usualBrokenChunk : count(value)),
  truncate_json: (faults, value) =>
    void (faults.truncateJson = value === '' ? usualBrokenChunk : count(value)),
  empty_body: (faults) => void (faults.emptyBody = true),
  wrong_content_type: (faults) => void (faults.wrongContentType = true),
  no_done: (faults) => void (faults.noDone = true),
  comments: (faults) => void (faults.comments = true),
  crlf: (faults) => void (faults.crlf = true),
  split: (faults, value) => void (faults.splitBytes = Math.max(1, count(value))),
  no_rate_limits: (faults) => void (faults.noRateLimits = true),
  lenient: (faults) => void (faults.lenient = true),
  reject: (faults, value) => void (faults.rejected = [...(faults.rejected ?? []), percentDecoded(value)]),
  bare_models: (faults) => void (faults.bareModels = true),
  out_of_order: (faults) => void (faults.outOfOrder = true),
  int8: (faults) => void (faults.int8 = true),
  x_groq: (faults) => void (faults.xGroq = true),
  blank_lines: (faults) => void (faults.blankLines = true),
  thinking_parts: (faults) => void (faults.thinkingParts = true),
  usage: (faults, value) => void (faults.usage = choice(usageModes, value)),
  cached_tokens: (faults, value) => void (faults.cachedTokens = count(value)),
  cache_write_tokens: (faults, value) => void (faults.cacheWriteTokens = count(value)),
  start_input_tokens: (faults, value) => void (faults.startInputTokens = count(value)),
  reasoning_tokens: (faults, value) => void (faults.reasoningTokens = count(value)),
  tokens: (faults, value) => void (faults.tokens = count(value, scriptedTokensMax)),
  text: (faults, value) => void (faults.text = percentDecoded(value)),
  finish: (faults, value) => void (faults.finish = value),
  refusal: (faults, value) => void (faults.refusal = percentDecoded(value)),
  reasoning: (faults, value) => void (faults.reasoningField = choice(reasoningFields, value || 'reasoning')),
  empty_choices_first: (faults) => void (faults.emptyChoicesFirst = true),
  interleave_tools: (faults) => void (faults.interleaveTools = true),
  any_model: (faults) => void (faults.anyModel = true),
  sealer: (faults, value) => void (faults.sealer = value),
  redacted_thinking: (faults) => void (faults.redactedThinking = true),
  citations: (faults, value) => void (faults.citations = choice(citationKinds, value || 'web')),
  server_tools: (faults) => void (faults.serverTools = true),
  no_tool_deltas: (faults) => void (faults.noToolDeltas = true),
  no_threads: (faults) => void (faults.noThreads = true),
  duplicate_start: (faults) => void (faults.duplicateStart = true),
  reasoning_text: (faults) => void (faults.reasoningText = true),
  unknown_event: (faults) => void (faults.unknownEvent = true),
  pings: (faults, value) => void (faults.pings = count(value, 10_000)),
  job_error: (faults, value) => void (faults.jobError = percentDecoded(value) || 'The job has failed.'),
  job_endless: (faults) => void (faults.jobEndless = true),
  batch_end: (faults, value) => void (faults.batchEnd = choice(batchEnds, value)),
  batch_looks: (faults, value) => void (faults.batchLooks = waitMs(value)),
  batch_failed: (faults, value) =>
    void (faults.batchFault = {
      code: value || 'invalid_request',
      message: 'The batch could not be validated.',
      line: null,
    }),
  batch_lines_failed: (faults, value) => void (faults.batchLinesFailed = count(value || '1')),
  batch_lines_lost: (faults, value) => void (faults.batchLinesLost = count(value || '1')),
  batch_lines_doubled: (faults, value) => void (faults.batchLinesDoubled = count(value || '1')),
  batch_lines_foreign: (faults, value) => void (faults.batchLinesForeign = count(value || '1')),
  batch_lines_malformed: (faults, value) => void (faults.batchLinesMalformed = count(value || '1')),
  batch_lines_late: (faults, value) => void (faults.batchLinesLate = count(value || '1')),
  lose_words: (faults, value) => void (faults.loseWords = Math.max(1, count(value || '2'))),
  scripted: (faults) => void (faults.scripted = true),
  tone: (faults) => void (faults.tone = true),
}

/** The names a specification may use, for messages and for the admin endpoint. */
export const faultNames: readonly string[] = Object.keys(readers)

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

/** The names of the faults in specifications, without their values; a request with a fault is counted under them. */
export function faultNamesIn(specs: readonly string[]): string | null {
  const names = specs.flatMap((spec) => spec.split(',')).map((part) => (part.split(/[=;]/)[0] ?? '').trim())
  return [...new Set(names)].filter((name) => name !== '').join(',') || null
}

/**
 * Reads `name[=value][;attribute=value]…` specifications, separated by commas. Free text is percent-encoded.
 * Throws `FaultSpecError` naming the fault at fault.
 */
export function parseFaults(spec: string): Faults {
  if (spec.length > faultSpecCharactersMax) {
    throw new FaultSpecError(`A fault specification has at most ${faultSpecCharactersMax} characters.`)
  }
  const faults: Faults = {}
  for (const part of spec.split(',')) {
    const [main = '', ...rest] = part.split(';')
    if (main.trim() === '') continue
    const [name, value] = splitOnce(main)
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (read === undefined)
      throw new FaultSpecError(`Unknown fault "${name}". Known are: ${faultNames.join(', ')}.`)
    try {
      read(faults, value, new Map(rest.map(splitOnce)))
    } catch (error) {
      if (error instanceof FaultSpecError) throw new FaultSpecError(`Fault "${name}" ${error.message}.`)
      throw error
    }
  }
  return faults
}
