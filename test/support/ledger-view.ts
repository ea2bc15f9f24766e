import { join } from 'node:path'
import { createInvariantsRepository } from '../../src/billing/ledger/invariants-repository.ts'
import { checkInvariants } from '../../src/billing/ledger/invariants.ts'
import { openDatabase } from '../../src/storage/open-database.ts'
import { until, type TestGateway } from './gateway.ts'

/** One usage row of the ledger. */
export interface UsageRow {
  generationId: string
  status: string
  provider: string
  isEstimated: boolean
  inputTokens: number
  cachedTokens: number
  cacheWriteTokens: number
  outputTokens: number
  costNanocredits: bigint
}

/** Reads the SQLite database of a gateway in this process, in this folder. */
export interface LedgerView {
  /** All rows that no earlier call returned, oldest first. */
  takeNew(): Promise<UsageRow[]>
  /** All rows of this model. */
  takeOf(model: string): Promise<UsageRow[]>
  /**
   * Waits until the gateway handles no request but the one for its metrics; then returns the broken invariants of the
   * money.
   */
  problemsAtRest(gateway: TestGateway): Promise<string[]>
  close(): Promise<void>
}

/** Opens it. */
export async function openLedgerView(folder: string): Promise<LedgerView> {
  const url = `sqlite:${join(folder, 'headrace.db')}`
  const database = await openDatabase({ url, ownerGraceMs: 0, connectionsMax: 1 })
  const seen = new Set<string>()
  const rowsOf = async (condition: string, values: readonly string[]) => {
    const rows = await database.query<Record<string, unknown>>(
      `select generation_id, status, provider, is_estimated, input_tokens, cached_input_tokens,
         cache_write_tokens, output_tokens, cost_nanocredits
       from usages where ${condition} order by generation_id limit 100000`,
      values,
    )
    return rows.map(toUsageRow)
  }
  return {
    takeOf: (model) => rowsOf('model = $1', [model]),
    async takeNew() {
      const rows = await rowsOf("generation_id not like 'gen-account%'", [])
      const fresh = rows.filter(({ generationId }) => !seen.has(generationId))
      for (const { generationId } of fresh) seen.add(generationId)
      return fresh
    },
    async problemsAtRest(gateway) {
      const metrics = await until(
        () => gateway.get('//metrics'),
        ({ text }) =>
          /^headrace_captures_queued 0$/m.test(text) && /^headrace_requests_running 1$/m.test(text),
      )
      const holds = /^headrace_holds_live (\d+)$/m.exec(metrics.text)?.[1]
      const findings = await checkInvariants(createInvariantsRepository(database))
      return [
        ...(holds === '0' ? [] : [`${holds} holds are left`]),
        ...findings.map(({ invariant, subject, detail }) => `${invariant}: ${subject}: ${detail}`),
      ]
    },
    close: () => database.close(),
  }
}

function toUsageRow(row: Record<string, unknown>): UsageRow {
  return {
    generationId: String(row['generation_id']),
    status: String(row['status']),
    provider: String(row['provider']),
    isEstimated: Number(row['is_estimated']) === 1,
    inputTokens: Number(row['input_tokens']),
    cachedTokens: Number(row['cached_input_tokens']),
    cacheWriteTokens: Number(row['cache_write_tokens']),
    outputTokens: Number(row['output_tokens']),
    costNanocredits: BigInt(String(row['cost_nanocredits'])),
  }
}
