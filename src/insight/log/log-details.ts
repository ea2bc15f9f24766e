import type { AttemptLine, CallLine, CallStory } from '../../telemetry/call-line.ts'

/** Attempts and left-out endpoints that a row tells, and characters of a provider's words: a row has about 1 kB at most. */
const attemptsToldMax = 8
const excludedToldMax = 20
const saidLengthMax = 300
const detailsLengthMax = 4_000

/** What a row tells besides its columns. Members are absent where there is nothing to tell. */
export interface LogDetails {
  hold_nanocredits?: string
  attempts?: readonly LoggedAttempt[]
  excluded?: readonly { provider: string; model: string; step: string; reason: string }[]
}

/** One attempt of a logged call; times are whole milliseconds since the call began. */
export interface LoggedAttempt {
  deployment: string
  /** Null where the name of the row's deployment stands for it. */
  provider_name: string | null
  model: string
  outcome: AttemptLine['outcome']
  status: number | null
  error_type: string | null
  said?: string
  started_ms: number
  headers_ms: number | null
  first_token_ms: number | null
  ended_ms: number | null
}

/**
 * The details of nearly every call: one attempt, which answered. Its deployment and model are columns of the row, and the
 * deployment tells its provider's name.
 */
type ShortDetails = readonly [
  holdNanocredits: string,
  status: number | null,
  startedMs: number,
  headersMs: number | null,
  firstTokenMs: number | null,
  endedMs: number | null,
]

/** As rows of before have them: with the provider's name in the second place. */
type NamedShortDetails = readonly [holdNanocredits: string, providerName: string, ...ShortDetails[number][]]

const nothing = '{}'

/**
 * The details as they are stored: a fourth of the bytes for a call that its first endpoint answered, because every call
 * pays for writing them.
 */
export function detailsTextOf({ story, model, tried }: CallLine): string {
  if (story === null) return nothing
  return shortTextOf(story, model, tried.length) ?? wholeTextOf(story)
}

/** What `detailsTextOf` wrote; `row` has the columns. */
export function readDetails(
  text: string,
  row: { readonly deployment: string | null; readonly model: string | null },
): LogDetails {
  const read = JSON.parse(text) as LogDetails | ShortDetails | NamedShortDetails
  if (!isShort(read)) return read
  const [providerName, short] = withoutName(read)
  const [hold, status, startedMs, headersMs, firstTokenMs, endedMs] = short
  const attempt: LoggedAttempt = {
    deployment: row.deployment ?? '',
    provider_name: providerName,
    model: row.model ?? '',
    outcome: 'answered',
    status,
    error_type: null,
    started_ms: startedMs,
    headers_ms: headersMs,
    first_token_ms: firstTokenMs,
    ended_ms: endedMs,
  }
  return { hold_nanocredits: hold, attempts: [attempt] }
}

function isShort(
  read: LogDetails | ShortDetails | NamedShortDetails,
): read is ShortDetails | NamedShortDetails {
  return Array.isArray(read)
}

function withoutName(read: ShortDetails | NamedShortDetails): [name: string | null, short: ShortDetails] {
  const [hold, name, ...rest] = read
  return typeof name === 'string'
    ? [name, [hold, ...rest] as unknown as ShortDetails]
    : [null, read as ShortDetails]
}

/** Null for a call that has more to tell. */
function shortTextOf(
  { prepared, attempts, excluded }: CallStory,
  model: string | null,
  tried: number,
): string | null {
  const [attempt] = attempts
  if (attempt === undefined || attempts.length > 1 || tried !== 1 || excluded.length > 0 || prepared === null)
    return null
  const { line } = attempt
  if (line.outcome !== 'answered' || line.errorType !== null || line.said !== null || line.model !== model)
    return null
  const { startedMs, headersMs, firstTokenMs, endedMs } = attempt
  const times = `${Math.round(startedMs)},${wholeOrNull(headersMs)},${wholeOrNull(firstTokenMs)},${wholeOrNull(endedMs)}`
  return `["${prepared.hold.amountNanocredits}",${line.status ?? attempt.status},${times}]`
}

function wholeTextOf({ prepared, attempts, excluded }: CallStory): string {
  const details: LogDetails = {
    ...(prepared === null ? {} : { hold_nanocredits: prepared.hold.amountNanocredits.toString() }),
    ...(attempts.length === 0 ? {} : { attempts: attempts.slice(-attemptsToldMax).map(toldAttempt) }),
    ...(excluded.length === 0 ? {} : { excluded: excluded.slice(0, excludedToldMax).map(toldExclusion) }),
  }
  const text = JSON.stringify(details)
  if (text.length <= detailsLengthMax) return text
  const { excluded: _, ...shorter } = details
  return JSON.stringify(shorter)
}

function toldAttempt({ endpoint, line, status, ...times }: CallStory['attempts'][number]): LoggedAttempt {
  return {
    deployment: line.deployment,
    provider_name: endpoint.deployment.providerName,
    model: line.model,
    outcome: line.outcome,
    status: line.status ?? status,
    error_type: line.errorType,
    ...(line.said === null ? {} : { said: line.said.slice(0, saidLengthMax) }),
    started_ms: Math.round(times.startedMs),
    headers_ms: wholeOrNull(times.headersMs),
    first_token_ms: wholeOrNull(times.firstTokenMs),
    ended_ms: wholeOrNull(times.endedMs),
  }
}

function toldExclusion({ provider, model, step, reason }: CallStory['excluded'][number]) {
  return { provider, model, step, reason }
}

/** A time as a row has it. */
export function wholeOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds)
}
