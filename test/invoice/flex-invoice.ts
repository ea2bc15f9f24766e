import type { ProviderConfig } from '../../src/config-file.ts'
import { at, type Answer, startTestGateway, until } from '../support/gateway.ts'
import { openLedgerView } from '../support/ledger-view.ts'
import { startScriptedUpstream, type UpstreamSeen } from '../support/scripted-upstream.ts'

export const invoicedItems = 1_000

/** Tokens of item `index`, as its provider counts them. */
const inputOf = (index: number): number => 200 + index
const cachedOf = (index: number): number => 2 * (index % 50)
const outputOf = (index: number): number => 10 + (index % 90)

/** One batch of a thousand items, and what its provider's invoice says. */
export interface InvoicedBatch {
  name: string
  model: string
  /** In nanocredits, worked out by hand from the provider's list, see `invoicedBatches`. */
  invoicedNanocredits: bigint
}

// The thousand items have 200 × 1,000 + (0 + … + 999) = 699,500 tokens of input and
// 10 × 1,000 + 11 × (0 + … + 89) + (0 + … + 9) = 54,100 of output; of the input 20 × 2 × (0 + … + 49) = 49,000 are cached
// at OpenAI, and none at Google.
export const invoicedBatches: readonly InvoicedBatch[] = [
  {
    // Flex, as batches: 0.55 USD for a million of input, 0.1375 cached, 2.20 of output.
    // 650,500 × 550 + 49,000 × 137.5 + 54,100 × 2,200 = 357,775,000 + 6,737,500 + 119,020,000
    // https://developers.openai.com/api/docs/pricing?latest-pricing=flex
    name: 'OpenAI o4-mini',
    model: 'openai/o4-mini',
    invoicedNanocredits: 483_532_500n,
  },
  {
    // Flex: 0.15 USD for a million of input, 1.25 of output, half of 0.30 and 2.50.
    // 699,500 × 150 + 54,100 × 1,250 = 104,925,000 + 67,625,000
    // https://ai.google.dev/gemini-api/docs/pricing
    name: 'Google gemini-2.5-flash',
    model: 'google/gemini-2.5-flash',
    invoicedNanocredits: 172_550_000n,
  },
]

/** What a batch cost, by everything that says so. */
export interface BilledBatch extends InvoicedBatch {
  shownNanocredits: bigint
  listedNanocredits: bigint
  ledgerNanocredits: bigint
  captures: number
  /** Items that were asked for without the tier. */
  askedOtherwise: number
}

/** Runs every batch of the invoice through a gateway of its own, on a provider that reports exactly these tokens. */
export async function billInvoice(folder: string): Promise<readonly BilledBatch[]> {
  const upstream = startScriptedUpstream()
  const app = await startTestGateway({ folder, credits: '50', providers: () => providersAt(upstream.url) })
  const ledger = await openLedgerView(folder)
  try {
    const billed: BilledBatch[] = []
    for (const batch of invoicedBatches) {
      let askedOtherwise = 0
      upstream.answer((seen) => {
        if (!isFlex(seen)) askedOtherwise += 1
        return answerTo(seen)
      })
      const created = await app.post('/batches', batchOf(batch.model))
      if (created.status !== 202) throw new Error(created.text)
      const id = String(created.json['id'])
      const ended = await until(
        () => app.get(`/batches/${id}`),
        ({ json }) => json['status'] === 'completed',
        120_000,
      )
      const listed = await app.get('/batches?limit=1')
      const rows = await ledger.takeOf(batch.model)
      billed.push({
        ...batch,
        shownNanocredits: costOf(ended, 'usage.cost'),
        listedNanocredits: costOf(listed, 'data.0.usage.cost'),
        ledgerNanocredits: rows.reduce((sum, row) => sum + row.costNanocredits, 0n),
        captures: rows.length,
        askedOtherwise,
      })
    }
    return billed
  } finally {
    await ledger.close()
    await app.stop()
    await upstream.stop()
  }
}

function costOf({ json }: Answer, path: string): bigint {
  return BigInt(Math.round(Number(at(json, path)) * 1e9))
}

function providersAt(url: string): ProviderConfig[] {
  const common = { api_key: 'scripted', weight: 1, discover: false }
  return [
    { ...common, preset: 'openai', base_url: `${url}/v1`, models: [{ id: 'openai/o4-mini' }] },
    {
      ...common,
      preset: 'google-ai-studio',
      base_url: `${url}/v1beta`,
      models: [{ id: 'google/gemini-2.5-flash' }],
    },
  ]
}

function batchOf(model: string): object {
  const requests = Array.from({ length: invoicedItems }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `Item ${index} of the invoice.` }], max_tokens: 200 },
  }))
  return { endpoint: '/v1/chat/completions', model, headrace: { lane: 'flex' }, requests }
}

function isFlex({ body }: UpstreamSeen): boolean {
  const { service_tier: openAi, serviceTier: google } = JSON.parse(body) as Record<string, unknown>
  return openAi === 'flex' || google === 'flex'
}

function answerTo({ body, path }: UpstreamSeen): Response {
  const index = Number(/Item (\d+) of the invoice/.exec(body)?.[1])
  const [input, output] = [inputOf(index), outputOf(index)]
  if (path.startsWith('/v1beta')) return geminiAnswer(input, output)
  return Response.json({
    id: `chatcmpl-${index}`,
    object: 'chat.completion',
    created: 1,
    model: 'o4-mini',
    service_tier: 'flex',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cachedOf(index) },
    },
  })
}

function geminiAnswer(input: number, output: number): Response {
  return Response.json({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Done.' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      serviceTier: 'flex',
    },
  })
}
