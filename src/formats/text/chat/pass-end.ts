import type { StreamStage } from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'

/**
 * How far the end of a chat stream is. `counted`: the provider has told its usage, and no choice has ended. `finishing`:
 * some choices have ended, others go on. `finished`: all that began have ended. `accounted`: usage came by itself behind
 * that. `given_up`: the terminator came although nothing had been counted or had ended. `terminated`: it came where it
 * may, and every choice that has no end is over. `failed`: the provider reported an error, or broke the format.
 */
export type EndState =
  | { is: 'running' | 'counted' | 'finishing' | 'finished' | 'accounted' | 'given_up' | 'terminated' }
  | { is: 'failed'; error: GatewayError }

type StateName = EndState['is']

/** What is read of a stream and moves its end. `chunk`: anything that is no usage by itself. */
type Signal = 'begin' | 'finish' | 'usage' | 'usage_alone' | 'chunk' | 'terminator'

/** The same, with whether the end was the last that was awaited. */
type Step = Exclude<Signal, 'finish'> | 'finish_one' | 'finish_last'

/** Steps that are not in the table change nothing. */
const steps: Readonly<Record<StateName, Partial<Record<Step, Exclude<StateName, 'failed'>>>>> = {
  running: {
    usage: 'counted',
    finish_one: 'finishing',
    finish_last: 'finished',
    terminator: 'given_up',
  },
  counted: { finish_one: 'finishing', finish_last: 'finished', terminator: 'terminated' },
  finishing: { finish_last: 'finished', terminator: 'terminated' },
  finished: { begin: 'finishing', usage_alone: 'accounted', terminator: 'terminated' },
  accounted: { begin: 'finishing', chunk: 'finished', terminator: 'terminated' },
  // Some hosts send the terminator too early.
  given_up: { usage: 'terminated', finish_one: 'terminated', finish_last: 'terminated' },
  terminated: {},
  failed: {},
}

const stages: Readonly<Partial<Record<StateName, StreamStage>>> = {
  accounted: 'accounted',
  given_up: 'terminated',
  terminated: 'terminated',
  failed: 'failed',
}

const noReason = 'the body ended before a finish reason'

/** Why a body may not end here. A stream that is terminated has ended every choice that began. */
const breaks: Readonly<Partial<Record<StateName, string>>> = {
  running: noReason,
  counted: noReason,
  given_up: noReason,
  finishing: 'the body ended before every choice had a finish reason',
}

/** The end of a chat stream: one state, moved by what is read. */
export class ChatEnd {
  #state: EndState = { is: 'running' }
  /** Choices that began and have not ended. */
  #open = 0
  #finished = 0

  /** How many choices have ended. */
  get finished(): number {
    return this.#finished
  }

  get state(): EndState {
    return this.#state
  }

  get stage(): StreamStage {
    return stages[this.#state.is] ?? 'running'
  }

  get failure(): GatewayError | null {
    return this.#state.is === 'failed' ? this.#state.error : null
  }

  /** Whether every choice that began has ended, and one has. */
  get isWhole(): boolean {
    return this.#finished > 0 && this.#open === 0
  }

  tell(signal: Signal): void {
    const next = steps[this.#state.is][this.#stepOf(signal)]
    if (next !== undefined) this.#state = { is: next }
  }

  /** The first failure stays. */
  fail(error: GatewayError): void {
    if (this.#state.is !== 'failed') this.#state = { is: 'failed', error }
  }

  /** Why the stream is broken when its body ends now, for the log; null when it is whole. */
  whyBroken(): string | null {
    if (this.#state.is === 'terminated' && this.#finished === 0) return noReason
    return breaks[this.#state.is] ?? null
  }

  #stepOf(signal: Signal): Step {
    if (signal === 'begin') this.#open += 1
    if (signal !== 'finish') return signal
    this.#open -= 1
    this.#finished += 1
    return this.#open === 0 ? 'finish_last' : 'finish_one'
  }
}
