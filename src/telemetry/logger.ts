import pino from 'pino'
import { atMost } from '../core/at-most.ts'
import type { GatewayError } from '../core/errors.ts'
import { outputWaitMs } from '../core/limits/telemetry.ts'
import { toCredits } from '../core/money.ts'
import { quoted, remembered } from '../core/remembered.ts'
import type { Asker, AttemptLine, CallLine, RequestLine } from './call-line.ts'

/** Log bytes gathered before they are written, how long they may wait, and how many may wait for a stuck reader. */
const logGatherBytes = 32_768
const logGatherMs = 200
const logBacklogBytesMax = 4_000_000
/** Characters of one text in a log line; the rest is cut. */
export const logTextMax = 2_000

/** How much is logged: each level includes those before it. */
export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug'

/**
 * Named facts of a line. Texts are redacted, except ids, `model`, which is a model of the catalog, and `said`, which was
 * redacted where the model's names are known; an error is written as the list of its causes.
 */
export type LogFacts = Readonly<Record<string, unknown>>

/** One JSON line per call; never a body, a header or a secret. */
export interface Logger {
  /** A request that has ended. */
  request(line: RequestLine): void
  /** A request that failed on our side or the provider's; with a stack only when it is a defect. */
  failure(error: GatewayError, facts: LogFacts): void
  info(message: string, facts?: LogFacts): void
  warn(message: string, facts?: LogFacts): void
  /** Writes what is buffered. Waits `outputWaitMs` for a reader that is stuck; after that the rest is lost. Never rejects. */
  flush(): Promise<void>
}

/** A logger to stdout, or to `destination`; buffered, so that a line costs no system call of its own. */
export function createLogger(options: {
  level: LogLevel
  destination?: { write: (line: string) => void }
}): Logger {
  const gathered = options.destination ? null : standardOutput()
  const output = options.destination ?? gathered ?? process.stdout
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  )
  // A quiet gateway writes too, a moment later.
  const timer = gathered ? setInterval(() => gathered.flush(), logGatherMs) : null
  timer?.unref()
  const showsRequests = logger.isLevelEnabled('info')
  return {
    request(line) {
      if (showsRequests) output.write(toRequestLine(line))
    },
    failure(error, facts) {
      const fields = { ...toFields(facts), error_type: error.type, cause: causesOf(error.cause) }
      if (error.type === 'internal')
        logger.error({ ...fields, stack: stackOf(error) }, redactForLog(error.message))
      else logger.warn(fields, redactForLog(error.message))
    },
    info: (message, facts) => logger.info(toFields(facts), redactForLog(message)),
    warn: (message, facts) => logger.warn(toFields(facts), redactForLog(message)),
    flush: () => gathered?.drain() ?? Promise.resolve(),
  }
}

/** Gathers lines, and passes them on in one piece: when there is enough of them, or when told to. */
interface GatheredOutput {
  write(line: string): void
  flush(): void
  /** Resolves when everything was written, or when the reader takes too long. */
  drain(): Promise<void>
}

/**
 * Lines gather here and not in the stream, which measures and copies each line it is given. Lines that a stuck reader
 * does not take are dropped, and a reader that is gone loses them: calls go on.
 */
function standardOutput(): GatheredOutput {
  const stream = pino.destination({ fd: 1, sync: false, maxLength: logBacklogBytesMax })
  let isWriting = false
  /** The stream could not write its lines: the disk is full, or the reader has gone. */
  let isFailing = false
  let onSettled: (() => void) | null = null
  const settle = (hasFailed: boolean) => {
    isWriting = false
    isFailing = hasFailed
    onSettled?.()
  }
  stream.on('drain', () => settle(false))
  stream.on('error', () => settle(true))
  let lines = ''
  const hand = () => {
    if (lines === '') return
    isWriting = true
    stream.write(lines)
    lines = ''
  }
  return {
    write(line) {
      lines += line
      if (lines.length >= logGatherBytes) hand()
    },
    flush: hand,
    async drain() {
      hand()
      if (isWriting) {
        const settled = Promise.withResolvers<void>()
        onSettled = settled.resolve
        await atMost(outputWaitMs, settled.promise)
      }
      // Otherwise the process would try to write the rest again and again when it exits.
      if (isWriting || isFailing) stream.destroy()
    },
  }
}

/**
 * The line of every request, written without the library and member by member: it is the one line that a busy gateway writes
 * all the time.
 */
function toRequestLine({ requestId, route, status, durationMs, asker, facts }: RequestLine): string {
  const head = `{"level":"info","time":"${timeOf(Date.now())}","request_id":"${requestId}"${routeMember(route)}${status}`
  const own = `,"duration_ms":${rounded(durationMs)}${askerMembers(asker)}`
  const error = facts.errorType === null ? '' : `,"error_type":${quoted(facts.errorType)}`
  return `${head}${own}${error}${facts.operation === null ? '' : callMembers(facts)},"msg":"request"}\n`
}

const routeMember = remembered((route) => `,"route":${JSON.stringify(route)},"status":`)

/** What is known of a call, each member with a comma before it. */
function callMembers(facts: CallLine): string {
  const { generationId, operation, model, provider, tried, firstByteMs, costNanocredits } = facts
  let text = generationId === null ? '' : `,"generation_id":"${generationId}"`
  if (operation !== null) text += operationMember(operation)
  if (model !== null) text += modelMember(shownModel(model, tried))
  if (provider !== null) text += providerMember(provider)
  text += `,"attempts":${facts.attempts}`
  if (firstByteMs !== null) text += `,"first_byte_ms":${rounded(firstByteMs)}`
  text += `,"input_tokens":${facts.inputTokens},"output_tokens":${facts.outputTokens}`
  if (costNanocredits !== null) text += `,"cost":${toCredits(costNanocredits)}`
  if (facts.isEstimated) text += ',"estimated":true'
  if (facts.uncoveredNanocredits > 0n) text += `,"uncovered_credits":${toCredits(facts.uncoveredNanocredits)}`
  if (facts.isCancelled) text += ',"cancelled":true'
  const hasFailed = tried.some(isFailed)
  return hasFailed
    ? `${text},"failed_attempts":${JSON.stringify(tried.filter(isFailed).map(attemptFields))}`
    : text
}

const operationMember = remembered((operation) => `,"operation":${JSON.stringify(operation)}`)
const modelMember = remembered((model) => `,"model":${JSON.stringify(model)}`)
const providerMember = remembered((provider) => `,"provider":${JSON.stringify(provider)}`)

function isFailed({ outcome }: AttemptLine): boolean {
  return outcome === 'failed'
}

function askerMembers({ organizationId, keyId, clientAddress }: Asker): string {
  const organization = organizationId === null ? '' : organizationMember(organizationId)
  const key = keyId === null ? '' : keyMember(keyId)
  return clientAddress === '' ? organization + key : `${organization}${key}${addressMember(clientAddress)}`
}

const organizationMember = remembered((id) => `,"organization_id":${JSON.stringify(id)}`)
const keyMember = remembered((id) => `,"key_id":${JSON.stringify(id)}`)
const addressMember = remembered((address) => `,"client_address":${JSON.stringify(address)}`)

/** The second of the last line and its text up to the point; writing a time anew takes as long as the rest of a line. */
let writtenSecond = Number.NaN
let writtenTime = ''

function timeOf(nowMs: number): string {
  const second = Math.floor(nowMs / 1000)
  if (second !== writtenSecond) {
    writtenSecond = second
    writtenTime = new Date(second * 1000).toISOString().slice(0, -4)
  }
  return `${writtenTime}${String(nowMs - second * 1000).padStart(3, '0')}Z`
}

/** The sender of a request, as fields of its log lines. */
export function askerFields({ organizationId, keyId, clientAddress }: Asker): Record<string, string> {
  const fields: Record<string, string> = {}
  if (organizationId !== null) fields['organization_id'] = organizationId
  if (keyId !== null) fields['key_id'] = keyId
  if (clientAddress !== '') fields['client_address'] = clientAddress
  return fields
}

/** Once the requested name is known to be a model of the catalog it is no secret; before that it is the caller's own text. */
function shownModel(model: string, tried: readonly AttemptLine[]): string {
  return tried.some((attempt) => attempt.model === model) ? model : redactForLog(model)
}

function attemptFields({ deployment, model, status, errorType, said }: AttemptLine): Record<string, unknown> {
  return {
    deployment,
    model,
    ...(status === null ? {} : { status }),
    error_type: errorType,
    ...(said === null ? {} : { said }),
  }
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}

function toFields(facts: LogFacts = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, isClear(name, value) ? value : toField(value)]),
  )
}

function isClear(name: string, value: unknown): boolean {
  return name === 'model' || name === 'said' ? typeof value === 'string' : isId(name, value)
}

/** An id of this gateway. It grants no access, but redaction tools would take it for a key. */
function isId(name: string, value: unknown): boolean {
  return name.endsWith('_id') && typeof value === 'string' && /^[a-z]+[-_][a-z0-9-]{1,64}$/.test(value)
}

function toField(value: unknown): unknown {
  if (typeof value === 'string') return redactForLog(value)
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) return causesOf(value)
  if (typeof value === 'object' && value !== null) return redactForLog(Bun.inspect(value, { depth: 2 }))
  return value
}

/** Causes shown of an error; a chain that leads to itself ends there too. */
const causesMax = 5

function causesOf(thrown: unknown): string[] | undefined {
  const causes: string[] = []
  for (let current = thrown; current !== undefined && current !== null && causes.length < causesMax;) {
    causes.push(redactForLog(describe(current)))
    current = current instanceof Error ? current.cause : null
  }
  return causes.length === 0 ? undefined : causes
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const code = 'code' in thrown && typeof thrown.code === 'string' ? ` ${thrown.code}` : ''
  return `${thrown.name}${code}: ${thrown.message}`
}

function stackOf(error: GatewayError): string {
  const source = error.cause instanceof Error ? error.cause : error
  return redactForLog(source.stack ?? '')
}

const secrets = /\b(Bearer\s+|Basic\s+|(?:sk|gsk|pk|rk|key|tok|xai|hf|r8|fw)[-_])[\w.~+/=-]{6,}/gi

const userInfo = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi

const keyedQuery = /([?&](?:key|token|api[-_]?key|signature|secret|password)=)[^&\s]+/gi

/**
 * Free text in a form that a log may have: anything that looks like a credential is removed, and the length is bounded.
 * This is the second line of defence; the first is that log lines consist of named fields.
 */
export function redactForLog(text: string): string {
  const cut = text.length > logTextMax ? `${text.slice(0, logTextMax)}…` : text
  return cut.replace(userInfo, '$1[secret]@').replace(keyedQuery, '$1[secret]').replace(secrets, '$1[secret]')
}
