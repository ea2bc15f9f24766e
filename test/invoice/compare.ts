import { costOfUsage } from '../../src/billing/metering/price.ts'
import { priceAt, type Endpoint } from '../../src/canonical/endpoint.ts'
import { offersOf } from '../../src/catalog/offers.ts'
import { pricePackage } from '../../src/catalog/prices/price-package.gen.ts'
import { toDeploymentSource } from '../../src/providers/deployments.ts'
import { listReplies, type RecordedReply } from '../recordings/recorded.ts'
import { showReply } from '../recordings/replay.ts'
import { invoice } from './invoice.ts'
import { priceLists, type ListedPrices } from './price-lists.ts'
import { amountOf } from './worked-out.ts'
import { writtenReply, writtenUsages, type WrittenUsage } from './written-replies.ts'

/** The month in which the price lists were read. */
const readAtMs = Date.parse('2026-11-20')

type Reply = RecordedReply<WrittenUsage['format']>

/** How the gateway's costs and the invoice compare. */
export interface Comparison {
  recorded: number
  written: number
  /** Replies whose costs differ, in words. */
  differences: readonly string[]
  invoicedNanocredits: bigint
  chargedNanocredits: bigint
}

function endpointOf({ provider, region }: ListedPrices, model: string): Endpoint {
  const models = [
    { id: `a/${model.replaceAll(/[/:@]/g, '-')}`, upstream: model, modality: 'language' as const },
  ]
  const place = region === undefined ? {} : { region, project: 'p-1' }
  const source = toDeploymentSource({ preset: provider, api_key: 'k', weight: 1, models, ...place })
  const steps = offersOf(source, { listed: [], prices: {}, table: pricePackage, nowMs: readAtMs })
  let step = steps.next()
  while (!step.done) step = steps.next()
  const endpoint = step.value.find(({ endpoint: each }) => each.upstreamModel === model)?.endpoint
  if (!endpoint) throw new Error(`${provider} does not offer ${model}`)
  return endpoint
}

function replyOf(name: string, model: string, provider: string): Reply | undefined {
  const written = writtenUsages[name]
  if (!written) return undefined
  const wire = writtenReply(model, written)
  const bytes = Buffer.from(JSON.stringify(wire))
  const { format } = written
  return { name, preset: provider, format, isStream: false, objects: [wire], bytes, frameEnds: [] }
}

/** What the gateway would charge for a reply at its default prices; null where it read no usage or lacks a price. */
function chargedFor(reply: Reply, model: string, listed: ListedPrices): bigint | null {
  const { usage } = showReply(reply, 'chat')
  if (usage === null) return null
  const endpoint = endpointOf(listed, model)
  const { costNanocredits, unpricedUnits } = costOfUsage(usage, priceAt(endpoint, usage.inputTokens))
  return unpricedUnits.length > 0 ? null : costNanocredits
}

/** Compares every row of the invoice; without recordings only those of written replies. */
export function compareInvoice(hasRecordings: boolean): Comparison {
  const replies = new Map<string, Reply>(
    hasRecordings ? listReplies().map((reply) => [reply.name, reply]) : [],
  )
  const differences: string[] = []
  const counts = { recorded: 0, written: 0 }
  let [invoicedNanocredits, chargedNanocredits] = [0n, 0n]
  for (const row of invoice) {
    const [name, model] = row
    const isWritten = name.startsWith('written/')
    if (!isWritten && !hasRecordings) continue
    const listed = priceLists[model]
    if (!listed) throw new Error(`no list has a price of ${model}`)
    const reply = replyOf(name, model, listed.provider) ?? replies.get(name)
    if (!reply) throw new Error(`there is no reply ${name}`)
    const amount = amountOf(row, listed)
    const charged = chargedFor(reply, model, listed)
    counts[isWritten ? 'written' : 'recorded'] += 1
    invoicedNanocredits += amount
    chargedNanocredits += charged ?? 0n
    if (charged !== amount) differences.push(`${name} of ${model}: ${charged ?? 'unpriced'}, not ${amount}`)
  }
  return { ...counts, differences, invoicedNanocredits, chargedNanocredits }
}
