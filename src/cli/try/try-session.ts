import type { GatewayClient } from '../client.ts'
import type { Paint } from '../paint.ts'
import type { Receipt, Receipts } from './receipt-repository.ts'
import { numberOrZero, recordOrEmpty } from '../../json/values.ts'
import type { ListedByGateway, TryModels } from './try-models.ts'

/** How long a command waits for the ledger to show a call: captures are durable before an answer ends, so this is generous. */
const receiptWaitMs = 3_000
const receiptEveryMs = 50

/** What the steps of `headrace try` share. */
export interface TrySession {
  client: GatewayClient
  key: string
  /** Null when there is none: what needs it is left out, and said to be. */
  managementKey: string | null
  models: TryModels
  /** All that are served. */
  listed: readonly ListedByGateway[]
  /** Null when the gateway's data is somewhere else; the API then says what a call cost. */
  receipts: Receipts | null
  /** Folder for files that the steps leave behind; null where none can be made. */
  folder: string | null
  /** What was spoken, as a WAV file, once it was. */
  speech: Uint8Array<ArrayBuffer> | null
  signal: AbortSignal
  paint: Paint
  write(text: string): void
  isTty: boolean
  columns: number
  nowMs(): number
}

/** What one step did. */
export interface StepResult {
  /** What a reader should see of it, a line each. */
  lines: readonly string[]
  /** Monotonic milliseconds from sending to the last byte. */
  elapsedMs: number
  /** Time to the first content, where that is something else. */
  firstMs?: number
  /** Whose captures the ledger is asked about; null for what costs nothing. */
  charged: { generationId: string } | { batchId: string } | null
  /** Who answered, where the gateway says so. */
  provider?: string
}

/** A step that was not taken, and why. */
export class StepSkipped extends Error {}

/** One step of `headrace try`. */
export interface TryStep {
  title: string
  /** What it asks, for the headline. */
  subject(session: TrySession): string
  run(session: TrySession): Promise<StepResult>
}

/** What the ledger says, as soon as it says it; null when it stays silent. */
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

/** The cost in credits that the API states for a generation; null while it knows none. */
export async function findCost(session: TrySession, generationId: string): Promise<number | null> {
  const response = await session.client.send(`/generation?id=${encodeURIComponent(generationId)}`, {
    key: session.key,
  })
  const data = recordOrEmpty(recordOrEmpty(await response.json().catch(() => null))['data'])
  return response.ok ? numberOrZero(data['total_cost']) : null
}
