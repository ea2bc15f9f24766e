import { knownCost, toReportedCounts, type CaptureRow } from '../billing/ledger/capture-row.ts'
import { meter, type Metered } from '../billing/metering/meter.ts'
import { chargeOf } from '../billing/metering/price.ts'
import type { Call } from '../canonical/call.ts'
import { priceAt, type Deployment, type Endpoint } from '../canonical/endpoint.ts'
import type { MeterReading, ShownCharge } from '../canonical/upstream.ts'
import type { AnswerContext, UpstreamFailure } from '../canonical/upstream.ts'
import { freePrice } from '../canonical/usage.ts'
import { newGenerationId } from '../core/ids.ts'
import type { Exclusion } from '../routing/exclusion.ts'
import type { CallOutcome, Permit } from '../routing/limiter.ts'
import type { AttemptLine } from '../telemetry/call-line.ts'
import { hideSecrets } from '../transport/additions.ts'
import { operations } from './operations.ts'
import { metadataOf, type Attempt, type Losses } from './metadata.ts'
import type { ExecutionParts } from './parts.ts'
import { conversationOf } from './route-model.ts'
import { providerWords } from './provider-words.ts'
import type { RequestScope } from './scope.ts'

/** How a call ended, for its usage row. */
export type CallEnding = 'completed' | 'cancelled' | 'failed'

/** A charge in both shapes: for the ledger and for the caller. */
export interface SettledCharge {
  row: CaptureRow
  shown: ShownCharge
}

/** One call on its way: who, what, when, which endpoints were tried. Turns a meter reading into a charge. */
export class CallState {
  readonly call: Call
  readonly scope: RequestScope
  readonly generationId: string
  readonly startedMs: number
  readonly createdAtMs: number
  readonly attempts: Attempt[] = []
  /** What the request lost on its way to the provider that was asked last. */
  #losses: Losses = { dropped: [] }
  excluded: readonly Exclusion[] = []
  candidates: readonly Endpoint[] = []
  /** The place at the provider that the running attempt takes. */
  #permit: Permit | null = null
  /** How long a batch item has waited for places. */
  #waitedMs = 0
  readonly #parts: ExecutionParts

  constructor(call: Call, scope: RequestScope, parts: ExecutionParts) {
    this.call = call
    this.scope = scope
    this.#parts = parts
    this.startedMs = parts.clock.monotonicMs()
    this.createdAtMs = parts.clock.nowMs()
    const operation = operations[call.operation]
    this.generationId = newGenerationId(
      scope.batch ? 'gen-batch' : operation.generationPrefix,
      this.createdAtMs,
    )
    scope.facts.generationId = this.generationId
    scope.facts.operation = operation.name
    scope.facts.model = call.model
  }

  /** The provider that is asked now does not get these members, or not as they were sent. */
  noteLosses(losses: Losses): void {
    this.#losses = losses
  }

  /** Milliseconds since the call began. */
  elapsedMs(): number {
    return this.#parts.clock.monotonicMs() - this.startedMs
  }

  /**
   * Milliseconds left until the call's own deadline. Nobody sits waiting for a batch item: a hundred of them before a
   * provider that takes one at a time would use up the time of the last ones before they are sent.
   */
  remainingMs(): number {
    return operations[this.call.operation].deadlineMs - this.elapsedMs() + this.#waitedMs
  }

  beginAttempt(endpoint: Endpoint): Attempt {
    // It stays so for a caller who leaves before the attempt's end.
    const line: AttemptLine = {
      deployment: endpoint.deployment.id,
      model: endpoint.model,
      status: null,
      outcome: 'cancelled',
      errorType: null,
      said: null,
    }
    const attempt: Attempt = {
      endpoint,
      startedMs: this.elapsedMs(),
      headersMs: null,
      firstTokenMs: null,
      endedMs: null,
      status: null,
      errorType: null,
      line,
    }
    this.attempts.push(attempt)
    this.scope.facts.tried.push(line)
    this.scope.facts.attempts = this.attempts.length
    return attempt
  }

  /** The provider has failed, for the log and the metrics. Returns its own words as the log may have them. */
  noteFailure({ endpoint, status, line }: Attempt, { error }: UpstreamFailure): string | null {
    line.outcome = 'failed'
    line.status = status
    line.errorType = error.type
    line.said = providerWords(error, this.call, endpoint)
    return line.said
  }

  /** Takes a place at the deployment; batch items wait for one, live calls only where the operator set a limit, else null: it is taken. */
  takePermit(endpoint: Endpoint): Promise<void> | null {
    const { signal, priority } = this.scope
    const permit = this.#parts.limiter.acquire(endpoint.deployment, priority, signal)
    if (permit instanceof Promise) return this.#whenGranted(permit, endpoint.deployment)
    this.#keep(permit)
    return null
  }

  async #whenGranted(permit: Promise<Permit>, deployment: Deployment): Promise<void> {
    const sinceMs = this.elapsedMs()
    const { batch } = this.scope
    const { limiter } = this.#parts
    batch?.onQueued?.({
      providerName: deployment.providerName,
      restMs: () => limiter.restMsOf(deployment),
    })
    this.#keep(await permit)
    batch?.onQueued?.(null)
    if (this.scope.priority === 'batch') this.#waitedMs += this.elapsedMs() - sinceMs
  }

  #keep(permit: Permit): void {
    this.#permit = permit
  }

  /** Gives the place back, with what the call taught about the provider's capacity. More than once does nothing. */
  releasePermit(outcome: CallOutcome = this.#answered()): void {
    this.#permit?.release(outcome)
    this.#permit = null
  }

  #answered(): CallOutcome {
    const last = this.attempts.at(-1)
    if (!last || last.firstTokenMs === null) return { type: 'other' }
    return { type: 'answered', latencyMs: last.firstTokenMs - last.startedMs }
  }

  /** What an answer of this endpoint must say about itself. */
  contextOf(endpoint: Endpoint): AnswerContext {
    return {
      generationId: this.generationId,
      model: endpoint.model,
      provider: endpoint.deployment.providerName,
      created: Math.floor(this.createdAtMs / 1000),
      hideSecrets: (text) => hideSecrets(text, endpoint.deployment),
    }
  }

  /**
   * Meters, prices and describes: `complete` without the settling. An answer that its provider ended as an error costs
   * nothing, whatever was said before.
   */
  charge(attempt: Attempt, reading: MeterReading, ending: CallEnding): SettledCharge {
    const { endpoint } = attempt
    const { organizationId, workspaceId, memberId, keyId } = this.scope.principal
    const metered = meter(reading, {
      demand: this.call.demand,
      endpoint,
      ending,
      promptRatio: this.#parts.learning.promptRatio(organizationId, endpoint.model),
    })
    const isForNothing = reading.finishReason === 'error' && this.call.demand.choices === 1
    const price = isForNothing ? freePrice : priceAt(endpoint, metered.usage.inputTokens)
    const charge = chargeOf(metered.usage, price)
    const isUnpriced = charge.unpricedUnits.length > 0
    const nowMs = this.elapsedMs()
    this.#learn(attempt, metered, ending)
    if (isForNothing) Object.assign(attempt.line, { outcome: 'failed', errorType: 'provider_failed' })
    else if (ending === 'completed') attempt.line.outcome = 'answered'
    const row: CaptureRow = {
      generationId: this.generationId,
      organizationId,
      workspaceId,
      memberId,
      keyId,
      credentialId: `operator:${endpoint.deployment.id}`,
      batchId: this.scope.batch?.batchId ?? null,
      customId: this.scope.batch?.customId ?? null,
      operation: this.call.operation,
      model: endpoint.model,
      provider: endpoint.deployment.provider,
      endpointId: endpoint.id,
      status: ending,
      usage: metered.usage,
      source: metered.source,
      isUnpriced,
      costNanocredits: charge.costNanocredits,
      price,
      upstreamId: reading.upstreamId,
      finishReason: reading.finishReason,
      nativeFinishReason: reading.nativeFinishReason,
      streamed: this.call.kind === 'text' && this.call.stream,
      cancelled: ending === 'cancelled',
      latencyMs: Math.round(attempt.firstTokenMs ?? nowMs),
      generationMs: Math.round(nowMs - attempt.startedMs),
      sessionId: this.call.sessionId,
      userId: this.call.userId,
      requestId: this.scope.requestId,
      createdAtMs: this.createdAtMs,
      details: {
        attempts: this.attempts.length,
        ...(reading.serviceTier === null ? {} : { service_tier: reading.serviceTier }),
        ...(reading.mediaTokens === null ? {} : { media_tokens: reading.mediaTokens }),
        ...(metered.disbelieved === null ? {} : { reported: toReportedCounts(metered.disbelieved) }),
      },
    }
    this.#note(row, endpoint)
    return {
      row,
      shown: {
        costNanocredits: knownCost(row),
        promptNanocredits: charge.promptNanocredits,
        completionNanocredits: charge.completionNanocredits,
        isByok: false,
        usage: metered.usage,
        isEstimated: metered.source === 'estimated',
        metadata: this.metadata(endpoint),
        metadataAlias: this.scope.metadata === 'openrouter',
      },
    }
  }

  metadata(chosen: Endpoint | null): Record<string, unknown> | null {
    return metadataOf(
      {
        call: this.call,
        generationId: this.generationId,
        attempts: this.attempts,
        excluded: this.excluded,
        candidates: this.candidates,
        chosen,
        losses: this.#losses,
      },
      this.scope,
    )
  }

  /** What this call says about later ones: sizes, the endpoint's health, where its conversation lives. */
  #learn(attempt: Attempt, { usage, source }: Metered, ending: CallEnding): void {
    const { learning, health, sticky } = this.#parts
    const { endpoint } = attempt
    learning.record({
      organizationId: this.scope.principal.organizationId,
      model: endpoint.model,
      estimatedInputTokens: this.call.demand.inputTokens,
      usage,
      source,
      ending,
    })
    if (ending !== 'completed') return
    const firstMs = attempt.firstTokenMs ?? this.elapsedMs()
    const writingMs = (attempt.endedMs ?? firstMs) - firstMs
    health.recordSuccess(endpoint, {
      latencyMs: firstMs - attempt.startedMs,
      throughput: usage.outputTokens > 0 && writingMs > 0 ? usage.outputTokens / (writingMs / 1000) : null,
    })
    const conversation = conversationOf(this.call, this.scope.principal.organizationId, endpoint.model)
    if (conversation) sticky.remember(conversation, endpoint.id)
  }

  /** The endpoint this conversation stuck to has failed, not the caller: its next call is routed freely. */
  releaseConversation(endpoint: Endpoint, { error }: UpstreamFailure): void {
    if (error.status < 500 && error.type !== 'upstream_rate_limited') return
    const { sticky } = this.#parts
    const conversation = conversationOf(this.call, this.scope.principal.organizationId, endpoint.model)
    if (conversation && sticky.endpointOf(conversation) === endpoint.id) sticky.release(conversation)
  }

  #note(row: CaptureRow, endpoint: Endpoint): void {
    const { facts } = this.scope
    facts.provider = endpoint.deployment.id
    facts.model = endpoint.model
    facts.inputTokens = row.usage.inputTokens
    facts.outputTokens = row.usage.outputTokens
    facts.isEstimated = row.source === 'estimated'
    facts.isCancelled = row.cancelled
    facts.costNanocredits = row.costNanocredits
  }
}
