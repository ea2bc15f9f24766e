import { expect, test } from 'bun:test'
import type { LaneName } from '../../canonical/batch.ts'
import { joinShares, laneOfAll, type ResolvedShare } from './mixed-lanes.ts'

/** The items of a model that would have these lanes, the first of them alone, at these prices. */
function shareOf(model: string, prices: Partial<Record<LaneName, bigint>>, held: LaneName): ResolvedShare {
  const lanes = Object.keys(prices) as LaneName[]
  const offers = lanes.map((lane) => ({
    lane,
    estimate: prices[lane] ?? 0n,
    worstCase: 10n * (prices[lane] ?? 0n),
  }))
  const [lane = 'emulated'] = lanes
  const resolved = { endpointIds: [model], providerSlug: `at-${model}`, lane, heldLane: held, offers: [] }
  return { model, items: 7, resolved, offers }
}

test('models that agree have their lane, jobs run what they can, and other mixtures run live', () => {
  expect(laneOfAll(['flex', 'flex'])).toBe('flex')
  expect(laneOfAll(['native', 'native'])).toBe('native')
  expect(laneOfAll(['emulated', 'native'])).toBe('native')
  expect(laneOfAll(['flex', 'native', 'emulated'])).toBe('native')
  expect(laneOfAll(['flex', 'emulated'])).toBe('emulated')
})

test('a batch sets aside and costs the sum of its models, each in the lane that it has there', () => {
  const jobs = shareOf('a', { native: 50n, emulated: 100n }, 'emulated')
  const alone = shareOf('b', { emulated: 3n }, 'emulated')
  expect(joinShares([jobs, alone])).toEqual({
    models: [
      { model: 'a', items: 7, lane: 'native' },
      { model: 'b', items: 7, lane: 'emulated' },
    ],
    lane: 'native',
    providerSlug: null,
    estimate: 103n,
    worstCase: 1_030n,
    offers: [
      { lane: 'native', estimate: 53n, worstCase: 530n },
      { lane: 'emulated', estimate: 103n, worstCase: 1_030n },
    ],
  })
})

test('a lane that one of the models cannot have is no offer, and a model alone has what it would have', () => {
  const flexible = shareOf('a', { flex: 50n, emulated: 100n }, 'emulated')
  const alone = shareOf('b', { emulated: 3n }, 'emulated')
  expect(joinShares([flexible, alone]).offers.map(({ lane }) => lane)).toEqual(['emulated'])
  expect(joinShares([flexible])).toMatchObject({
    lane: 'flex',
    providerSlug: 'at-a',
    estimate: 100n,
    offers: [
      { lane: 'flex', estimate: 50n },
      { lane: 'emulated', estimate: 100n },
    ],
  })
})
