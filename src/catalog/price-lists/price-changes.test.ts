import { expect, test } from 'bun:test'
import type { NameRule, TableModel } from '../prices/price-table.ts'
import { comparePrices } from './price-changes.ts'

const model = (id: string, match: NameRule, usd: number): TableModel => ({
  id,
  upstream: null,
  name: null,
  contextLength: null,
  match,
  prices: [{ fromMs: 0, price: { inputToken: BigInt(usd * 1e9) } }],
})
const compare = (before: TableModel[], after: TableModel[]) => {
  const { changed, added, removed, doubts } = comparePrices({ acme: before }, { acme: after }, 1)
  const shown = (changes: typeof changed) =>
    changes.map(({ model: name, before: old, after: young }) => [
      name,
      old === null ? null : Number(old) / 1e9,
      young === null ? null : Number(young) / 1e9,
    ])
  return { changed: shown(changed), added: shown(added), removed: shown(removed), doubts }
}

const large = model('large', { or: [{ equals: 'large' }, { equals: 'large-2026' }] }, 2)
const small = model('small', { equals: 'small' }, 1)

test('a model with several names is compared once', () => {
  expect(compare([large, small], [model('large', large.match, 3), small])).toEqual({
    changed: [['acme/large', 2, 3]],
    added: [],
    removed: [],
    doubts: [],
  })
})

test('a name that another model’s rule takes gets that model’s price, and the change is shown', () => {
  const greedy = model('a', { starts_with: 'la' }, 0.001)
  const { changed, added, doubts } = compare([large, small], [greedy, large, small])
  expect(changed).toEqual([
    ['acme/large', 2, 0.001],
    ['acme/large-2026', 2, 0.001],
  ])
  expect(added).toEqual([['acme/a', null, 0.001]])
  expect(doubts).toEqual([
    'acme/large: input goes from 2 to 0.001 USD',
    'acme/large-2026: input goes from 2 to 0.001 USD',
  ])
})

test('a name that gains or loses its price is shown', () => {
  const renamed = model('large', { or: [{ equals: 'large' }, { equals: 'large-2027' }] }, 2)
  expect(compare([large], [renamed])).toEqual({
    changed: [],
    added: [['acme/large-2027', null, 2]],
    removed: [['acme/large-2026', 2, null]],
    doubts: [],
  })
})

test('of two models with one id the first counts, as it does for a call', () => {
  expect(compare([large], [large, model('large', large.match, 0.001)]).changed).toEqual([])
})
