import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type TestGateway, until } from '../support/gateway.ts'
import { type LedgerView, openLedgerView } from '../support/ledger-view.ts'

export const nativeItems = 1_000
/** Items of the batch under `auto` that its job does not answer. */
export const movedItems = 10

/** A provider's batch service, and what its list says of a model there: nanocredits for a token of input and of output. */
interface ListedService {
  preset: string
  model: string
  upstream?: string
  batchUpstream?: string
  /** The live price, where the gateway's list has none: the operator states it. */
  live?: { input_per_million: string; output_per_million: string }
  base?: string
  settings?: Readonly<Record<string, unknown>>
  provider?: Partial<ProviderConfig>
  inputNanocredits: number
  outputNanocredits: number
}

// By hand from the providers' pages: dollars for a million tokens, times a thousand.
export const listedServices: readonly ListedService[] = [
  // Half of 0.15 and 0.60. https://openai.com/api/pricing
  { preset: 'openai', model: 'openai/gpt-4o-mini', inputNanocredits: 75, outputNanocredits: 300 },
  // The same, at a deployment of the type Global Batch.
  {
    preset: 'azure',
    model: 'azure/gpt-4o-mini',
    upstream: 'gpt-4o-mini',
    batchUpstream: 'gpt-4o-mini-batch',
    live: { input_per_million: '0.15', output_per_million: '0.6' },
    base: '/openai/v1',
    provider: { batches: { look_seconds: 1 } },
    inputNanocredits: 75,
    outputNanocredits: 300,
  },
  // Half of 1 and 5. https://www.anthropic.com/pricing
  {
    preset: 'anthropic',
    model: 'anthropic/claude-haiku-4-5',
    inputNanocredits: 500,
    outputNanocredits: 2_500,
  },
  // Half of 0.30 and 2.50. https://ai.google.dev/gemini-api/docs/pricing
  {
    preset: 'google-ai-studio',
    model: 'google/gemini-2.5-flash',
    base: '/v1beta',
    inputNanocredits: 150,
    outputNanocredits: 1_250,
  },
  // Half of 0.10 and 0.30. https://mistral.ai/pricing
  {
    preset: 'mistral',
    model: 'mistralai/mistral-small-latest',
    inputNanocredits: 50,
    outputNanocredits: 150,
  },
  // Half of 0.05 and 0.08. https://groq.com/pricing
  { preset: 'groq', model: 'groq/llama-3.1-8b-instant', inputNanocredits: 25, outputNanocredits: 40 },
  // 60 % of 0.60 and 3.00. https://platform.kimi.ai
  { preset: 'moonshot', model: 'moonshotai/kimi-k2.5', inputNanocredits: 360, outputNanocredits: 1_800 },
  // 0.05 and 0.25, by its list of models with the ending `:batch`. https://openrouter.ai/openai/gpt-6-luna
  {
    preset: 'openrouter',
    model: 'openai/gpt-6-luna',
    upstream: 'openai/gpt-6-luna',
    settings: { batch_service: 'openrouter' },
    inputNanocredits: 50,
    outputNanocredits: 250,
  },
]

/** What a batch cost, by everything that says so. */
export interface BilledJob {
  name: string
  items: number
  /** Worked out from the tokens of its answers and the provider's list. */
  invoicedNanocredits: bigint
  shownNanocredits: bigint
  listedNanocredits: bigint
  ledgerNanocredits: bigint
  captures: number
  /** Items whose answer costs the live price. */
  liveItems: number
}

const mountOf = ({ preset }: ListedService) => `invoice-${preset}`

function providerAt(service: ListedService, url: string): ProviderConfig {
  const { preset, model, upstream, batchUpstream, live, base = '/v1', provider = {} } = service
  const prices = live === undefined ? {} : { prices: live }
  const named = upstream === undefined ? {} : { upstream }
  const inBatches = batchUpstream === undefined ? {} : { batch_upstream: batchUpstream }
  return {
    preset,
    base_url: `${url}/p/${mountOf(service)}${base}`,
    api_key: 'simulated-key',
    weight: 1,
    discover: false,
    models: [{ id: model, ...named, ...inBatches, ...prices }],
    ...provider,
  }
}

/** Runs a thousand items in each lane, and a thousand of which the job answers all but some. */
export async function billJobs(folder: string): Promise<readonly BilledJob[]> {
  const gateway = await startTestGateway({
    folder,
    credits: '100',
    providers: (url) => listedServices.map((service) => providerAt(service, url)),
  })
  const ledger = await openLedgerView(folder)
  try {
    const billed: BilledJob[] = []
    for (const service of listedServices) billed.push(await billJob(service, { gateway, ledger, lost: 0 }))
    const [first] = listedServices
    if (first !== undefined) billed.push(await billJob(first, { gateway, ledger, lost: movedItems }))
    return billed
  } finally {
    await ledger.close()
    await gateway.stop()
  }
}

interface Billing {
  gateway: TestGateway
  ledger: LedgerView
  /** Lines that the job's results lack. */
  lost: number
}

interface AnsweredItem {
  response: { body: { usage: { prompt_tokens: number; completion_tokens: number; cost: number } } }
}

async function billJob(service: ListedService, { gateway, ledger, lost }: Billing): Promise<BilledJob> {
  const { preset, model, settings = {}, inputNanocredits, outputNanocredits } = service
  const mount = mountOf(service)
  await gateway.admin('settings', { mount, job_looks: 0, any_model: true, ...settings })
  const rules = [{ match: { method: 'POST' }, fault: `batch_lines_lost=${lost}` }]
  await gateway.admin('faults', { mount, rules: lost === 0 ? [] : rules })
  await ledger.takeNew()
  const requests = Array.from({ length: nativeItems }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `Item ${index} of the invoice.` }], max_tokens: 40 },
  }))
  const headrace = { lane: lost === 0 ? 'native' : 'auto' }
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    headrace,
    requests,
  })
  if (created.status !== 202) throw new Error(`${preset}: ${created.text}`)
  const ended = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    ({ json }) => json['status'] === 'completed',
    180_000,
  )
  const listed = await gateway.get('/batches?limit=1')
  const rows = (await ledger.takeNew()).filter(({ generationId }) => generationId.startsWith('gen-batch'))
  const results = ended.json['results'] as AnsweredItem[]
  let invoiced = 0
  let liveItems = 0
  for (const { response } of results) {
    const { prompt_tokens: input, completion_tokens: output, cost } = response.body.usage
    const inBatch = input * inputNanocredits + output * outputNanocredits
    // What a job did not answer was run at the live price, which is twice this.
    const isLive = lost > 0 && Math.round(cost * 1e9) === 2 * inBatch
    liveItems += isLive ? 1 : 0
    invoiced += isLive ? 2 * inBatch : inBatch
  }
  const costAt = (value: unknown) => BigInt(Math.round(Number(value) * 1e9))
  return {
    name: lost === 0 ? preset : `${preset}, ${lost} items moved`,
    items: results.length,
    invoicedNanocredits: BigInt(invoiced),
    shownNanocredits: costAt(at(ended.json, 'usage.cost')),
    listedNanocredits: costAt(at(listed.json, 'data.0.usage.cost')),
    ledgerNanocredits: rows.reduce((sum, row) => sum + row.costNanocredits, 0n),
    captures: rows.length,
    liveItems,
  }
}
