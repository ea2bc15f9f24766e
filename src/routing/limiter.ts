import type { Deployment } from '../canonical/endpoint.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { type PlaceClaim, FairQueue } from '../core/fair-queue.ts'
import { concurrencyMax, coolDownMaxMs } from '../core/limits/routing.ts'

/** Concurrent calls to one deployment: the initial and the least limit. */
export const concurrencyStart = 16
const concurrencyMin = 1

/** Live calls, or items of batches, that may wait for a free place at one deployment. */
export const concurrencyQueueMax = 10_000

/**
 * `live`: the call waits only for the operator's own limit. A batch's claim: it gets one of the places that live calls
 * leave, in the order of `FairQueue`.
 */
export type Admission = 'live' | PlaceClaim

/** What a call's end tells the limiter about the provider's capacity. */
export type CallOutcome =
  | { type: 'answered'; latencyMs: number }
  /** 429, or 529 and 503 of an overloaded provider, with the wait that it named; null when it named none. */
  | { type: 'refused'; retryAfterMs: number | null }
  /** Not sent: the quota that the operator set has room again after so long. */
  | { type: 'held'; waitMs: number }
  /** Any other end: it tells nothing about the provider's capacity. */
  | { type: 'other' }

/** A place for one call. Must be given back exactly once; giving it back again does nothing. */
export interface Permit {
  release(outcome: CallOutcome): void
}

/**
 * The number of concurrent calls per deployment, found by trial: doubled in each round until the first refusal or slow
 * answer, then one more a round while all succeed; halved on refusal.
 */
export interface Limiter {
  /**
   * A place for one call, synchronous when one is free. Rejects with the signal's reason when it aborts, and with
   * `no_healthy_endpoint` when too many calls wait already.
   */
  acquire(deployment: Deployment, admission: Admission, signal?: AbortSignal): Permit | Promise<Permit>
  /** Calls that have a place now. */
  readonly runningOf: (deployment: Deployment) => number
  /** Places that a batch could take now without waiting. */
  freeFor(deployment: Deployment): number
  /** How long batch items still rest because the deployment refused calls; 0 when they do not. */
  restMsOf(deployment: Deployment): number
  states(): readonly LimiterState[]
}

/** One deployment's figures, for metrics. */
export interface LimiterState {
  deploymentId: string
  limit: number
  running: number
  waiting: number
}

/** A clock, and a timer that does not keep the process alive; tests pass their own. */
export interface LimiterOptions {
  clock: Clock
  wakeAfter?: (delayMs: number, wake: () => void) => void
}

interface Gate {
  deployment: Deployment
  /** The learned limit; its fraction is a part of the next whole place. */
  limit: number
  /** Nothing has shown yet where the provider's limit is: each answer adds a place, which doubles them in a round. */
  isUnknown: boolean
  running: number
  /** Live calls that wait, in the order in which they came. */
  live: Set<(permit: Permit) => void>
  /** The places of batch items, and those that wait for one. */
  batch: FairQueue
  /** Monotonic time until which batch items rest. */
  restUntilMs: number
  /** A timer is set that serves waiting items when the rest is over. */
  isWakeSet: boolean
  /** Monotonic time of the last halving. A refusal of a call that began before it shows the same congestion. */
  decreasedAtMs: number
  /** A slow average of response times; a time far above it means that calls queue at the provider. */
  usualLatencyMs: number
}

/** When a call takes longer than this many times the usual latency, the limit does not grow. */
const slowness = 3
/** The weight of a new response time in the average. */
const latencyShare = 0.02
/** Refusals within this time after a halving are answers to calls sent before it, and halve nothing. */
const decreaseEveryMs = 1_000

/** A live call has nothing but its place to give back. */
function nothing(): void {}

export function createLimiter(options: LimiterOptions): Limiter {
  const { clock } = options
  const wakeAfter = options.wakeAfter ?? ((delayMs, wake) => void setTimeout(wake, delayMs).unref())
  const gates = new Map<string, Gate>()

  function gateOf(deployment: Deployment): Gate {
    const known = gates.get(deployment.id)
    if (known) return known
    const gate = newGate(deployment, () => clock.nowMs())
    gates.set(deployment.id, gate)
    return gate
  }

  function permitOf(gate: Gate, giveBack: () => void = nothing): Permit {
    gate.running += 1
    let isOpen = true
    return {
      release(outcome) {
        if (!isOpen) return
        isOpen = false
        const wasFull = gate.running >= Math.floor(gate.limit) / 2
        gate.running -= 1
        giveBack()
        learn(gate, outcome, { wasFull, nowMs: clock.monotonicMs() })
        startWaiting(gate)
        if ((outcome.type === 'refused' || outcome.type === 'held') && !gate.isWakeSet) wakeAfterRest(gate)
      },
    }
  }

  const startWaiting = (gate: Gate) => startThoseThatWait(gate, () => clock.monotonicMs(), permitOf)

  /** Sets a timer for the end of the rest; again when it fired a little early, or when a new refusal prolonged the rest. */
  function wakeAfterRest(gate: Gate): void {
    gate.isWakeSet = true
    const restMs = Math.max(1, Math.ceil(gate.restUntilMs - clock.monotonicMs()))
    wakeAfter(restMs, () => {
      gate.isWakeSet = false
      if (gate.restUntilMs > clock.monotonicMs()) wakeAfterRest(gate)
      else startWaiting(gate)
    })
  }

  return {
    acquire(deployment, admission, signal) {
      const gate = gateOf(deployment)
      if (admission === 'live') {
        if (gate.live.size === 0 && freeForLive(gate) >= 1) return permitOf(gate)
        if (gate.live.size >= concurrencyQueueMax) return Promise.reject(crowded())
        return wait(signal, (start) => {
          gate.live.add(start)
          return () => gate.live.delete(start)
        })
      }
      const permit = () => permitOf(gate, gate.batch.take(admission))
      if (gate.batch.waiting === 0 && freeForBatch(gate, clock.monotonicMs()) >= 1) return permit()
      if (gate.batch.waiting >= concurrencyQueueMax) return Promise.reject(crowded())
      return wait(signal, (start) => gate.batch.wait(admission, () => start(permit())))
    },
    runningOf: ({ id }) => gates.get(id)?.running ?? 0,
    freeFor(deployment) {
      const gate = gateOf(deployment)
      return Math.max(0, freeForBatch(gate, clock.monotonicMs()) - gate.batch.waiting)
    },
    restMsOf(deployment) {
      return Math.max(0, gateOf(deployment).restUntilMs - clock.monotonicMs())
    },
    states: () => [...gates.values()].map(stateOf),
  }
}

/** Gives free places to waiting calls, live ones first. */
function startThoseThatWait(gate: Gate, monotonicMs: () => number, permitOf: (gate: Gate) => Permit): void {
  for (const start of gate.live) {
    if (freeForLive(gate) < 1) break
    gate.live.delete(start)
    start(permitOf(gate))
  }
  if (gate.batch.waiting > 0) gate.batch.admit(() => freeForBatch(gate, monotonicMs()) >= 1)
}

function stateOf({ deployment, limit, running, live, batch }: Gate): LimiterState {
  return {
    deploymentId: deployment.id,
    limit: Math.floor(limit),
    running,
    waiting: live.size + batch.waiting,
  }
}

function newGate(deployment: Deployment, nowMs: () => number): Gate {
  return {
    deployment,
    limit: Math.min(concurrencyStart, deployment.concurrencyMax ?? concurrencyStart),
    isUnknown: true,
    running: 0,
    live: new Set(),
    batch: new FairQueue(nowMs),
    restUntilMs: Number.NEGATIVE_INFINITY,
    isWakeSet: false,
    decreasedAtMs: Number.NEGATIVE_INFINITY,
    usualLatencyMs: 0,
  }
}

/** Only the operator's limit bounds live calls: the provider's own refusal is more reliable than the learned limit. */
function freeForLive(gate: Gate): number {
  return (gate.deployment.concurrencyMax ?? Number.POSITIVE_INFINITY) - gate.running
}

function freeForBatch(gate: Gate, nowMs: number): number {
  if (gate.restUntilMs > nowMs || gate.live.size > 0) return 0
  return Math.min(Math.floor(gate.limit) - gate.running, freeForLive(gate))
}

function learn(
  gate: Gate,
  outcome: CallOutcome,
  { wasFull, nowMs }: { wasFull: boolean; nowMs: number },
): void {
  if (outcome.type === 'refused') {
    gate.isUnknown = false
    if (gate.decreasedAtMs + decreaseEveryMs <= nowMs) {
      gate.limit = Math.max(concurrencyMin, gate.limit / 2)
      gate.decreasedAtMs = nowMs
    }
    const restMs = Math.min(outcome.retryAfterMs ?? decreaseEveryMs, coolDownMaxMs)
    gate.restUntilMs = Math.max(gate.restUntilMs, nowMs + restMs)
    return
  }
  if (outcome.type === 'held')
    gate.restUntilMs = Math.max(gate.restUntilMs, nowMs + Math.min(outcome.waitMs, coolDownMaxMs))
  if (outcome.type !== 'answered') return
  const usual = gate.usualLatencyMs || outcome.latencyMs
  gate.usualLatencyMs = usual + (outcome.latencyMs - usual) * latencyShare
  // A call's success raises the limit only if all places were in use; otherwise it does not show that more would work.
  const isSlow = outcome.latencyMs > usual * slowness
  if (isSlow) gate.isUnknown = false
  if (!wasFull || isSlow) return
  const more = gate.isUnknown ? 1 : 1 / gate.limit
  gate.limit = Math.min(gate.limit + more, gate.deployment.concurrencyMax ?? concurrencyMax)
}

/** `enter` joins a queue, is called back with the place, and returns how to leave the queue. */
function wait(
  signal: AbortSignal | undefined,
  enter: (start: (permit: Permit) => void) => () => boolean,
): Promise<Permit> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    const leave = () => {
      stopWaiting()
      reject(signal?.reason as Error)
    }
    const stopWaiting = enter((permit) => {
      signal?.removeEventListener('abort', leave)
      resolve(permit)
    })
    signal?.addEventListener('abort', leave, { once: true })
  })
}

function crowded(): GatewayError {
  return new GatewayError(
    'no_healthy_endpoint',
    'Too many calls wait for this provider. Try again shortly.',
    {
      retryAfterSeconds: 1,
    },
  )
}
