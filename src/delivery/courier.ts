import { atMost } from '../core/at-most.ts'
import type { Clock } from '../core/clock.ts'
import type { CallbackSender } from '../transport/callback-sender.ts'
import type { DeliveryRepository, TryOutcome } from './delivery-repository.ts'
import type { Delivery, Message } from './delivery.ts'
import { signatureOf } from './signature.ts'
import type { SigningSecrets } from './signing-secrets.ts'

/**
 * Deliveries of one process at once, and of one organization in all processes. A receiver that does not answer keeps one
 * for 15 s.
 */
const deliveriesAtOnce = 16
const deliveriesPerOrganization = 4
/** How often a process looks for events that are due. */
const deliveryLookEveryMs = 1_000
/** How long no other process tells an event that a process is telling: longer than a try takes. */
const deliveryLeaseMs = 60_000
/** Waits between tries, in seconds; the last one repeats until the day is over. */
const deliveryWaitsSeconds = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400]
/** An event is told for a day, from when it happened or was asked for again. */
const deliveryMsMax = 86_400_000
/** How long a stop waits for tries that run. */
const deliveryStopMs = 5_000

/** What a courier needs. */
export interface CourierDependencies {
  repository: DeliveryRepository
  secrets: Pick<SigningSecrets, 'use'>
  sender: Pick<CallbackSender, 'post'>
  clock: Clock
  /** What is to be sent; null when the batch is gone. */
  messageOf(delivery: Delivery): Promise<Message | null>
  /** For the log: an event that was given up, and a look that failed. */
  warn(message: string, facts: Readonly<Record<string, unknown>>): void
}

/**
 * Tells events to the addresses that callers named, at least once each, in any number of processes. It looks at the
 * table, so that a signal, a timer and a restart are the same thing, and runs beside the engine: a receiver that is slow
 * keeps a place here and nothing else.
 */
export class Courier {
  readonly #dependencies: CourierDependencies
  readonly #running = new Set<Promise<void>>()
  #timer: ReturnType<typeof setInterval> | null = null
  #looking: Promise<void> | null = null
  #isStopped = false

  constructor(dependencies: CourierDependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), deliveryLookEveryMs)
    this.#timer.unref()
    void this.look()
  }

  /** Begins what is due and has a place. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#begin()
      .catch((cause: unknown) => this.#dependencies.warn('events were not looked for', { cause }))
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  /** Resolves when no try runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  /** Begins nothing more. A try that does not end in time is repeated by another process. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    this.#isStopped = true
    await this.#looking
    await atMost(deliveryStopMs, this.settled())
  }

  async #begin(): Promise<void> {
    const limit = deliveriesAtOnce - this.#running.size
    if (limit <= 0 || this.#isStopped) return
    const claimed = await this.#dependencies.repository.claim({
      limit,
      perOrganization: deliveriesPerOrganization,
      leaseMs: deliveryLeaseMs,
    })
    for (const delivery of claimed) {
      const telling = this.#tell(delivery).finally(() => this.#running.delete(telling))
      this.#running.add(telling)
    }
  }

  async #tell(delivery: Delivery): Promise<void> {
    const { repository, clock, warn } = this.#dependencies
    const startedMs = clock.monotonicMs()
    try {
      const { status, problem, isFinal } = await this.#send(delivery)
      const waitMs = waitAfter(delivery)
      const isOver = isFinal || delivery.dueAtMs + waitMs - delivery.sinceMs > deliveryMsMax
      const unless = isOver ? 'failed' : 'waiting'
      const state = problem === null ? 'delivered' : unless
      const durationMs = Math.round(clock.monotonicMs() - startedMs)
      const outcome: TryOutcome = { durationMs, status, problem, state, waitMs }
      await repository.record(delivery, outcome)
      if (state === 'failed') warn('an event was given up', factsOf(delivery, problem))
    } catch (cause) {
      // The lease ends, and the event is told again.
      warn('an event was told and could not be noted', { ...factsOf(delivery, null), cause })
    }
  }

  async #send(
    delivery: Delivery,
  ): Promise<{ status: number | null; problem: string | null; isFinal: boolean }> {
    const { messageOf, secrets, sender, clock } = this.#dependencies
    const message = await messageOf(delivery)
    if (message === null) return { status: null, problem: 'the batch is gone', isFinal: true }
    let secret: string
    try {
      secret = await secrets.use(delivery.organizationId)
    } catch (error) {
      return { status: null, problem: error instanceof Error ? error.message : 'no secret', isFinal: false }
    }
    const headers = {
      'x-openrouter-signature': signatureOf(message.body, secret, clock.nowMs()),
      'x-openrouter-idempotency-key': delivery.id,
    }
    return { ...(await sender.post(message.url, message.body, headers)), isFinal: false }
  }
}

/** The first wait that is longer than the time since the tries began, so that they begin short when asked for again. */
function waitAfter({ sinceMs, dueAtMs }: Delivery): number {
  const passedSeconds = (dueAtMs - sinceMs) / 1000
  const seconds =
    deliveryWaitsSeconds.find((wait) => wait > passedSeconds) ?? deliveryWaitsSeconds.at(-1) ?? 0
  return seconds * 1000
}

function factsOf({ organizationId, batchId, event, tries }: Delivery, problem: string | null) {
  return { organization_id: organizationId, batch_id: batchId, event, tries: tries + 1, problem }
}
