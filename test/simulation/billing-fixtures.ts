import type { CaptureRow } from '../../src/billing/capture-row.ts'
import { noUsage } from '../../src/canonical/usage.ts'
import type { Principal } from '../../src/canonical/principal.ts'
import type { Database } from '../../src/storage/database.ts'

const noRates = { requestsPerMinute: null, batchesPerMinute: null }

/** A principal of one organization and key, prepaid and without a key limit unless changed. */
export function principalOf(change: Partial<Principal> = {}): Principal {
  return {
    organizationId: 'org_a',
    keyId: 'key_a',
    keyHash: 'a'.repeat(64),
    keyKind: 'inference',
    accountMode: 'prepaid',
    constraints: {
      allowedModels: null,
      ignoredModels: [],
      allowedProviders: null,
      ignoredProviders: [],
      requireZdr: false,
      denyDataCollection: false,
    },
    rates: { organization: noRates, key: noRates },
    keyLimitNanocredits: null,
    keyLimitReset: null,
    isFilteredModelCatalogEnabled: false,
    ...change,
  }
}

/** A capture row of a cost; everything else is plausible. */
export function captureRowOf(
  generationId: string,
  costNanocredits: bigint,
  change: Partial<CaptureRow> = {},
): CaptureRow {
  return {
    generationId,
    organizationId: 'org_a',
    keyId: 'key_a',
    batchId: null,
    customId: null,
    operation: 'chat_completions',
    model: 'maker/model',
    provider: 'maker',
    endpointId: 'maker/model',
    status: 'completed',
    usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
    source: 'provider',
    isUnpriced: false,
    costNanocredits,
    price: {},
    upstreamId: null,
    finishReason: 'stop',
    nativeFinishReason: 'stop',
    streamed: false,
    cancelled: false,
    latencyMs: 12,
    generationMs: 30.4,
    sessionId: null,
    userId: null,
    requestId: 'req_1',
    createdAtMs: 1_750_000_000_000,
    details: {},
    ...change,
  }
}

/** Writes an organization, which balances are only checked for when it is prepaid. */
export async function insertOrganization(
  database: Database,
  organizationId = 'org_a',
  mode: 'prepaid' | 'tracked' = 'prepaid',
): Promise<void> {
  await database.commit({
    name: 'test.organization',
    statements: [
      {
        sql: `insert into organizations (organization_id, name, account_mode, created_at_ms) values ($1, $1, $2, 0)`,
        params: [organizationId, mode],
      },
    ],
  })
}
