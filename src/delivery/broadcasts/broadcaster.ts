import { createHash } from 'node:crypto'
import { atMost } from '../../core/at-most.ts'
import type { Clock } from '../../core/clock.ts'
import type { CallbackSender, Posted } from '../../transport/callback-sender.ts'
import { signatureOf } from '../signature.ts'
import type {
  BroadcastRepository,
  DestinationLease,
  DestinationState,
  DueDestination,
  PostOutcome,
  WaitingGeneration,
} from './broadcast-repository.ts'
import type { Destination } from './destination.ts'
import type { Generation } from './generation.ts'
import { toOtlpBody } from './otlp-spans.ts'

/** Generations of one post, and bytes of their stored texts; a post has one generation at least. */
export const broadcastGroupMax = 500
const broadcastGroupBytesMax = 1_000_000
/** How often a process looks for what is due, and how often it drops what is too much or too old. */
const broadcastLookEveryMs = 1_000
const broadcastTrimEveryMs = 10_000
/** How long no other process tells a destination anything: longer than a post takes. */
const broadcastLeaseMs = 60_000
/** Posts under one lease, so that a stop and other processes get their turn. */
const broadcastPostsPerLease = 50
/** Waits between tries, in seconds; the last one repeats. */
const broadcastWaitsSeconds = [1, 5, 30, 120, 600]
/** The longest wait that a receiver may ask for. */
const broadcastRetryAfterMsMax = 3_600_000
/** A generation is told for a day, from its capture or from when an operator asked again. */
const broadcastMsMax = 86_400_000
/** What was given up is kept for this long, so that it can be asked for again. */
const broadcastKeptMs = 7 * broadcastMsMax
/** Generations that may wait for one destination; beyond that the oldest are dropped and counted. */
export const broadcastWaitingMax = 100_000
/** How long a stop waits for posts that run. */
const broadcastStopMs = 5_000
/** Statuses that say something about the body: a smaller post, or the next generation, may be taken. */
const bodyRefusals: ReadonlySet<number> = new Set([400, 413, 422])

/** What a broadcaster needs. */
export interface BroadcasterDependencies {
  destinations: readonly Destination[]
  repository: BroadcastRepository
  sender: Pick<CallbackSender, 'post'>
  clock: Clock
  /** The gateway's version, which OTLP names. */
  version: string
  /** For the log: a destination that begins to refuse, takes posts again, or loses generations. */
  warn(message: string, facts: Readonly<Record<string, unknown>>): void
  /** Rows that may wait; the usual number when absent. */
  waitingMax?: number
}

/**
 * Tells destinations of the operator's what their calls were, in groups, at least once each, in any number of processes.
 * One process at a time tells one destination, so that a slow one is never flooded, and keeps nothing else waiting.
 */
export class Broadcaster {
  readonly #dependencies: BroadcasterDependencies
  readonly #names: readonly string[]
  readonly #running = new Map<string, Promise<void>>()
  #timers: ReturnType<typeof setInterval>[] = []
  #looking: Promise<void> | null = null
  #trimming: Promise<void> | null = null
  #isStopped = false
  #states: readonly DestinationState[] = []

  constructor(dependencies: BroadcasterDependencies) {
    this.#dependencies = dependencies
    this.#names = dependencies.destinations.map(({ name }) => name)
  }

  /** How the destinations fared when this process last looked. Never waits. */
  get states(): readonly DestinationState[] {
    return this.#states
  }

  start(): void {
    if (this.#timers.length > 0 || this.#names.length === 0) return
    this.#timers = [
      setInterval(() => void this.look(), broadcastLookEveryMs),
      setInterval(() => void this.trim(), broadcastTrimEveryMs),
    ]
    for (const timer of this.#timers) timer.unref()
    void this.look()
    void this.trim()
  }

  /** Begins with every destination that is due. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#begin()
      .catch((cause: unknown) => this.#dependencies.warn('broadcasts were not looked for', { cause }))
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  /** Drops what is too much or too old, and learns how the destinations fare. Never rejects. */
  trim(): Promise<void> {
    this.#trimming ??= this.#dropSurplus()
      .catch((cause: unknown) => this.#dependencies.warn('broadcasts were not trimmed', { cause }))
      .finally(() => {
        this.#trimming = null
      })
    return this.#trimming
  }

  /** Resolves when no post runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /** Begins nothing more. A post that does not end in time is repeated by another process. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#isStopped = true
    await this.#looking
    await atMost(broadcastStopMs, Promise.all([this.settled(), this.#trimming]))
  }

  async #begin(): Promise<void> {
    if (this.#isStopped) return
    const free = this.#names.filter((name) => !this.#running.has(name))
    const listed = await this.#dependencies.repository.listDue(free)
    for (const destination of this.#dependencies.destinations) {
      const { name } = destination
      const due = listed.find((each) => each.destination === name)
      if (due === undefined || this.#running.has(name)) continue
      const telling = this.#tell(destination, due)
        .catch((cause: unknown) =>
          this.#dependencies.warn('a broadcast was not noted', { destination: name, cause }),
        )
        .finally(() => this.#running.delete(name))
      this.#running.set(name, telling)
    }
  }

  async #tell(destination: Destination, due: DueDestination): Promise<void> {
    const { repository } = this.#dependencies
    let lease = await repository.claim(due, broadcastLeaseMs)
    for (let posts = 1; lease !== null; posts += 1) {
      const { group, hasMore } = await this.#nextGroup(lease)
      if (group.length === 0) return
      const posted = await this.#post(destination, group)
      const outcome = outcomeOf(group, lease, posted)
      const goesOn = outcome.waitMs === 0 && (hasMore || outcome.problem !== null)
      const isLast = !goesOn || posts >= broadcastPostsPerLease || this.#isStopped
      const isNoted = await repository.record(lease, { ...outcome, leaseMs: isLast ? 0 : broadcastLeaseMs })
      this.#report(lease, { ...outcome, text: posted.text })
      if (isLast || !isNoted) return
      lease = leaseAfter(lease, outcome)
    }
  }

  async #nextGroup({
    destination,
    groupMax,
  }: DestinationLease): Promise<{ group: WaitingGeneration[]; hasMore: boolean }> {
    const limit = groupMax ?? broadcastGroupMax
    const waiting = await this.#dependencies.repository.listWaiting(destination, limit + 1)
    const group: WaitingGeneration[] = []
    let bytes = 0
    for (const generation of waiting.slice(0, limit)) {
      bytes += generation.payload.length
      if (group.length > 0 && bytes > broadcastGroupBytesMax) break
      group.push(generation)
    }
    return { group, hasMore: group.length < waiting.length }
  }

  #post({ kind, url, headers, secret }: Destination, group: readonly WaitingGeneration[]): Promise<Posted> {
    const { sender, clock, version } = this.#dependencies
    if (kind === 'otlp') {
      const generations = group.map(({ payload }) => JSON.parse(payload) as Generation)
      return sender.post(url, toOtlpBody(generations, version), headers)
    }
    const body = toWebhookBody(group, clock.nowMs())
    const key = createHash('sha256')
      .update(group.map(({ generationId }) => generationId).join())
      .digest('hex')
    return sender.post(url, body, {
      ...headers,
      'x-openrouter-idempotency-key': key,
      ...(secret === null ? {} : { 'x-openrouter-signature': signatureOf(body, secret, clock.nowMs()) }),
    })
  }

  #report(
    { destination, failingMs }: DestinationLease,
    { problem, status, failed, text }: Omit<PostOutcome, 'leaseMs'> & { text?: string | undefined },
  ): void {
    const { warn } = this.#dependencies
    if (problem !== null && failingMs === null)
      warn('a destination does not take broadcasts', { destination, status, problem })
    if (problem === null && failingMs !== null)
      warn('a destination takes broadcasts again', { destination, status })
    for (const generationId of failed)
      warn('a generation was refused and given up', { destination, generation_id: generationId, problem })
    const rejected = problem === null ? rejectedSpans(text) : 0
    if (rejected > 0) warn('a destination took spans and rejected some', { destination, rejected })
  }

  async #dropSurplus(): Promise<void> {
    const { repository, waitingMax = broadcastWaitingMax, warn } = this.#dependencies
    for (const name of this.#names) {
      const dropped = await repository.trim(name, { waitingMax, keptMs: broadcastKeptMs })
      if (dropped > 0)
        warn('too many generations wait for a destination; the oldest were dropped', {
          destination: name,
          dropped,
        })
    }
    await repository.trimForgotten(this.#names, broadcastKeptMs)
    const states = await repository.listStates()
    this.#states = states.filter(({ destination }) => this.#names.includes(destination))
  }
}

/** A webhook's body: the generations as they were stored, byte for byte. */
export function toWebhookBody(group: readonly Pick<WaitingGeneration, 'payload'>[], nowMs: number): string {
  const createdAt = new Date(nowMs).toISOString()
  return `{"type":"generations","created_at":"${createdAt}","data":[${group.map(({ payload }) => payload).join()}]}`
}

/** What a post means for its rows and for the posts after it. */
function outcomeOf(
  group: readonly WaitingGeneration[],
  lease: DestinationLease,
  { status, problem, retryAfterMs = 0 }: Posted,
): Omit<PostOutcome, 'leaseMs'> {
  const ids = group.map(({ generationId }) => generationId)
  const noted = { status, problem, sent: [], failed: [], giveUpAfterMs: null, waitMs: 0 }
  if (problem === null) return { ...noted, sent: ids, groupMax: grown(lease.groupMax) }
  const isBodyRefused = status !== null && bodyRefusals.has(status)
  if (isBodyRefused && ids.length > 1) return { ...noted, groupMax: Math.floor(ids.length / 2) }
  const waitMs = Math.max(waitAfter(lease.failingMs ?? 0), Math.min(retryAfterMs, broadcastRetryAfterMsMax))
  // Refused alone, a generation must not keep the others waiting. Where everything is refused, the waits bound the loss.
  if (isBodyRefused) return { ...noted, failed: ids, waitMs, groupMax: lease.groupMax }
  return { ...noted, giveUpAfterMs: broadcastMsMax, waitMs, groupMax: lease.groupMax }
}

function leaseAfter(
  lease: DestinationLease,
  { problem, groupMax }: Pick<PostOutcome, 'problem' | 'groupMax'>,
): DestinationLease {
  return { ...lease, groupMax, failingMs: problem === null ? null : (lease.failingMs ?? 0) }
}

/** Twice as much after each post that was taken, until posts have their usual size again. */
function grown(groupMax: number | null): number | null {
  return groupMax === null || groupMax * 2 >= broadcastGroupMax ? null : groupMax * 2
}

function waitAfter(failingMs: number): number {
  const seconds =
    broadcastWaitsSeconds.find((wait) => wait * 1_000 > failingMs) ?? broadcastWaitsSeconds.at(-1) ?? 0
  return seconds * 1_000
}

/** OTLP's partial success: what was rejected must not be sent again. */
function rejectedSpans(text = ''): number {
  if (!text.includes('partialSuccess')) return 0
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } }
    return Number(partialSuccess?.rejectedSpans ?? 0) || 0
  } catch {
    return 0
  }
}
