import type { CaptureRow } from '../../billing/ledger/capture-row.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { OperationName } from '../../canonical/operation.ts'
import { freePrice, noUsage } from '../../canonical/usage.ts'
import { atMost } from '../../core/at-most.ts'
import { joinPieces } from '../../core/body.ts'
import { newGenerationId, newId } from '../../core/ids.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Outcome, RequestScope } from '../call/scope.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { operations } from '../operations.ts'
import { endpointsOf, routedCallOf } from '../preparing/route-model.ts'
import { fromTemplate, toTemplate } from './answer-template.ts'
import { type CacheBounds, keepWithin } from './cache-bounds.ts'
import type { CachedAnswer, CachedAnswerRepository, FoundAnswer } from './cached-answer-repository.ts'
import { cacheKeyOf } from './cache-key.ts'
import { RecentTexts } from './recent-texts.ts'
import { replayed, watched } from './streams.ts'

/** The largest request and answer that are kept. A request is hashed in one turn of the event loop. */
export const cachedRequestBytesMax = 1_000_000
export const cachedAnswerBytesMax = 4_000_000
/** What all answers may take together, and those of one organization; the oldest go first. */
const cacheBounds: CacheBounds = {
  bytesMax: 1_000_000_000,
  organizationBytesMax: 500_000_000,
  entriesMax: 100_000,
}
/** How often what is too old or too much is removed. */
const cacheTrimEveryMs = 10_000
/** How often blobs are looked for that a crash left without an entry, in pages, and the age from which none has one. */
const cacheOrphansEveryMs = 3_600_000
const cacheOrphansPage = 500
const cacheOrphansPagesMax = 200
const cacheOrphanAgeMs = 90_000_000
/** How long a stop waits for answers that are being kept. */
const cacheStopMs = 5_000
/** Where the answers are in the payload store. */
const answerBlobPrefix = 'answers'
const idTimeLength = 9

/** Whether answers of an operation may be kept: the contract names those that batches run too. */
export function isCachedOperation(name: OperationName): boolean {
  return operations[name].batchEndpoint !== null
}

/** What a caller asks of the cache, for one call. */
export interface CacheWish {
  /** How long the answer may be given again. */
  ttlSeconds: number
  /** Whether an answer that is kept is forgotten first. */
  isCleared: boolean
}

/** An answer, and whether it is one that was kept. */
export interface CacheResult {
  outcome: Outcome
  ttlSeconds: number
  /** Absent for an answer that was made now. */
  hit?: { ageSeconds: number; sourceId: string }
}

/** What the cache needs. */
export interface ResponseCacheDependencies {
  repository: CachedAnswerRepository
  blobs: Pick<BlobStore, 'put' | 'get' | 'delete' | 'list'>
  execution: ExecutionDependencies
  /** The usual bounds when absent. */
  bounds?: CacheBounds
}

/**
 * Gives the answer of an earlier call again when the same key sends the same call, where the caller asks for it. The index
 * is a table, so that every process and the next start know the same answers; the texts are in the payload store, and
 * those in use in memory. Whatever fails here makes the call an ordinary one.
 */
export class ResponseCache {
  readonly #dependencies: ResponseCacheDependencies
  readonly #recent = new RecentTexts()
  /** Answers that are being kept, so that an equal call that follows at once finds them. */
  readonly #keeping = new Map<string, Promise<void>>()
  #timers: ReturnType<typeof setInterval>[] = []
  #trimming: Promise<void> | null = null

  constructor(dependencies: ResponseCacheDependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    if (this.#timers.length > 0) return
    this.#timers = [
      setInterval(() => void this.trim(), cacheTrimEveryMs),
      setInterval(() => void this.removeOrphans(), cacheOrphansEveryMs),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await atMost(cacheStopMs, this.settled())
  }

  /** Resolves when nothing is being kept or removed any more. */
  async settled(): Promise<void> {
    await Promise.all([...this.#keeping.values(), this.#trimming])
  }

  /** Whether the answer of this call may be kept at all. */
  takes(call: TextCall, body: Uint8Array, { principal, callerLogin }: RequestScope): boolean {
    if (!isCachedOperation(call.operation) || body.length > cachedRequestBytesMax) return false
    if (principal.constraints.requireZdr || call.preferences.requireZdr) return false
    return (callerLogin ?? null) === null && call.debug !== true
  }

  /** Answers from the cache, or by `make`, whose answer is then kept. Rejects as `make` does. */
  async answer(
    call: TextCall,
    { body, scope, wish }: { body: Uint8Array; scope: RequestScope; wish: CacheWish },
    make: (scope: RequestScope) => Promise<Outcome>,
  ): Promise<CacheResult> {
    const startedMs = this.#dependencies.execution.clock.monotonicMs()
    const key = cacheKeyOf(call, scope.principal, body)
    await this.#keeping.get(key)
    const found = wish.isCleared ? await this.#forget(key) : await this.#find(key, call, scope)
    if (found !== null) {
      const outcome = await this.#giveAgain(found, call, { scope, startedMs })
      const { ttlSeconds, generationId, ageMs } = found.answer
      return { outcome, ttlSeconds, hit: { ageSeconds: Math.floor(ageMs / 1_000), sourceId: generationId } }
    }
    const captured: { row: CaptureRow | null } = { row: null }
    const outcome = await make({ ...scope, showCapture: (row) => void (captured.row = row) })
    const { ttlSeconds } = wish
    const keep = (bytes: Uint8Array): void => {
      const { row } = captured
      if (row !== null) this.#keep(key, { bytes, row, ttlSeconds, providerName: outcome.provider })
    }
    if (outcome.body instanceof ReadableStream)
      return { outcome: { ...outcome, body: watched(outcome.body, cachedAnswerBytesMax, keep) }, ttlSeconds }
    keep(joinPieces(outcome.body))
    return { outcome, ttlSeconds }
  }

  /** Null, so that the call is made. */
  async #forget(key: string): Promise<null> {
    try {
      await this.#free(await this.#dependencies.repository.drop(key))
    } catch (cause) {
      this.#warn('a cached answer was not forgotten', cause)
    }
    return null
  }

  async #find(
    key: string,
    call: TextCall,
    scope: RequestScope,
  ): Promise<{ answer: FoundAnswer; template: string } | null> {
    try {
      const answer = await this.#dependencies.repository.load(key)
      if (answer === null || !this.#isAllowed(answer, call, scope)) return null
      const { blob } = answer
      const template =
        this.#recent.get(blob) ?? Buffer.from(await this.#dependencies.blobs.get(blob)).toString()
      this.#recent.set(blob, template)
      return { answer, template }
    } catch (cause) {
      this.#warn('a cached answer was not read', cause)
      return null
    }
  }

  /** Rules may have changed since: the endpoint that answered must be one that the call may try now. */
  #isAllowed({ endpointId }: FoundAnswer, call: TextCall, { principal }: RequestScope): boolean {
    const { execution } = this.#dependencies
    const routed = routedCallOf(call, [], { principal, batch: null }, execution.serving())
    const endpoints = endpointsOf(routed, [call.model, ...call.fallbackModels], execution)
    return endpoints.some(({ id }) => id === endpointId)
  }

  /** A generation of its own, with a capture of zero that is durable before the answer leaves. */
  async #giveAgain(
    { answer, template }: { answer: FoundAnswer; template: string },
    call: TextCall,
    { scope, startedMs }: { scope: RequestScope; startedMs: number },
  ): Promise<Outcome> {
    const { clock, billing } = this.#dependencies.execution
    const nowMs = clock.nowMs()
    const generationId = newGenerationId(operations[call.operation].generationPrefix, nowMs)
    const { facts } = scope
    Object.assign(facts, {
      generationId,
      operation: call.operation,
      model: answer.model,
      costNanocredits: 0n,
    })
    const hold = await billing.hold({ budgets: [], amount: 0n })
    const elapsedMs = Math.round(clock.monotonicMs() - startedMs)
    await billing.capture(hold, rowOf(answer, { call, scope, generationId, nowMs, elapsedMs }), 'void')
    facts.firstByteMs = elapsedMs
    const text = fromTemplate(template, { sourceId: answer.generationId, generationId, nowMs })
    const whole = { generationId, provider: answer.providerName, ended: Promise.resolve() }
    if (!call.stream) return { ...whole, contentType: 'application/json', body: [text] }
    return { ...whole, contentType: 'text/event-stream', ...replayed(Buffer.from(text)) }
  }

  #keep(
    key: string,
    made: { bytes: Uint8Array; row: CaptureRow; ttlSeconds: number; providerName: string },
  ): void {
    const { row, bytes } = made
    if (row.status !== 'completed' || row.finishReason === 'error' || bytes.length > cachedAnswerBytesMax)
      return
    const keeping = this.#store(key, made)
      .catch((cause: unknown) => this.#warn('an answer was not cached', cause))
      .finally(() => {
        if (this.#keeping.get(key) === keeping) this.#keeping.delete(key)
      })
    this.#keeping.set(key, keeping)
  }

  async #store(
    key: string,
    {
      bytes,
      row,
      ttlSeconds,
      providerName,
    }: { bytes: Uint8Array; row: CaptureRow; ttlSeconds: number; providerName: string },
  ): Promise<void> {
    const { repository, blobs, execution } = this.#dependencies
    const { generationId, streamed } = row
    const template = await toTemplate(bytes, { generationId, isStreamed: streamed })
    if (template === null) return
    const stored = Buffer.from(template)
    const blob = `${answerBlobPrefix}/${newId('a', execution.clock.nowMs())}`
    await blobs.put(blob, stored)
    const answer: CachedAnswer = {
      key,
      organizationId: row.organizationId,
      blob,
      bytes: stored.length,
      generationId,
      model: row.model,
      provider: row.provider,
      providerName,
      endpointId: row.endpointId,
      finishReason: row.finishReason,
      nativeFinishReason: row.nativeFinishReason,
      ttlSeconds,
    }
    try {
      await this.#free(await repository.keep(answer))
      this.#recent.set(blob, template)
    } catch (thrown) {
      // Another process kept an answer of the same call at the same time, or storage is away; orphans are removed later.
      await this.#free([blob])
      throw thrown
    }
  }

  /** Removes what is too old or too much. Never rejects. */
  trim(): Promise<void> {
    const { repository, bounds = cacheBounds } = this.#dependencies
    this.#trimming ??= keepWithin(bounds, repository, (blobs) => this.#free(blobs))
      .catch((cause: unknown) => this.#warn('cached answers were not removed', cause))
      .finally(() => {
        this.#trimming = null
      })
    return this.#trimming
  }

  /** Removes blobs that a crash left without an entry: no entry lives for so long. Never rejects. */
  async removeOrphans(): Promise<void> {
    const { blobs, execution } = this.#dependencies
    const beforeMs = execution.clock.nowMs() - cacheOrphanAgeMs
    try {
      for (let page = 0; page < cacheOrphansPagesMax; page += 1) {
        const found = await blobs.list(`${answerBlobPrefix}/`, { limit: cacheOrphansPage })
        const old = found.filter((blob) => madeAtMs(blob) < beforeMs)
        await this.#free(old)
        // Keys are in the order of their time, so the others are younger.
        if (old.length < cacheOrphansPage) return
      }
    } catch (cause) {
      this.#warn('blobs without a cached answer were not removed', cause)
    }
  }

  async #free(blobs: readonly string[]): Promise<void> {
    for (const blob of blobs) {
      this.#recent.delete(blob)
      await this.#dependencies.blobs.delete(blob).catch((cause: unknown) => this.#warn('a blob stays', cause))
    }
  }

  #warn(message: string, cause: unknown): void {
    this.#dependencies.execution.warn(message, { cause })
  }
}

function madeAtMs(blob: string): number {
  const [, text = ''] = blob.split('_')
  return Number.parseInt(text.slice(0, idTimeLength), 36)
}

/** The usage row of a hit: nothing was used and nothing is paid, and no provider was asked. */
function rowOf(
  answer: FoundAnswer,
  {
    call,
    scope,
    generationId,
    nowMs,
    elapsedMs,
  }: { call: TextCall; scope: RequestScope; generationId: string; nowMs: number; elapsedMs: number },
): CaptureRow {
  const { principal, requestId, attribution } = scope
  return {
    generationId,
    organizationId: principal.organizationId,
    workspaceId: principal.workspaceId,
    memberId: principal.memberId,
    keyId: principal.keyId,
    credentialId: 'cache',
    batchId: null,
    customId: null,
    operation: call.operation,
    model: answer.model,
    provider: answer.provider,
    endpointId: answer.endpointId,
    status: 'completed',
    usage: noUsage,
    source: 'provider',
    isUnpriced: false,
    costNanocredits: 0n,
    price: freePrice,
    upstreamId: null,
    finishReason: answer.finishReason,
    nativeFinishReason: answer.nativeFinishReason,
    streamed: call.stream,
    cancelled: false,
    latencyMs: elapsedMs,
    generationMs: elapsedMs,
    sessionId: call.sessionId,
    userId: call.userId,
    requestId,
    createdAtMs: nowMs,
    details: { attempts: 0, tries: [], response_cache_source_id: answer.generationId, ...attribution },
    asked: { model: call.model, trace: call.trace, isZdr: false },
  }
}
