import { speechUsage } from '../../src/billing/metering/speech-usage.ts'
import type { Endpoint } from '../../src/canonical/endpoint.ts'
import { noUsage } from '../../src/canonical/usage.ts'
import type { Demand, Usage } from '../../src/canonical/usage.ts'
import type { OperatorModel } from '../../src/catalog/deployment-source.ts'
import { offersOf } from '../../src/catalog/offers.ts'
import { pricePackage } from '../../src/catalog/prices/price-package.gen.ts'
import { chargeOf } from '../../src/execution/call/charge.ts'
import { atOnce } from '../../src/core/turns.ts'
import { decodeSpeechJson } from '../../src/formats/speech/decode-speech.ts'
import { emptyReading } from '../../src/formats/text/streams/stream-meter.ts'
import { toDeploymentSource } from '../../src/providers/deployments.ts'
import { audioInvoice, sellersLists, type AudioAsked } from './audio-invoice.ts'

const readAtMs = Date.parse('2026-11-20')

/** How the gateway's charges for audio and the invoice compare. */
export interface AudioComparison {
  rows: number
  /** Rows whose amounts differ, in words. */
  differences: readonly string[]
  invoicedNanocredits: bigint
  chargedNanocredits: bigint
}

/** What every row costs by the way that a call's charge takes: metered, and priced at its endpoint. */
export function compareAudioInvoice(): AudioComparison {
  const differences: string[] = []
  let [invoicedNanocredits, chargedNanocredits] = [0n, 0n]
  for (const [list, asked, working, amount] of audioInvoice) {
    const charged = chargedFor(list, asked)
    invoicedNanocredits += amount
    chargedNanocredits += charged ?? 0n
    if (charged !== amount)
      differences.push(
        `${list}, ${JSON.stringify(asked)}: ${charged ?? 'unpriced'}, not ${amount} (${working})`,
      )
  }
  return { rows: audioInvoice.length, differences, invoicedNanocredits, chargedNanocredits }
}

/** Null where a unit has no price, or the usage was not believed. */
function chargedFor(list: string, asked: AudioAsked): bigint | null {
  const endpoint = endpointOf(list, 'text' in asked ? 'speech' : 'transcription')
  const { demand, usage } = 'text' in asked ? spoken(asked, endpoint) : heard(asked, endpoint)
  const { row } = chargeOf(
    {
      generationId: 'gen-1',
      operation: 'text' in asked ? 'speech' : 'transcription',
      owner: {
        organizationId: 'org_1',
        workspaceId: 'ws_1',
        memberId: null,
        keyId: 'key_1',
        requestId: 'req_1',
        batchId: null,
        customId: null,
        sessionId: null,
        userId: null,
      },
      attribution: {},
      createdAtMs: readAtMs,
      isStreamed: false,
      demand,
      route: [],
      hold: { amountNanocredits: 0n, budgets: [] },
      request: { method: 'POST', path: '/', headers: {}, body: null },
    },
    {
      candidate: { endpoint, credential: { id: 'operator:x', isByok: false }, promptRatio: 1 },
      reading: { ...emptyReading(), usage, source: 'provider', outputPieces: 1 },
      ending: 'completed',
      attempts: 1,
      latencyMs: 1,
      generationMs: 1,
    },
  )
  return row.isUnpriced || row.source === 'estimated' ? null : row.costNanocredits
}

function endpointOf(list: string, modality: 'speech' | 'transcription'): Endpoint {
  const prices = sellersLists[list]
  const [provider = '', upstream = ''] = prices === undefined ? list.split('/') : ['custom', 'sold']
  const audio = { verbose_json: true, word_times: true, diarize: true, keyterms: true }
  const model: OperatorModel = {
    id: `a/${upstream}`,
    upstream,
    modality,
    ...(modality === 'transcription' ? { audio } : {}),
    ...(prices === undefined ? {} : { prices }),
  }
  const server = provider === 'custom' ? { base_url: 'http://127.0.0.1:1/v1' } : {}
  const source = toDeploymentSource({ preset: provider, api_key: 'k', weight: 1, models: [model], ...server })
  const context = { listed: [], prices: {}, table: pricePackage, nowMs: readAtMs }
  const offer = atOnce(offersOf(source, context)).find(({ endpoint }) => endpoint.upstreamModel === upstream)
  if (!offer) throw new Error(`${provider} does not offer ${upstream}`)
  return offer.endpoint
}

interface Worked {
  demand: Demand
  usage: Usage | null
}

function heard(asked: Extract<AudioAsked, { seconds: number }>, { deployment }: Endpoint): Worked {
  const { seconds, channels = 1, with: features = [], tokens } = asked
  const audioMilliseconds = Math.round(seconds * 1000)
  const demand: Demand = {
    inputTokens: 0,
    outputTokensMax: null,
    choices: 1,
    audioMilliseconds,
    audioChannels: channels,
    audioFeatures: features.filter((feature) => feature !== 'entities'),
    askedAt: { entities: features.includes('entities') ? [deployment.provider] : [] },
    characters: 0,
  }
  const { input = 0, inputAudio = 0, output = 0 } = tokens ?? {}
  const counts = { inputTokens: input, inputAudioTokens: inputAudio, outputTokens: output }
  return { demand, usage: { ...noUsage, ...counts, audioMilliseconds, audioChannels: channels } }
}

function spoken({ text, billed = {} }: Extract<AudioAsked, { text: string }>, endpoint: Endpoint): Worked {
  const body = Buffer.from(JSON.stringify({ model: 'a/sold', voice: 'v', input: text }))
  const { demand } = atOnce(decodeSpeechJson(body, { sessionId: null, accept: null }))
  return { demand, usage: speechUsage(demand, endpoint, billed) }
}
