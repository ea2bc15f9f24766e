import { expect, test } from 'bun:test'
import { captureRowOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { freePrice, noUsage, type Price, priceUnits, type Usage } from '../../canonical/usage.ts'
import type { Database } from '../../storage/database.ts'
import { insertPrices, insertUsages } from '../ledger/capture-repository.ts'
import { costOfUsage } from './price.ts'

const million = 1_000_000n
const allPrices: Price = Object.fromEntries(
  priceUnits.map((unit, index) => [unit, BigInt(index + 3) * million + 7n]),
)

/** Each kind of call, with every count that its provider may report and a price for each. */
const kinds: Record<string, { usage: Partial<Usage>; price: Price }> = {
  'a chat': { usage: { inputTokens: 120, outputTokens: 31, reasoningTokens: 12 }, price: allPrices },
  'a chat with cached and written input': {
    usage: { inputTokens: 900, cachedInputTokens: 400, cacheWriteTokens: 300, outputTokens: 5 },
    price: allPrices,
  },
  'a chat with input written for an hour': {
    usage: { inputTokens: 900, cacheWriteTokens: 300, cacheWriteHourTokens: 170, outputTokens: 5 },
    price: allPrices,
  },
  'a chat that hears and speaks': {
    usage: { inputTokens: 500, inputAudioTokens: 410, outputTokens: 333, outputAudioTokens: 250 },
    price: allPrices,
  },
  'a chat without prices for its cache': {
    usage: { inputTokens: 70, cachedInputTokens: 30, cacheWriteTokens: 20, outputTokens: 1 },
    price: { inputToken: 5n * million, outputToken: 9n * million },
  },
  'an embedding': { usage: { inputTokens: 88 }, price: { inputToken: 20_000n } },
  'a transcription by time': { usage: { audioMilliseconds: 61_234 }, price: { audioHour: 360_003_600_001n } },
  'a transcription of two channels by time': {
    usage: { audioMilliseconds: 61_234, audioChannels: 2 },
    price: { audioHour: 360_003_600_001n, minimumMilliseconds: 10_000, isPerChannel: true },
  },
  'a transcription with surcharges': {
    usage: { audioMilliseconds: 61_234, audioChannels: 1 },
    price: { audioHour: 360_003_600_001n, keytermsMillionths: 200_000, diarizedHour: 20_000_000_000n },
  },
  'a transcription by tokens': {
    usage: { inputTokens: 375, inputAudioTokens: 370, outputTokens: 44, audioMilliseconds: 37_000 },
    price: { inputToken: 3n * million, inputAudioToken: 6n * million, outputToken: 10n * million },
  },
  'speech by characters': { usage: { characters: 1_234 }, price: { character: 15_000n } },
  'speech by bytes': { usage: { characters: 7, utf8Bytes: 11 }, price: { utf8Byte: 15_000_000_001n } },
  'speech by tokens': {
    usage: { inputTokens: 30, outputTokens: 800, outputAudioTokens: 800, audioMilliseconds: 32_000 },
    price: { inputToken: 600_000n, outputAudioToken: 12n * million },
  },
  'a call for a fee': { usage: { inputTokens: 1 }, price: { ...freePrice, request: 4_000n * million } },
  'a call for nothing': { usage: { inputTokens: 10, outputTokens: 4 }, price: freePrice },
}

eachDatabase((_name, _open, { openFresh }) => {
  test('every kind of usage row is priced again from the row and its stored price, and gets its cost', async () => {
    const { database } = await openFresh()
    const captures = Object.entries(kinds).map(([customId, { usage, price }], index) => {
      const whole = { ...noUsage, ...usage }
      const cost = costOfUsage(whole, price).costNanocredits
      return captureRowOf(`gen-${index}`, cost, { customId, usage: whole, price })
    })
    const statements = [insertPrices(captures), insertUsages(captures.map((row) => ({ row, held: 0n })))]
    await database.commit({ name: 'test.usages', statements })
    const rows = await loadPriced(database)
    expect(rows.map(({ customId }) => customId).toSorted()).toEqual(Object.keys(kinds).toSorted())
    for (const { customId, usage, price, cost } of rows)
      expect({ customId, cost: costOfUsage(usage, price).costNanocredits }).toEqual({ customId, cost })
    // This shows that no row above lacks a price by mistake.
    expect(rows.filter(({ cost }) => cost === 0n).map(({ customId }) => customId)).toEqual([
      'a call for nothing',
    ])
  })
})

/** Usages in the form of the database: every count in the column of its name. */
async function loadPriced(database: Database) {
  const rows = await database.query<Record<string, unknown>>(
    'select u.*, p.price_json from usages u join prices p on p.price_id = u.price_id',
  )
  return rows.map((row) => {
    const counts = Object.keys(noUsage).map((count) => [count, Number(row[toColumn(count)] ?? Number.NaN)])
    const stored = JSON.parse(String(row['price_json'])) as Record<string, string | number>
    // Prices are stored as texts; a number is a rule of how a length is billed.
    const prices = Object.entries(stored).map(([unit, value]) => [
      unit,
      typeof value === 'string' ? BigInt(value) : value,
    ])
    return {
      customId: String(row['custom_id']),
      usage: Object.fromEntries(counts) as Usage,
      price: Object.fromEntries(prices) as Price,
      cost: BigInt(String(row['cost_nanocredits'])),
    }
  })
}

function toColumn(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
