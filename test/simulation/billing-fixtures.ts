import type { CaptureRow } from '../../src/billing/ledger/capture-row.ts'
import type { Endpoint } from '../../src/canonical/endpoint.ts'
import { noUsage } from '../../src/canonical/usage.ts'
import type { Demand, Price } from '../../src/canonical/usage.ts'
import type { Principal } from '../../src/canonical/principal.ts'
import type { Database } from '../../src/storage/database.ts'

const noRates = { requestsPerMinute: null, batchesPerMinute: null, tokensPerMinute: null }

/** A principal of one organization and key, prepaid and without a key limit unless changed. */
export function principalOf(change: Partial<Principal> = {}): Principal {
  return {
    organizationId: 'org_a',
    workspaceId: 'ws_a',
    memberId: null,
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
    keyLimitSinceMs: 0,
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
    workspaceId: 'ws_a',
    memberId: null,
    keyId: 'key_a',
    credentialId: 'operator:maker',
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

/** Writes an organization; its balance is checked only when it is prepaid. */
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

/** An endpoint of a modality and price. */
export function endpointOf(
  modality: Endpoint['modality'],
  price: Price,
  change: Partial<Endpoint> = {},
): Endpoint {
  return {
    id: 'maker/model',
    deployment: {
      id: 'maker',
      preset: 'maker',
      provider: 'maker',
      providerName: 'Maker',
      baseUrl: 'http://127.0.0.1:1',
      region: null,
      weight: 1,
      concurrencyMax: null,
    },
    model: 'maker/model',
    upstreamModel: 'model',
    modality,
    price,
    longPrices: [],
    isPriced: true,
    contextLength: null,
    outputTokensMax: null,
    parameters: null,
    inputModalities: ['text'],
    outputModalities: ['text'],
    dataPolicy: { zdr: false, trains: false, stores: false },
    reasons: false,
    quantization: null,
    batch: 'none',
    audio: null,
    ...change,
  }
}

/** The demand of a call: zero of every unit unless changed. */
export function demandOf(change: Partial<Demand> = {}): Demand {
  return { inputTokens: 0, outputTokensMax: null, choices: 1, audioMilliseconds: 0, characters: 0, ...change }
}
