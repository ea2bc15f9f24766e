import { createHash } from 'node:crypto'
import type { LongPrice } from '../../canonical/endpoint.ts'
import { priceUnits, type Price, type PriceUnit } from '../../canonical/usage.ts'
import { modelsPerTurnMax } from '../../core/limits/catalog.ts'
import type { DatedPrice, TableModel, PriceTable } from '../prices/price-table.ts'

/** A list of default prices that the operator took; never changed. */
export interface PriceList {
  /** From 1; the list with the highest version is in effect. */
  version: number
  /** The origin of the prices, in words: a package with its version, or a file. */
  source: string
  /** 64 hex digits, SHA-256 of the content. */
  checksum: string
  /** A line for each model; empty when the operator went back to the prices that the program came with. */
  content: string
  createdAtMs: number
}

/** The stored list does not have its checksum. */
export class DamagedPriceList extends Error {}

/** Prices as they are stored: one line of JSON for each model. */
export function renderPriceList(table: PriceTable): string {
  const lines = Object.entries(table).flatMap(([provider, models]) =>
    models.map((model) => JSON.stringify({ provider, ...model }, withAmounts)),
  )
  return lines.join('\n')
}

/** SHA-256 in hex; shows whether a stored list is complete. */
export function checksumOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

/**
 * The table of a stored list; yields between short steps. Providers that the list does not name keep the prices that
 * the program came with, so that a provider of a later version has prices too. Throws DamagedPriceList.
 */
export function* readPriceList(
  { version, checksum, content }: PriceList,
  shipped: PriceTable,
): Generator<void, PriceTable> {
  if (content === '') return shipped
  if (checksumOf(content) !== checksum)
    throw new DamagedPriceList(`the stored prices of version ${version} do not have their checksum`)
  const found: Record<string, TableModel[]> = {}
  let worked = 0
  for (const line of content.split('\n')) {
    if (++worked % modelsPerTurnMax === 0) yield
    const { provider, prices, ...model } = JSON.parse(line) as StoredModel
    found[provider] ??= []
    found[provider].push({ ...model, prices: prices.map(readDated) })
  }
  return { ...shipped, ...found }
}

type StoredPrice = Readonly<Partial<Record<PriceUnit | 'audioMillisecond', string>>>

interface StoredModel extends Omit<TableModel, 'prices'> {
  provider: string
  prices: readonly {
    fromMs: number
    price: StoredPrice
    long?: readonly { inputTokensAbove: number; price: StoredPrice }[]
  }[]
}

function readDated({ fromMs, price, long }: StoredModel['prices'][number]): DatedPrice {
  const longPrices: LongPrice[] | undefined = long?.map((one) => ({ ...one, price: readPrice(one.price) }))
  return { fromMs, price: readPrice(price), ...(longPrices ? { long: longPrices } : {}) }
}

function readPrice({ audioMillisecond, ...price }: StoredPrice): Price {
  const result: Partial<Record<PriceUnit, bigint>> = {}
  for (const unit of priceUnits) {
    const amount = price[unit]
    if (amount !== undefined) result[unit] = BigInt(amount)
  }
  // Older lists have the price of audio for a million milliseconds, not for a million hours.
  if (audioMillisecond !== undefined) result.audioHour = BigInt(audioMillisecond) * 3_600_000n
  return result
}

function withAmounts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
