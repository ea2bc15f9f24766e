import { expect, test } from 'bun:test'
import { createDescriptors, descriptorLookMs } from './descriptors.ts'

function world(limit: number | null) {
  const state = { used: 20, nowMs: 0, looks: 0 }
  const descriptors = createDescriptors({
    limit,
    count() {
      state.looks += 1
      return state.used
    },
    nowMs: () => state.nowMs,
  })
  return { state, descriptors }
}

test('calls that have not connected yet count with the descriptors that they will use', () => {
  const { state, descriptors } = world(256)
  let running = 0
  while (running < 1_000 && descriptors.admit(running)) running += 1
  // 224 are for calls and what is used beside them; a call takes two.
  expect(running).toBeLessThanOrEqual((224 - 20) / 2)
  expect(running).toBeGreaterThan(80)
  expect(state.looks).toBeLessThan(5)
})

test('idle connections take room as well, and give it back', () => {
  const { state, descriptors } = world(256)
  state.used = 250
  expect(descriptors.admit(0)).toBe(false)
  state.used = 20
  state.nowMs += descriptorLookMs
  expect(descriptors.admit(0)).toBe(true)
})

test('with a large limit open descriptors are counted rarely, with an unknown limit never', () => {
  const large = world(1_000_000)
  for (let calls = 0; calls < 100_000; calls += 1) expect(large.descriptors.admit(100)).toBe(true)
  expect([large.state.looks, large.descriptors.isSmall]).toEqual([2, false])
  const unknown = world(null)
  expect([unknown.descriptors.admit(1e9), unknown.descriptors.areUsedUp(), unknown.state.looks]).toEqual([
    true,
    false,
    0,
  ])
})

test('a process that cannot even count has none left', () => {
  const descriptors = createDescriptors({
    limit: 64,
    count: (() => {
      let calls = 0
      return () => {
        calls += 1
        if (calls > 1) throw new Error('EMFILE')
        return 10
      }
    })(),
    nowMs: () => 0,
  })
  expect([descriptors.areUsedUp(), descriptors.admit(0)]).toEqual([true, false])
})
