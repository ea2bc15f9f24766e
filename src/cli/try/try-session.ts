import type { GatewayClient } from '../client.ts'
import type { Paint } from '../paint.ts'
import type { Receipt, Receipts } from './receipt-repository.ts'
import { numberOrZero, recordOrEmpty } from '../../json/values.ts'
import type { ListedByGateway, TryModels } from './try-models.ts'

/**
 * How long a command waits until the ledger shows a call. Captures are durable before an answer ends, so this is
 * generous.
 */
const receiptWaitMs = 3_000
const receiptEveryMs = 50

/** The common data of the steps of `headrace try`. */
export interface TrySession {
  client: GatewayClient
  key: string
  /** Null when there is none; steps that need it are skipped, with a message. */
  managementKey: string | null
  models: TryModels
  /** All served models. */
  listed: readonly ListedByGateway[]
  /** Null when the gateway's data is elsewhere; the API then reports the cost of a call. */
  receipts: Receipts | null
  /** The folder for files that the steps leave behind; null when it cannot be created. */
  folder: string | null
  /** The spoken sentence as a WAV file, once it exists. */
  speech: Uint8Array<ArrayBuffer> | null
  signal: AbortSignal
  paint: Paint
  write(text: string): void
  isTty: boolean
  columns: number
  nowMs(): number
}

/** The result of one step. */
export interface StepResult {
  /** The lines to show. */
  lines: readonly string[]
  /** Monotonic milliseconds from sending to the last byte. */
  elapsedMs: number
  /** The time to the first content, when it differs. */
  firstMs?: number
  /** The call or batch whose captures are read from the ledger; null for a step without a cost. */
  charged: { generationId: string } | { batchId: string } | null
  /** The provider that answered, if the gateway names it. */
  provider?: string
}

/** A skipped step, with the reason. */
export class StepSkipped extends Error {}

/** One step of `headrace try`. */
export interface TryStep {
  title: string
  /** The model that it asks, for the headline. */
  subject(session: TrySession): string
  run(session: TrySession): Promise<StepResult>
}

/** The ledger's receipt, as soon as it exists; null when none appears. */
export async function findReceipt(
  session: TrySession,
  charged: StepResult['charged'],
): Promise<Receipt | null> {
  const { receipts } = session
  if (charged === null || receipts === null) return null
  const giveUpMs = session.nowMs() + receiptWaitMs
  do {
    const found =
      'batchId' in charged
        ? await receipts.loadBatch(charged.batchId)
        : await receipts.loadCall(charged.generationId)
    if (found) return found
    await Bun.sleep(receiptEveryMs)
  } while (session.nowMs() < giveUpMs)
  return null
}

/** The cost in credits that the API reports for a generation; null while it is unknown. */
export async function findCost(session: TrySession, generationId: string): Promise<number | null> {
  const response = await session.client.send(`/generation?id=${encodeURIComponent(generationId)}`, {
    key: session.key,
  })
  const data = recordOrEmpty(recordOrEmpty(await response.json().catch(() => null))['data'])
  return response.ok ? numberOrZero(data['total_cost']) : null
}
