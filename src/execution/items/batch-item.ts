import type { BudgetRef } from '../../billing/budgets/budget-ids.ts'
import { type CaptureRow, knownCost } from '../../billing/ledger/capture-row.ts'
import { costOfUsage } from '../../billing/metering/price.ts'
import { joinPieces } from '../../core/body.ts'
import type { TextCall } from '../../canonical/call.ts'
import { editDocument, hasMember, type JsonDocument, parseJsonDocument } from '../../json/document.ts'
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
import { operationOfBatchEndpoint } from '../operations.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { type BatchScope, type DeferredCapture, noFacts, type Outcome } from '../call/scope.ts'

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
  budgets: readonly BudgetRef[]
  signal: AbortSignal
  deadlineMs: number
  enlarge?: BatchScope['enlarge']
  onQueued?: BatchScope['onQueued']
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
}

/** An item's body as a call; a body without a model gets that of its batch. Throws `invalid_request`. */
export function decodeItem(endpoint: string, model: string, body: Uint8Array): TextCall {
  const document = parseJsonDocument(body)
  const named = withModel(document, model)
  return decodeNamed(endpoint, model, named === null ? document : parseJsonDocument(named))
}

/** The same for an item that may be large: like a live call, it is read in turns and without its longer texts. */
export async function readItem({ endpoint, model, body }: ItemBody): Promise<TextCall> {
  const document = parseJsonDocument(body, await leanOf(body))
  const named = withModel(document, model)
  return decodeNamed(
    endpoint,
    model,
    named === null ? document : parseJsonDocument(named, await leanOf(named)),
  )
}

type ItemBody = Pick<BatchItem, 'endpoint' | 'model' | 'body'>

/** The body with the model of its batch; null where it names one itself, as most do. */
function withModel(document: JsonDocument, model: string): Uint8Array | null {
  return hasMember(document, 'model')
    ? null
    : editDocument(document, { set: { model: JSON.stringify(model) } })
}

function decodeNamed(endpoint: string, model: string, document: JsonDocument): TextCall {
  const text = operationOfBatchEndpoint(endpoint)?.text
  assert(text, `batches do not run ${endpoint}`)
  const call = text.decode(document.bytes, { sessionIdHeader: null, document })
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
  const requestId = newId('req', dependencies.clock.nowMs())
  let capture: DeferredCapture | null = null
  try {
    const call = await readItem(item)
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
          ...(item.enlarge ? { enlarge: item.enlarge } : {}),
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
])

function failed(error: GatewayError, item: BatchItem): BatchItemOutcome {
  const isPutBack = passing.has(error.type) || item.signal.aborted
  return {
    response: null,
    error: itemErrorOf(error),
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
