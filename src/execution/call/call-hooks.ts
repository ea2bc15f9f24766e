import type { AudioRequirement } from '../../canonical/audio.ts'
import type { Call } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { Adapter, CallAt, Step } from '../../canonical/steps.ts'
import type { MeterReading, ShownCharge } from '../../canonical/upstream.ts'
import type { UpstreamResponse } from '../../transport/exchange.ts'
import type { CallState } from './call-state.ts'
import type { CallEnding } from './charge.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import type { Attempt } from './metadata.ts'
import type { Candidate, Prepared } from './prepared.ts'
import type { CallHold } from './call-hold.ts'
import type { CallerWords } from '../../formats/caller-text.ts'

/** The types on which the hooks of one modality agree. */
export interface Kind {
  call: Call
  /** What the adapter returns for a whole reply; `reader` is what it reads a streamed reply with. */
  answer: unknown
  reader: unknown
  /** An answer that is certain enough to be shown. */
  heard: unknown
  /** What the caller of the path receives. */
  outcome: unknown
}

/** What a candidate is asked for a call, and by which adapter. It is worked out once for each candidate. */
export interface Asking<K extends Kind> {
  readonly candidate: Candidate
  readonly adapter: Adapter<K['call'], unknown, K['answer'], K['reader']>
  readonly at: CallAt<K['call']>
}

/** The next step at a candidate. */
export type StepOf<K extends Kind> = Step<unknown, K['answer'], K['reader']>

/** How the steps of an attempt ended: with an answer, or with an open body that carries the answer. */
export type Reached<K extends Kind> =
  | { type: 'answer'; answer: K['answer'] }
  | { type: 'opened'; response: UpstreamResponse; reader: K['reader'] }

/** An endpoint's answer with the attempt that got it. */
export interface Answered<Heard> {
  attempt: Attempt
  endpoint: Endpoint
  value: Heard
}

/** A call on its way through the one path. */
export interface Begun<K extends Kind> {
  readonly row: CallHooks<K>
  readonly state: CallState
  readonly dependencies: ExecutionDependencies
  call: K['call']
  /** One entry for each candidate that was worked out so far; see `askingAt`. */
  asked: Asking<K>[]
}

/** A call that may be made: its route is known, and its money is set aside. */
export interface Run<K extends Kind> extends Begun<K> {
  readonly prepared: Prepared
  readonly callHold: CallHold
  /** The first step at the first candidate of the route; null when it must be made again. */
  first: StepOf<K> | null
  /** The answer, or the part of one that the caller has been shown; null before there is any. */
  answered: Answered<K['heard']> | null
}

/**
 * What one modality adds to the one path, as a row of hooks. A row is a plain object that is built once at start. The
 * hooks stand about in the order in which the path calls them.
 */
export interface CallHooks<K extends Kind> {
  /** What the call needs that not every endpoint of its model can do. */
  requirements(call: K['call'], state: CallState): readonly AudioRequirement[]
  /** Throws `invalid_request` or `no_matching_endpoint` for a candidate that cannot be asked. */
  ask(candidate: Candidate, begun: Begun<K>): Asking<K>
  /** The first step at a candidate, as a promise where it takes several turns; throws as `ask` does. */
  firstStep(asking: Asking<K>, begun: Begun<K>): StepOf<K> | Promise<StepOf<K>>
  /**
   * The call with the files that the gateway fetches for it once the money is set aside; null, or no hook, when there
   * is nothing to fetch.
   */
  fetch?(run: Run<K>): Promise<K['call']> | null
  /** Reads until the answer is certain enough to be shown. A failure before that lets another endpoint try. */
  hear(reached: Reached<K>, attempt: Attempt, run: Run<K>): K['heard'] | Promise<K['heard']>
  /** What the meter read of the answer so far. */
  reading(answered: Answered<K['heard']>, run: Run<K>): MeterReading
  /** Whether the caller has been shown a part of the answer before the charge is durable. */
  hasShown(heard: K['heard']): boolean
  /** Whether the caller pays for an answer that ended in this way, which is never `completed`. */
  isOwed(heard: K['heard'], ending: CallEnding): boolean
  /** How the answer goes to the caller: whole after the capture, or as a stream that ends after the capture. */
  readonly leaves:
    | {
        type: 'whole'
        outcome(answered: Answered<K['heard']>, charge: ShownCharge, run: Run<K>): K['outcome']
      }
    | { type: 'stream'; open(answering: Promise<Answered<K['heard']>>, run: Run<K>): Promise<K['outcome']> }
  /**
   * What the caller wrote, besides models and parameters, which must not stand in the operator's log; null when it is
   * more than can be compared with a provider's words.
   */
  wordsOf(call: K['call']): CallerWords | null
  /** The failure in the terms of the operation's contract; absent where failures are shown unchanged. */
  failureOf?(error: unknown): unknown
}
