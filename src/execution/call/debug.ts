import { joinPieces, lengthOfPieces } from '../../core/body.ts'
import { assert } from '../../core/assert.ts'
import type { BodyPieces } from '../../core/body.ts'
import type { Call } from '../../canonical/call.ts'
import type { AnswerContext, ShownDebug, StageMark } from '../../canonical/upstream.ts'
import { echoName } from '../../formats/debug-options.ts'
import type { Attempt } from './metadata.ts'

/** The largest request body that a caller may ask to see: parsing a larger one would stall all other calls. */
const debugBodyBytesMax = 524_288

/** The call whose caller may have asked to see the exchange; `elapsedMs` counts from `createdAtMs`. */
interface DebuggedCall {
  readonly call: Call
  readonly createdAtMs: number
  readonly attempts: readonly Attempt[]
  /** Notes a member of the call that is not carried out, whichever provider answers. */
  noteDropped(name: string): void
  elapsedMs(): number
  contextOf(candidate: Attempt['candidate']): AnswerContext
}

/**
 * Keeps the body that the provider is sent, for a caller who asked to see it. When the body is too large, the member
 * that asks for it is listed as dropped.
 */
export function keepSentBody(state: DebuggedCall, attempt: Attempt, body: BodyPieces): void {
  if (!isDebugged(state.call)) return
  if (lengthOfPieces(body) <= debugBodyBytesMax) attempt.sentBody = body
  else state.noteDropped(echoName)
}

/** What the beginning of a streamed answer shows of the exchange: that of the attempt that runs when it is called. */
export function beginDebugOf(state: DebuggedCall): NonNullable<AnswerContext['debug']> | null {
  const { call } = state
  return isDebugged(call) && isStreamed(call) ? beginningOf(state) : null
}

const marks = ['adapter_request', 'upstream_headers_received', 'first_token_received'] as const

function beginningOf(state: DebuggedCall): NonNullable<AnswerContext['debug']> {
  return () => {
    const attempt = state.attempts.at(-1)
    assert(attempt, 'what is answered was attempted')
    const echo = echoOf(attempt, state.contextOf(attempt.candidate))
    return marks.map((event, index) => ({
      ...(index === 0 ? echo : {}),
      stage: stageOf(state, attempt, event),
    }))
  }
}

const notDebugged = {}

/** What the end of an answer shows of the exchange: the body too, unless the beginning of a stream showed it. */
export function endDebugOf(state: DebuggedCall, attempt: Attempt): { debug?: ShownDebug } {
  const { call } = state
  if (!isDebugged(call)) return notDebugged
  const echo = isStreamed(call) ? {} : echoOf(attempt, state.contextOf(attempt.candidate))
  return { debug: { ...echo, stage: stageOf(state, attempt, 'upstream_body_ended') } }
}

function isStreamed(call: Call): boolean {
  return call.kind === 'text' && call.stream
}

function isDebugged(call: Call): boolean {
  return call.kind === 'text' && call.debug === true
}

/**
 * The deployment's secrets travel in headers and the address, not in the body. A caller who knows a secret and writes
 * it into the body is not shown it either.
 */
function echoOf({ sentBody }: Attempt, { hideSecrets }: AnswerContext): Pick<ShownDebug, 'sentBody'> {
  if (sentBody === undefined) return {}
  const text = Buffer.from(joinPieces(sentBody)).toString('utf8')
  const isClean = hideSecrets(text) === text
  const body: unknown = isClean
    ? JSON.parse(text)
    : JSON.parse(text, (_name, value: unknown) => (typeof value === 'string' ? hideSecrets(value) : value))
  return { sentBody: body as Record<string, unknown> }
}

function stageOf(state: DebuggedCall, attempt: Attempt, event: StageMark): ShownDebug['stage'] {
  const startMs = Math.round(timeOf(attempt, event) ?? state.elapsedMs())
  return { event, startMs, epochMs: Math.round(state.createdAtMs) + startMs }
}

function timeOf(attempt: Attempt, event: StageMark): number | null {
  switch (event) {
    case 'adapter_request':
      return attempt.startedMs
    case 'upstream_headers_received':
      return attempt.headersMs
    case 'first_token_received':
      return attempt.firstTokenMs
    case 'upstream_body_ended':
      return attempt.endedMs
  }
}
