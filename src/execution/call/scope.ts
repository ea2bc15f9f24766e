import type { BudgetRef } from '../../billing/billing.ts'
import type { CaptureRow } from '../../billing/ledger/capture-row.ts'
import type { Hold } from '../../billing/budgets/hold.ts'
import type { BodyPieces } from '../../core/body.ts'
import type { TextFormat } from '../../canonical/operation.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { CallLine } from '../../telemetry/call-line.ts'
import type { Attribution } from './prepared.ts'

/** A capture that the batch engine makes durable, in the transaction of the item's part. */
export interface DeferredCapture {
  hold: Hold
  row: CaptureRow
}

/** What the one path needs to know about who asks and how the answer will be used. */
export interface RequestScope {
  principal: Principal
  requestId: string
  /** Aborted when the caller has left or the gateway gives up. */
  signal: AbortSignal
  /** Live calls come before batch items where an upstream is short of room. */
  priority: 'live' | 'batch'
  /** Whether the answer shows `headrace_metadata`, and with `openrouter` under the contract's name too. */
  metadata: 'none' | 'headrace' | 'openrouter'
  /** A login of the caller's own at the provider, which came beside the gateway's key; null for nearly all calls. */
  callerLogin?: string | null
  /** How the application named itself; absent where no application calls, as for an item of a batch. */
  attribution?: Attribution
  /** Receives the text of the answer as it comes, where the provider streams it. Only transcriptions call it. */
  showText?: (text: string) => void
  /** Told of the call's usage row once it is durable; absent where nobody asks. */
  showCapture?: (row: CaptureRow) => void
  /** Null for live calls, which use the principal's own budgets. A batch names its own. */
  batch: BatchScope | null
  /** Facts for the log line and the metrics, filled in on the way. */
  facts: CallLine
}

/** A cheaper service tier that the lane of a batch asks for. */
export interface LaneTier {
  /** Such as `flex`. Only endpoints that have a lower price for it are asked. */
  name: string
  /** Whether only the tier's own price is held, because the batch never asks for a dearer tier. */
  isHeldAlone: boolean
}

/** What differs for an item of a batch. */
export interface BatchScope {
  batchId: string
  customId: string
  /** Wall clock: of an organization's batches, one that is near its deadline gets short places first. */
  deadlineMs: number
  budgets: readonly BudgetRef[]
  providerOnly: readonly string[] | null
  /** The service tier that the item's lane asks for; absent when the item is served as its own body says. */
  tier?: LaneTier
  /** Receives the capture in place of the queue that makes captures durable. */
  defer: (capture: DeferredCapture) => void
  /**
   * Moves as much of this amount as there is into the batch's budget, for an item that turned out dearer than its hold.
   * Resolves with whether all of it was moved; rejects when storage is unavailable.
   */
  enlarge?: (missingNanocredits: bigint) => Promise<boolean>
  /** A job of the provider answered it, whose time says nothing about the endpoint's health; absent for live calls. */
  isJob?: true
  /** The formats in which a job can have the item, as `BatchJobs.formats`; absent where it can be in any. */
  jobFormats?: readonly TextFormat[]
  /** Called with the deployment when the item begins to wait for a place there, and with null once it has one. */
  onQueued?: (place: QueuedAt | null) => void
}

/** A deployment that a batch item waits for. */
export interface QueuedAt {
  providerName: string
  /** How long the deployment still rests after it refused calls; 0 when it is only busy. */
  restMs(): number
}

/** Facts before anything is known. */
export function noFacts(): CallLine {
  return {
    generationId: null,
    operation: null,
    model: null,
    provider: null,
    attempts: 0,
    tried: [],
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    costNanocredits: null,
    isEstimated: false,
    uncoveredNanocredits: 0n,
    isCancelled: false,
    firstByteMs: null,
    errorType: null,
    story: null,
  }
}

/** An answer ready to be sent. */
export interface Outcome {
  generationId: string
  contentType: string
  /** The whole body, or a pull stream whose `cancel` says that the caller has left. */
  body: BodyPieces | ReadableStream<Uint8Array>
  /** Display name of the provider that answered; empty where the head goes out before a provider has answered. */
  provider: string
  /** Resolves when the body has ended, however it ended; at once for bytes. */
  ended: Promise<void>
}
