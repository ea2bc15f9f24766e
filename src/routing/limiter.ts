import type { Deployment } from '../canonical/endpoint.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { concurrencyMax, coolDownMaxMs } from '../core/limits/routing.ts'

/** Concurrent calls to one deployment: the initial and the least limit. */
export const concurrencyStart = 16
const concurrencyMin = 1

/** Calls of one priority that may wait for a free place at one deployment. */
export const concurrencyQueueMax = 10_000

/** Live calls wait only for the operator's own limit; batch items get the places that are left. */
export type Priority = 'live' | 'batch'

/** What a call's end tells the limiter about the provider's capacity. */
export type CallOutcome =
  | { type: 'answered'; latencyMs: number }
  /** 429, or 529 and 503 of an overloaded provider, with the wait that it named; null when it named none. */
  | { type: 'refused'; retryAfterMs: number | null }
  /** Any other end: it tells nothing about the provider's capacity. */
  | { type: 'other' }

/** A place for one call. Must be given back exactly once; giving it back again does nothing. */
export interface Permit {
  release(outcome: CallOutcome): void
}

/** The number of concurrent calls per deployment, found by trial: one more a round while all succeed, halved on refusal. */
export interface Limiter {
  /**
   * A place for one call, synchronous when one is free. Rejects with the signal's reason when it aborts, and with
   * `no_healthy_endpoint` when too many calls wait already.
   */
  acquire(deployment: Deployment, priority: Priority, signal?: AbortSignal): Permit | Promise<Permit>
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

interface Waiter {
  start(permit: Permit): void
}

interface Gate {
  deployment: Deployment
  /** The learned limit; its fraction is a part of the next whole place. */
  limit: number
  running: number
  waiting: Record<Priority, Set<Waiter>>
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

export function createLimiter(options: LimiterOptions): Limiter {
  const { clock } = options
  const wakeAfter = options.wakeAfter ?? ((delayMs, wake) => void setTimeout(wake, delayMs).unref())
  const gates = new Map<string, Gate>()

  function gateOf(deployment: Deployment): Gate {
    const known = gates.get(deployment.id)
    if (known) return known
    const gate = newGate(deployment)
    gates.set(deployment.id, gate)
    return gate
  }

  function permitOf(gate: Gate): Permit {
    gate.running += 1
    let isOpen = true
    return {
      release(outcome) {
        if (!isOpen) return
        isOpen = false
        const wasFull = gate.running >= Math.floor(gate.limit) / 2
        gate.running -= 1
        learn(gate, outcome, { wasFull, nowMs: clock.monotonicMs() })
        startWaiting(gate)
        if (outcome.type === 'refused' && !gate.isWakeSet) wakeAfterRest(gate)
      },
    }
  }

  function startWaiting(gate: Gate): void {
    if (gate.waiting.live.size + gate.waiting.batch.size === 0) return
    for (const priority of ['live', 'batch'] as const) {
      for (const waiter of gate.waiting[priority]) {
        if (freePlaces(gate, priority, clock.monotonicMs()) < 1) break
        gate.waiting[priority].delete(waiter)
        waiter.start(permitOf(gate))
      }
    }
  }

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
    acquire(deployment, priority, signal) {
      const gate = gateOf(deployment)
      const queue = gate.waiting[priority]
      if (queue.size === 0 && freePlaces(gate, priority, clock.monotonicMs()) >= 1) return permitOf(gate)
      if (queue.size >= concurrencyQueueMax) return Promise.reject(crowded())
      return wait(queue, signal)
    },
    freeFor(deployment) {
      const gate = gateOf(deployment)
      return Math.max(0, freePlaces(gate, 'batch', clock.monotonicMs()) - gate.waiting.batch.size)
    },
    restMsOf(deployment) {
      return Math.max(0, gateOf(deployment).restUntilMs - clock.monotonicMs())
    },
    states: () => [...gates.values()].map(stateOf),
  }
}

function stateOf({ deployment, limit, running, waiting }: Gate) {
  return {
    deploymentId: deployment.id,
    limit: Math.floor(limit),
    running,
    waiting: waiting.live.size + waiting.batch.size,
  }
}

function newGate(deployment: Deployment): Gate {
  return {
    deployment,
    limit: Math.min(concurrencyStart, deployment.concurrencyMax ?? concurrencyStart),
    running: 0,
    waiting: { live: new Set(), batch: new Set() },
    restUntilMs: Number.NEGATIVE_INFINITY,
    isWakeSet: false,
    decreasedAtMs: Number.NEGATIVE_INFINITY,
    usualLatencyMs: 0,
  }
}

/** Only the operator's limit bounds live calls: the provider's own refusal is more reliable than the learned limit. */
function freePlaces(gate: Gate, priority: Priority, nowMs: number): number {
  const hardMax = gate.deployment.concurrencyMax ?? Number.POSITIVE_INFINITY
  if (priority === 'live') return hardMax - gate.running
  if (gate.restUntilMs > nowMs || gate.waiting.live.size > 0) return 0
  return Math.min(Math.floor(gate.limit), hardMax) - gate.running
}

function learn(
  gate: Gate,
  outcome: CallOutcome,
  { wasFull, nowMs }: { wasFull: boolean; nowMs: number },
): void {
  if (outcome.type === 'refused') {
    if (gate.decreasedAtMs + decreaseEveryMs <= nowMs) {
      gate.limit = Math.max(concurrencyMin, gate.limit / 2)
      gate.decreasedAtMs = nowMs
    }
    const restMs = Math.min(outcome.retryAfterMs ?? decreaseEveryMs, coolDownMaxMs)
    gate.restUntilMs = Math.max(gate.restUntilMs, nowMs + restMs)
    return
  }
  if (outcome.type === 'other') return
  const usual = gate.usualLatencyMs || outcome.latencyMs
  gate.usualLatencyMs = usual + (outcome.latencyMs - usual) * latencyShare
  // A call's success raises the limit only if all places were in use; otherwise it does not show that more would work.
  if (!wasFull || outcome.latencyMs > usual * slowness) return
  gate.limit = Math.min(gate.limit + 1 / gate.limit, gate.deployment.concurrencyMax ?? concurrencyMax)
}

function wait(queue: Set<Waiter>, signal: AbortSignal | undefined): Promise<Permit> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    const leave = () => {
      queue.delete(waiter)
      reject(signal?.reason as Error)
    }
    const waiter: Waiter = {
      start(permit) {
        signal?.removeEventListener('abort', leave)
        resolve(permit)
      },
    }
    queue.add(waiter)
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
