import type { BudgetRef } from '../billing/budgets/budget-ids.ts'
import { knownCost, type CaptureRow } from '../billing/ledger/capture-row.ts'
import { chargeOf } from '../billing/metering/price.ts'
import { joinPieces } from '../canonical/body.ts'
import type { TextCall } from '../canonical/call.ts'
import type { Principal } from '../canonical/principal.ts'
import { assert } from '../core/assert.ts'
import { type GatewayError, toGatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { batchRetryMs } from '../core/limits/batches.ts'
import { toCredits } from '../core/money.ts'
import { editDocument, hasMember, parseJsonDocument } from '../formats/json-document.ts'
import type { CallLine } from '../telemetry/call-line.ts'
import type { Executor } from './executor.ts'
import { operationOfBatchEndpoint } from './operations.ts'
import type { ExecutionParts } from './parts.ts'
import { noFacts, type BatchScope, type DeferredCapture, type Outcome } from './scope.ts'

/** One item of a batch, as the batch engine hands it over. */
export interface BatchItem {
  principal: Principal
  batchId: string
  customId: string
  endpoint: string
  model: string
  body: Uint8Array
  providerOnly: readonly string[] | null
  budgets: readonly BudgetRef[]
  signal: AbortSignal
  deadlineMs: number
  onQueued?: BatchScope['onQueued']
}

/** How an item ended; the engine's own shape, so that nothing is translated twice. */
export interface BatchItemOutcome {
  response: { status_code: number; request_id: string | null; body: Uint8Array } | null
  error: { type: string; message: string; param: string | null; error_type?: string } | null
  usage: ItemUsage | null
  capture: DeferredCapture | null
  retryLaterMs: number | null
  missingNanocredits: bigint
  retryAfterMs?: number
}

interface ItemUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: Record<string, number | null>
  completion_tokens_details: Record<string, number | null>
  cost: number | null
  cost_details: Record<string, number | null>
  is_byok: boolean
  service_tier?: string
}

const noHeaders = { sessionIdHeader: null }

/** An item's body as a call; what the body leaves out it inherits from its batch. Throws `invalid_request`. */
export function decodeItem(endpoint: string, model: string, body: Uint8Array): TextCall {
  const text = operationOfBatchEndpoint(endpoint)?.text
  assert(text, `batches do not run ${endpoint}`)
  const document = parseJsonDocument(body)
  const named = hasMember(document, 'model')
    ? body
    : editDocument(document, { set: { model: JSON.stringify(model) } })
  const call = text.decode(named, noHeaders)
  return call.model === model ? call : { ...call, model }
}

/** Runs one item through the one path; `facts` is filled with what is to be counted. Never throws for the item's own fault. */
export async function executeBatchItem(
  item: BatchItem,
  executor: Executor,
  parts: ExecutionParts,
  facts: CallLine = noFacts(),
): Promise<BatchItemOutcome> {
  const requestId = newId('req', parts.clock.nowMs())
  let capture: DeferredCapture | null = null
  try {
    const call = decodeItem(item.endpoint, item.model, item.body)
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
          budgets: item.budgets,
          providerOnly: item.providerOnly,
          defer: (deferred) => {
            capture = deferred
          },
          ...(item.onQueued ? { onQueued: item.onQueued } : {}),
        },
        facts,
      },
    )
    return answered(outcome, requestId, capture)
  } catch (thrown) {
    return failed(toGatewayError(thrown), item)
  }
}

function answered(outcome: Outcome, requestId: string, capture: DeferredCapture | null): BatchItemOutcome {
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

/** The same figures as in the item's own answer, so that a batch's are their sum. */
function usageOf(row: CaptureRow): ItemUsage {
  const { usage, price, details } = row
  const cost = knownCost(row)
  const { promptNanocredits, completionNanocredits } = chargeOf(usage, price)
  const { service_tier: tier, media_tokens: media = {} } = details
  const { image_tokens: image, ...read } = media
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      audio_tokens: usage.inputAudioTokens,
      ...(usage.cacheWriteTokens > 0 ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
      ...read,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.outputAudioTokens,
      ...(image === undefined ? {} : { image_tokens: image }),
    },
    cost: cost === null ? null : toCredits(cost),
    cost_details: {
      upstream_inference_cost: cost === null ? null : toCredits(promptNanocredits + completionNanocredits),
      upstream_inference_prompt_cost: toCredits(promptNanocredits),
      upstream_inference_completions_cost: toCredits(completionNanocredits),
    },
    is_byok: false,
    ...(tier === undefined ? {} : { service_tier: tier }),
  }
}

// Not the item's fault and likely to pass: the engine puts the item back and decides how often.
const passing: ReadonlySet<string> = new Set(['payment_required', 'storage_unavailable', 'shutting_down'])

function failed(error: GatewayError, item: BatchItem): BatchItemOutcome {
  const isPutBack = passing.has(error.type) || item.signal.aborted
  return {
    response: null,
    error: { type: error.type, message: error.message, param: error.param, error_type: error.contractType },
    usage: null,
    capture: null,
    retryLaterMs: isPutBack ? (error.retryAfterSeconds ?? 0) * 1000 || batchRetryMs : null,
    missingNanocredits: shortageOf(error),
    ...(error.retryAfterSeconds === null ? {} : { retryAfterMs: error.retryAfterSeconds * 1000 }),
  }
}

/** How much more the budget must have for a call that was refused with 402; 0 for any other error. */
export function shortageOf({ type, metadata }: GatewayError): bigint {
  const [needed, available] = [metadata?.['needed_nanocredits'], metadata?.['available_nanocredits']]
  if (type !== 'payment_required' || typeof needed !== 'string' || typeof available !== 'string') return 0n
  const missing = BigInt(needed) - BigInt(available)
  return missing > 0n ? missing : 0n
}
