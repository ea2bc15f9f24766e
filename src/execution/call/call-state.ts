import type { CaptureRow, CaptureTry } from '../../billing/ledger/capture-row.ts'
import { isUncounted, type Metered } from '../../billing/metering/meter.ts'
import type { Call } from '../../canonical/call.ts'
import type { Credential } from '../../canonical/credential.ts'
import type { Deployment, Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, MeterReading, UpstreamFailure } from '../../canonical/upstream.ts'
import { modelNamesOf } from '../../catalog/model-ids.ts'
import { assert } from '../../core/assert.ts'
import { newGenerationId } from '../../core/ids.ts'
import type { Exclusion } from '../../routing/exclusion.ts'
import type { Admission, CallOutcome, Permit } from '../../routing/limiter.ts'
import { hasQuota } from '../../routing/quotas.ts'
import type { StickyConversation } from '../../routing/sticky.ts'
import type { AttemptLine } from '../../telemetry/call-line.ts'
import { hideSecrets } from '../../transport/credentials.ts'
import { type CallEnding, type Charge, chargeOf } from './charge.ts'
import { callerCredential, callerCredentialId } from './caller-login.ts'
import { quotaUsedUp } from './failures.ts'
import { beginDebugOf, endDebugOf } from './debug.ts'
import { operations } from '../operations.ts'
import { type Attempt, type LostMembers, metadataOf } from './metadata.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import type { CallOwner, Candidate, Prepared } from './prepared.ts'
import { conversationOf } from './conversation-key.ts'
import { providerWords } from './provider-words.ts'
import type { RequestScope } from './scope.ts'
import type { Serving } from '../serving.ts'
import type { CallerWords } from '../../formats/caller-text.ts'

/**
 * For the first byte of a call at a cheaper tier, which its provider answers when it has room: OpenAI tells its callers to
 * wait 15 minutes, Google aims at 15, and Vertex ends such calls after 20.
 */
const tierFirstByteMs = 20 * 60_000

/** What an answer is expected to have at most until it is known, for quotas of tokens a minute. */
const outputTokensUsual = 500

/**
 * The state of one call: who asks, for what, since when, and which endpoints were tried. Turns a meter reading into a
 * charge.
 */
export class CallState {
  readonly call: Call
  readonly scope: RequestScope
  readonly generationId: string
  /** What was served when the call began; a later reload does not change it. */
  readonly serving: Serving
  readonly startedMs: number
  readonly createdAtMs: number
  readonly attempts: Attempt[] = []
  /** Members of the request that are not carried out, whichever provider answers. */
  readonly #dropped: string[] = []
  /** What the request lost on its way to the provider that was asked last. */
  #losses: LostMembers = { dropped: [] }
  excluded: readonly Exclusion[] = []
  /** Set by `prepare`. */
  prepared: Prepared | null = null
  /** The place at the provider that the running attempt takes. */
  #permit: Permit | null = null
  /** How long a batch item has waited for places. */
  #waitedMs = 0
  /** The tokens with which the running attempt counts at its deployment's quota. */
  #countedTokens = 0
  readonly #dependencies: ExecutionDependencies

  constructor(call: Call, scope: RequestScope, dependencies: ExecutionDependencies) {
    this.call = call
    this.scope = scope
    this.#dependencies = dependencies
    this.serving = dependencies.serving()
    this.startedMs = dependencies.clock.monotonicMs()
    this.createdAtMs = dependencies.clock.nowMs()
    const operation = operations[call.operation]
    // A stream whose head was already sent has shown its id.
    this.generationId =
      scope.facts.generationId ??
      newGenerationId(scope.batch ? 'gen-batch' : operation.generationPrefix, this.createdAtMs)
    scope.facts.generationId = this.generationId
    scope.facts.operation = operation.name
    scope.facts.model = call.model
    scope.facts.story = this
  }

  noteDropped(name: string): void {
    this.#dropped.push(name)
  }

  /** The provider that is asked now does not get these members, or not as they were sent. */
  noteLosses(losses: LostMembers): void {
    this.#losses = losses
  }

  /** Milliseconds since the call began. */
  elapsedMs(): number {
    return this.#dependencies.clock.monotonicMs() - this.startedMs
  }

  /**
   * Milliseconds left until the call's own deadline. A batch item's wait for a place does not count: of a hundred items
   * for a provider that takes one at a time, the last would run out of time before they are sent.
   */
  remainingMs(): number {
    const { deadlineMs, configuredDeadline } = operations[this.call.operation]
    const ownMs = configuredDeadline ? this.#dependencies[configuredDeadline] : null
    return (ownMs ?? deadlineMs) - this.elapsedMs() + this.#waitedMs
  }

  /**
   * Milliseconds that the running attempt may take to its first byte, given those that the call has left. An answer
   * that comes all at once at the end of the provider's work may take all of them, or half while there is another
   * endpoint to ask.
   */
  firstByteMs(remainingMs: number): number {
    const { firstByteTimeoutMs } = operations[this.call.operation]
    if (this.scope.batch?.tier !== undefined) return Math.min(tierFirstByteMs, remainingMs)
    if (firstByteTimeoutMs !== null) return Math.min(firstByteTimeoutMs, remainingMs)
    const isLast = this.attempts.length >= (this.prepared?.route.length ?? 0)
    return isLast ? remainingMs : Math.ceil(remainingMs / 2)
  }

  beginAttempt(candidate: Candidate): Attempt {
    const { endpoint } = candidate
    // The outcome stays `cancelled` when the caller leaves before the attempt ends.
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
      candidate,
      credential: this.#credentialOf(candidate),
      startedMs: this.elapsedMs(),
      headersMs: null,
      firstTokenMs: null,
      endedMs: null,
      againMs: null,
      status: null,
      restMs: null,
      errorType: null,
      line,
    }
    this.attempts.push(attempt)
    this.scope.facts.tried.push(line)
    this.scope.facts.model = endpoint.model
    this.scope.facts.attempts = this.attempts.length
    return attempt
  }

  /**
   * Notes the provider's failure for the log and the metrics. Returns the provider's own words as far as the log may
   * have them.
   */
  noteFailure(
    { endpoint, credential, status, line }: Attempt,
    { error }: UpstreamFailure,
    wordsOf: () => CallerWords | null,
  ): string | null {
    line.outcome = 'failed'
    line.status = status
    line.errorType = error.type
    line.said = providerWords(error, this.call, { endpoint, credential, wordsOf })
    return line.said
  }

  /**
   * Takes a place at the deployment. Returns null when it got one at once, else a promise: batch items wait for a
   * place, live calls only where the operator set a limit.
   */
  takePermit(endpoint: Endpoint): Promise<void> | null {
    const { signal } = this.scope
    const permit = this.#dependencies.limiter.acquire(endpoint.deployment, this.#admission(), signal)
    if (permit instanceof Promise) return this.#whenGranted(permit, endpoint.deployment)
    this.#keep(permit)
    return null
  }

  /**
   * Counts the call at the quota of the deployment, if it has one. Null when there is room; else why the deployment is not
   * asked now, and how long that lasts. A login of the caller's own has a quota of its own.
   */
  takeQuota({ endpoint, credential }: Candidate): UpstreamFailure | null | Promise<UpstreamFailure | null> {
    return !hasQuota(endpoint) || credential.id === callerCredentialId ? null : this.#countAtQuota(endpoint)
  }

  #countAtQuota(endpoint: Endpoint): UpstreamFailure | null | Promise<UpstreamFailure | null> {
    const { inputTokens, outputTokensMax } = this.call.demand
    const tokens = inputTokens + Math.min(outputTokensMax ?? outputTokensUsual, outputTokensUsual)
    const told = (waitMs: number): UpstreamFailure | null => {
      if (waitMs > 0) return quotaUsedUp(endpoint.deployment, waitMs)
      this.#countedTokens = tokens
      return null
    }
    const waitMs = this.#dependencies.quotas.take(endpoint, tokens)
    return typeof waitMs === 'number' ? told(waitMs) : waitMs.then(told)
  }

  /** The running attempt has used so many tokens; 0 when the provider refused it. A second call does nothing. */
  correctQuota(endpoint: Endpoint, usedTokens: number): void {
    if (this.#countedTokens === 0) return
    this.#dependencies.quotas.correct(endpoint, this.#countedTokens, usedTokens)
    this.#countedTokens = 0
  }

  #admission(): Admission {
    const { priority, principal, batch } = this.scope
    if (priority === 'live') return priority
    return {
      ownerId: principal.organizationId,
      workId: batch?.batchId ?? '',
      deadlineMs: batch?.deadlineMs ?? Number.POSITIVE_INFINITY,
    }
  }

  async #whenGranted(permit: Promise<Permit>, deployment: Deployment): Promise<void> {
    const sinceMs = this.elapsedMs()
    const { batch } = this.scope
    const { limiter } = this.#dependencies
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

  /** Gives the place back, with what the call taught about the provider's capacity. A second call does nothing. */
  releasePermit(outcome: CallOutcome = this.#answered()): void {
    this.#permit?.release(outcome)
    this.#permit = null
  }

  #answered(): CallOutcome {
    const last = this.attempts.at(-1)
    if (!last || last.firstTokenMs === null) return { type: 'other' }
    return { type: 'answered', latencyMs: last.firstTokenMs - last.startedMs }
  }

  /** The credential itself; a candidate has only its reference. */
  #credentialOf({ endpoint, credential }: Candidate): Credential {
    if (credential.id !== callerCredentialId) return this.serving.credentialOf(endpoint.deployment)
    const login = callerCredential(endpoint.deployment, this.scope.callerLogin)
    assert(login, 'a login of the caller was chosen')
    return login
  }

  /** What an answer of this candidate must say about itself. */
  contextOf(candidate: Candidate): AnswerContext {
    const { endpoint } = candidate
    const context: AnswerContext = {
      generationId: this.generationId,
      model: endpoint.model,
      provider: endpoint.deployment.providerName,
      providerSlug: endpoint.deployment.provider,
      created: Math.floor(this.createdAtMs / 1000),
      hideSecrets: (text) => hideSecrets(text, this.#credentialOf(candidate)),
      modelNames: modelNamesOf(endpoint),
      parameterNames: this.call.parameters,
    }
    const debug = beginDebugOf(this)
    return debug === null ? context : { ...context, debug }
  }

  /** Who pays, and what the usage row tells of the request. */
  owner(): CallOwner {
    const { principal, batch, requestId } = this.scope
    return {
      organizationId: principal.organizationId,
      workspaceId: principal.workspaceId,
      memberId: principal.memberId,
      keyId: principal.keyId,
      requestId,
      batchId: batch?.batchId ?? null,
      customId: batch?.customId ?? null,
      sessionId: this.call.sessionId,
      userId: this.call.userId,
      asked: {
        model: this.call.model,
        trace: this.call.trace,
        isZdr: principal.constraints.requireZdr || this.call.preferences.requireZdr,
      },
    }
  }

  /**
   * The charge for what the meter read, before the gateway checks how much of it is covered. An answer with one choice
   * that its provider ended as an error costs nothing, whatever the provider sent before.
   */
  chargeFor(attempt: Attempt, reading: MeterReading, ending: CallEnding): Charge {
    const { candidate, endpoint } = attempt
    const nowMs = this.elapsedMs()
    assert(this.prepared, 'what is charged was prepared')
    const { row, shown, metered, isForNothing } = chargeOf(this.prepared, {
      candidate,
      reading,
      ending,
      attempts: this.attempts.length,
      ...(this.attempts.length > 1 ? { tries: this.attempts.map(toTry) } : {}),
      latencyMs: attempt.firstTokenMs ?? nowMs,
      generationMs: nowMs - attempt.startedMs,
    })
    this.#learn(attempt, metered, ending)
    if (isForNothing) Object.assign(attempt.line, { outcome: 'failed', errorType: 'provider_failed' })
    else if (ending === 'completed') attempt.line.outcome = 'answered'
    this.#note(row, endpoint)
    return {
      row,
      shown: {
        ...shown,
        metadata: this.metadata(candidate),
        metadataAlias: this.scope.metadata === 'openrouter',
        ...endDebugOf(this, attempt),
      },
    }
  }

  metadata(chosen: Candidate | null): Record<string, unknown> | null {
    if (this.scope.metadata === 'none' && !this.#hasLostMembers()) return null
    return metadataOf(
      {
        call: this.call,
        generationId: this.generationId,
        attempts: this.attempts,
        excluded: this.excluded,
        candidates: this.prepared?.route ?? [],
        chosen,
        losses: { ...this.#losses, dropped: [...this.#dropped, ...this.#losses.dropped] },
      },
      this.scope,
    )
  }

  #hasLostMembers(): boolean {
    const { dropped, approximated = [] } = this.#losses
    return this.call.dropped.length + this.#dropped.length + dropped.length + approximated.length > 0
  }

  /**
   * Learns from this call for later ones: token counts, the endpoint's health, and the endpoint of the conversation.
   */
  #learn(attempt: Attempt, { usage, source }: Metered, ending: CallEnding): void {
    const { learning, health, sticky } = this.#dependencies
    const { endpoint } = attempt
    learning.record({
      organizationId: this.scope.principal.organizationId,
      model: endpoint.model,
      // Input that only the provider can count says nothing about how the provider counts text.
      estimatedInputTokens: isUncounted(this.call.demand, endpoint) ? 0 : this.call.demand.inputTokens,
      usage,
      source,
      ending,
    })
    if (ending !== 'completed' || this.scope.batch?.isJob) return
    const firstMs = attempt.firstTokenMs ?? this.elapsedMs()
    const writingMs = (attempt.endedMs ?? firstMs) - firstMs
    health.recordSuccess(endpoint, {
      latencyMs: firstMs - attempt.startedMs,
      throughput: usage.outputTokens > 0 && writingMs > 0 ? usage.outputTokens / (writingMs / 1000) : null,
      restMs: attempt.restMs,
    })
    const conversation = this.#conversationAt(endpoint)
    if (conversation) sticky.remember(conversation, endpoint.id)
  }

  #conversationAt({ model }: Endpoint): StickyConversation | null {
    const { organizationId } = this.scope.principal
    const hadChoice = (this.prepared?.route.length ?? 0) > 1
    return conversationOf(this.call, { organizationId, model, hadChoice })
  }

  /**
   * Lets the conversation's next call be routed freely, when the endpoint that it stuck to failed by a fault of its
   * own.
   */
  releaseConversation(endpoint: Endpoint, { error }: UpstreamFailure): void {
    if (error.status < 500 && error.type !== 'upstream_rate_limited') return
    const { sticky } = this.#dependencies
    const conversation = this.#conversationAt(endpoint)
    if (conversation && sticky.endpointOf(conversation) === endpoint.id) sticky.release(conversation)
  }

  #note(row: CaptureRow, endpoint: Endpoint): void {
    const { facts } = this.scope
    facts.provider = endpoint.deployment.id
    facts.model = endpoint.model
    facts.inputTokens = row.usage.inputTokens
    facts.cachedInputTokens = row.usage.cachedInputTokens
    facts.outputTokens = row.usage.outputTokens
    facts.isEstimated = row.source === 'estimated'
    facts.isCancelled = row.cancelled
    facts.costNanocredits = row.costNanocredits
    this.correctQuota(endpoint, row.usage.inputTokens + row.usage.outputTokens)
    const { principal, batch } = this.scope
    if (batch === null)
      this.#dependencies.spendTokens(principal, row.usage.inputTokens + row.usage.outputTokens)
  }
}

function toTry({ endpoint, status, firstTokenMs, startedMs }: Attempt): CaptureTry {
  return {
    provider: endpoint.deployment.providerName,
    endpoint: endpoint.id,
    status,
    ...(firstTokenMs === null ? {} : { latency: Math.round(firstTokenMs - startedMs) }),
  }
}
