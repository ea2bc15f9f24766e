import { expect, test } from 'bun:test'
import { atOnce } from '../../core/turns.ts'
import { checksumOf, readPriceList, renderPriceList } from './price-list.ts'

const model = { id: 'm', upstream: 'm', name: null, contextLength: null, match: { equals: 'm' } }

function read(content: string) {
  const list = { version: 1, source: 'a file', checksum: checksumOf(content), content, createdAtMs: 0 }
  return atOnce(readPriceList(list, {}))
}

test('a stored list is read as it was written, with every unit of audio', () => {
  const price = { audioHour: 360_000_000_000_000n, keytermHour: 5n, character: 7n, utf8Byte: 9n, request: 0n }
  const table = { acme: [{ ...model, prices: [{ fromMs: 0, price }] }] }
  expect(read(renderPriceList(table))).toEqual(table)
})

test('a list that was stored with prices of a million milliseconds has them by the hour', () => {
  const line = {
    provider: 'acme',
    ...model,
    prices: [{ fromMs: 0, price: { audioMillisecond: '100000000' } }],
  }
  // 0.1 USD for 1,000 seconds are 0.36 for an hour.
  expect(read(JSON.stringify(line))['acme']?.[0]?.prices[0]?.price).toEqual({
    audioHour: 360_000_000_000_000n,
  })
})
