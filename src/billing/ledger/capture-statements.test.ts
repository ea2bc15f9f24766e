import { expect, test } from 'bun:test'
import { captureRowOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { Price } from '../../canonical/usage.ts'
import { toStoredPrice } from './capture-row.ts'
import { insertCapturePostings, insertPrices, insertUsages, toWhole } from './capture-repository.ts'

test('an amount is sent to the database as a number while a number is exact, and as a bigint beyond', () => {
  const most = 9_007_199_254_740_991n
  expect([0n, -5n, most, -most, most + 1n, -most - 1n].map(toWhole)).toEqual([
    0,
    -5,
    Number(most),
    -Number(most),
    most + 1n,
    -most - 1n,
  ])
})

test('a price has one id, made from its content', () => {
  const price: Price = { inputToken: 150n, request: 0n }
  const { priceId, json } = toStoredPrice(price)
  expect(JSON.parse(json)).toEqual({ inputToken: '150', request: '0' })
  expect(toStoredPrice({ ...price }).priceId).toBe(priceId)
  expect(toStoredPrice({ ...price, request: 1n }).priceId).not.toBe(priceId)
})

eachDatabase((name, _open, { openFresh }) => {
  test('amounts of every size are stored as whole numbers and read back to the last digit', async () => {
    const { database } = await openFresh()
    const amounts = [1n, 2_147_483_648n, 9_007_199_254_740_991n, 9_007_199_254_740_993n]
    const rows = amounts.map((amount, index) => captureRowOf(`gen-${index}`, amount))
    const postings = insertCapturePostings(rows)
    const usages = insertUsages(rows.map((row) => ({ row, held: row.costNanocredits })))
    await database.commit({ name: 'test', statements: postings === null ? [] : [usages, postings] })
    expect(
      await database.query('select cost_nanocredits, held_nanocredits from usages order by cost_nanocredits'),
    ).toEqual(amounts.map((amount) => ({ cost_nanocredits: amount, held_nanocredits: amount })))
    expect(
      await database.query('select amount_nanocredits from postings order by amount_nanocredits'),
    ).toEqual(
      [...amounts.map((amount) => -amount).toReversed(), ...amounts].map((amount_nanocredits) => ({
        amount_nanocredits,
      })),
    )
    const typeOf = name === 'sqlite' ? 'typeof(amount_nanocredits)' : `'integer'`
    expect(await database.query(`select distinct ${typeOf} as type from postings`)).toEqual([
      { type: 'integer' },
    ])
  })

  test('a price is written once, however many calls use it, and every usage names its own', async () => {
    const { database } = await openFresh()
    const prices: Price[] = [{ inputToken: 1n }, { inputToken: 2n }, { inputToken: 1n }]
    for (const round of [0, 1]) {
      const rows = prices.map((price, index) => captureRowOf(`gen-${round}-${index}`, 1n, { price }))
      const statements = [insertPrices(rows), insertUsages(rows.map((row) => ({ row, held: 0n })))]
      await database.commit({ name: 'test', statements })
    }
    expect(await database.query('select count(*) as count from prices')).toEqual([{ count: 2 }])
    expect(
      await database.query(
        'select price_json from usages join prices on prices.price_id = usages.price_id order by generation_id limit 3',
      ),
    ).toEqual(['1', '2', '1'].map((inputToken) => ({ price_json: JSON.stringify({ inputToken }) })))
  })
})
