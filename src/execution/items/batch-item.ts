import type { BudgetRef } from '../../billing/budgets/budget-ids.ts'
import { type CaptureRow, knownCost } from '../../billing/ledger/capture-row.ts'
import { costOfUsage } from '../../billing/metering/price.ts'
import { joinPieces } from '../../core/body.ts'
import type { TextCall } from '../../canonical/call.ts'
import {
  editDocument,
  hasMember,
  type JsonDocument,
  memberValue,
  parseJsonDocument,
} from '../../json/document.ts'
import type { Principal } from '../../canonical/principal.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { BatchUsage } from '../../formats/batch/batch-usage.ts'
import { itemUsage } from '../../formats/batch/item-usage.ts'
import { type ItemError, itemErrorOf, type ItemResponse } from '../../formats/batch/result-line.ts'
import { leanOf } from '../../json/set-aside-texts.ts'
import type { CallLine } from '../../telemetry/call-line.ts'
import type { Executor } from '../executor.ts'
import { isAnsweredFailure, isWithoutRoom } from '../call/failures.ts'
import { operationOfBatchEndpoint } from '../operations.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { type BatchScope, type DeferredCapture, type LaneTier, noFacts, type Outcome } from '../call/scope.ts'

/** The wait before an item that could not be started is tried again, when no provider named a time. */
const batchRetryMs = 2_000

/** One item of a batch, as the batch engine hands it over. */
export interface BatchItem {
  principal: Principal
  batchId: string
  customId: string
  endpoint: string
  model: string
  body: Uint8Array
  providerOnly: readonly string[] | null
  /** The caller's `anthropic-beta`, as the batch was created with it. */
  betas?: string | null
  /** The cheaper service tier to ask for; an item whose body names a tier keeps its own. */
  tier?: LaneTier | null
  budgets: readonly BudgetRef[]
  signal: AbortSignal
  deadlineMs: number
  enlarge?: BatchScope['enlarge']
  onQueued?: BatchScope['onQueued']
  /** The id under which this try is in the log, and in the results if it is answered; without one it gets a new one. */
  requestId?: string
}

/** How an item ended; the engine's own shape, so that nothing is translated twice. */
export interface BatchItemOutcome {
  response: ItemResponse | null
  error: ItemError | null
  usage: BatchUsage | null
  capture: DeferredCapture | null
  retryLaterMs: number | null
  missingNanocredits: bigint
  retryAfterMs?: number
  /** Set when the item asked for the tier of its lane, and not for one of its own or for none. */
  hasAskedTier?: true
  /** Set when that tier has no room: nothing was served or charged, and room may come later. */
  hasNoRoom?: true
  /** Set when the provider itself answered that it failed, as with status 500: it is there, and may fail again. */
  isAnsweredFailure?: true
}

/** An item's body as a call; what the body leaves out it inherits from its batch. Throws `invalid_request`. */
export function decodeItem(endpoint: string, model: string, body: Uint8Array): TextCall {
  const document = parseJsonDocument(body)
  const completed = withInherited(document, model, null)
  const whole = completed === null ? document : parseJsonDocument(completed)
  return decodeNamed(endpoint, model, { document: whole, betas: null })
}

/** The same of an item that may be large: it is looked into as a live call is, in turns and without its longer texts. */
export async function readItem({
  endpoint,
  model,
  body,
  betas = null,
  tier = null,
}: ItemBody): Promise<ReadItem> {
  const document = parseJsonDocument(body, await leanOf(body))
  const ownTier = tier === null || namesTier(document) ? null : tier
  const completed = withInherited(document, model, ownTier)
  const whole = completed === null ? document : parseJsonDocument(completed, await leanOf(completed))
  return { call: decodeNamed(endpoint, model, { document: whole, betas }), tier: ownTier }
}

type ItemBody = Pick<BatchItem, 'endpoint' | 'model' | 'body' | 'betas' | 'tier'>

/** The call of an item, and the lane's tier where the call asks for it. */
interface ReadItem {
  call: TextCall
  tier: LaneTier | null
}

const tierMember = 'service_tier'

function namesTier(document: JsonDocument): boolean {
  return hasMember(document, tierMember) && memberValue(document, tierMember) !== null
}

/** The body with the model of its batch and the tier of its lane; null where nothing is to be added, as in most. */
function withInherited(document: JsonDocument, model: string, tier: LaneTier | null): Uint8Array | null {
  const set: Record<string, string> = {}
  if (!hasMember(document, 'model')) set['model'] = JSON.stringify(model)
  if (tier !== null) set[tierMember] = JSON.stringify(tier.name)
  return Object.keys(set).length === 0 ? null : editDocument(document, { set })
}

function decodeNamed(
  endpoint: string,
  model: string,
  { document, betas }: { document: JsonDocument; betas: string | null },
): TextCall {
  const text = operationOfBatchEndpoint(endpoint)?.text
  assert(text, `batches do not run ${endpoint}`)
  const call = text.decode(document.bytes, { sessionIdHeader: null, betaHeader: betas, document })
  const other = call.fallbackModels.find((name) => name !== model)
  if (other !== undefined) {
    throw new GatewayError(
      'invalid_request',
      `"${other}" is not the model of the batch: its items are answered by ${model} alone. Leave out the other models.`,
      { param: 'models' },
    )
  }
  return call.model === model ? call : { ...call, model }
}

/**
 * Runs one item through the one path; `facts` receives what the metrics count. Never throws for the item's own fault.
 */
export async function executeBatchItem(
  item: BatchItem,
  executor: Executor,
  dependencies: ExecutionDependencies,
  facts: CallLine = noFacts(),
): Promise<BatchItemOutcome> {
  const requestId = item.requestId ?? newId('req', dependencies.clock.nowMs())
  let capture: DeferredCapture | null = null
  let tier: LaneTier | null = null
  try {
    const read = await readItem(item)
    const { call } = read
    tier = read.tier
    const outcome = await executor.text(
      { ...call, stream: false },
      {
        principal: item.principal,
        requestId,
        signal: item.signal,
        priority: 'batch',
        metadata: 'none',
        batch: {
          batchId: item.batchId,
          customId: item.customId,
          deadlineMs: item.deadlineMs,
          budgets: item.budgets,
          providerOnly: item.providerOnly,
          defer: (deferred) => {
            capture = deferred
          },
          ...(tier === null ? {} : { tier }),
          ...(item.enlarge ? { enlarge: item.enlarge } : {}),
          ...(item.onQueued ? { onQueued: item.onQueued } : {}),
        },
        facts,
      },
    )
    return answeredItem(outcome, requestId, capture)
  } catch (thrown) {
    const error = toGatewayError(thrown)
    if (item.signal.aborted) facts.isCancelled = true
    else facts.errorType = error.type
    if (tier === null) return failedItem(error, item)
    return {
      ...failedItem(error, item),
      hasAskedTier: true,
      ...(isWithoutRoom(error) ? { hasNoRoom: true } : {}),
    }
  }
}

/** The outcome of an item that was answered. */
export function answeredItem(
  outcome: Outcome,
  requestId: string,
  capture: DeferredCapture | null,
): BatchItemOutcome {
  assert(!(outcome.body instanceof ReadableStream), 'a batch item is never streamed')
  return {
    response: { status_code: 200, request_id: requestId, body: joinPieces(outcome.body) },
    error: null,
    usage: capture ? usageOf(capture.row) : null,
    capture,
    retryLaterMs: null,
    missingNanocredits: 0n,
  }
}

/** The same figures as in the item's own answer, so that the batch's usage is their sum. */
function usageOf(row: CaptureRow): BatchUsage {
  const { promptNanocredits, completionNanocredits } = costOfUsage(row.usage, row.price)
  return itemUsage({
    usage: row.usage,
    costNanocredits: knownCost(row),
    promptNanocredits,
    completionNanocredits,
    serviceTier: row.details.service_tier ?? null,
    mediaTokens: row.details.media_tokens ?? null,
  })
}

// These errors are not the item's fault and likely to pass: the engine puts the item back and decides how often.
const passing: ReadonlySet<string> = new Set([
  'payment_required',
  'storage_unavailable',
  'shutting_down',
  'gateway_overloaded',
  'balance_set_aside',
  'quota_used_up',
])

/** The outcome of an item that failed; where that will pass, it is put back. */
export function failedItem(error: GatewayError, item: Pick<BatchItem, 'signal'>): BatchItemOutcome {
  const isPutBack = passing.has(error.type) || item.signal.aborted
  return {
    response: null,
    error: itemErrorOf(error),
    usage: null,
    capture: null,
    retryLaterMs: isPutBack ? (error.retryAfterSeconds ?? 0) * 1000 || batchRetryMs : null,
    missingNanocredits: shortageOf(error),
    ...(error.retryAfterSeconds === null ? {} : { retryAfterMs: error.retryAfterSeconds * 1000 }),
    ...(isAnsweredFailure(error) ? { isAnsweredFailure: true } : {}),
  }
}

/** How much more the budget must have for a call that was refused with 402; 0 for any other error. */
export function shortageOf({ type, metadata }: GatewayError): bigint {
  const [needed, available] = [metadata?.['needed_nanocredits'], metadata?.['available_nanocredits']]
  if (type !== 'payment_required' || typeof needed !== 'string' || typeof available !== 'string') return 0n
  const missing = BigInt(needed) - BigInt(available)
  return missing > 0n ? missing : 0n
}
