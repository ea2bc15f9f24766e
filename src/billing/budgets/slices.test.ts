import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { creditsBudget } from './budget-ids.ts'
import { Slice } from './slices.ts'

function sliceOf(granted: bigint): Slice {
  const budget = creditsBudget('org_a')
  return new Slice({ leaseId: 'lease_1', budget, granted, nowMs: 0, grantUntilMs: 1_000, recallSeenMs: 0 })
}

test('a slice grants what it has, until its time is over', () => {
  const slice = sliceOf(100n)
  expect(slice.canGrant(100n, 999)).toBe(true)
  expect(slice.canGrant(101n, 999)).toBe(false)
  expect(slice.canGrant(1n, 1_000)).toBe(false)
  slice.lose()
  expect(slice.canGrant(0n, 0)).toBe(false)
})

test('a slice never grants more than its amount, and accounts for every nanocredit, whatever happens', () => {
  const action = fc.record({
    kind: fc.constantFrom('grant', 'release', 'capture', 'revert'),
    amount: fc.bigInt({ min: 0n, max: 60n }),
  })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const slice = sliceOf(100n)
      const holds: bigint[] = []
      let grantedInRow = 100n
      for (const { kind, amount } of actions) {
        if (kind === 'grant') {
          if (!slice.canGrant(amount, 0)) continue
          slice.grant(amount, 0)
          holds.push(amount)
          continue
        }
        const held = holds.shift()
        if (held === undefined) continue
        if (kind === 'release') slice.release(held, 0)
        else {
          const { fromFree, excess } = slice.reserveExcess(held, amount)
          expect(slice.free >= 0n).toBe(true)
          if (kind === 'capture') {
            slice.settle({ amount: held, cost: amount, excess }, 0)
            grantedInRow += excess
          } else {
            slice.returnExcess(fromFree, excess)
            holds.push(held)
          }
        }
        expect(slice.granted).toBe(grantedInRow)
        expect(slice.held).toBe(holds.reduce((sum, one) => sum + one, 0n))
        expect(slice.captured + slice.held <= slice.granted).toBe(true)
      }
    }),
  )
})

test('a slice grows by some holds, less as the budget empties, and by nothing when few holds are left', () => {
  expect(Slice.growth(undefined, 1_000_000n, 10n)).toBe(160n)
  expect(Slice.growth(undefined, 800n, 10n)).toBe(100n)
  expect(Slice.growth(undefined, 80n, 10n)).toBe(10n)
  expect(Slice.growth(undefined, 79n, 10n)).toBe(0n)
})

test('a slice that was used up at once grows by more the next time', () => {
  const slice = sliceOf(10n)
  slice.grant(10n, 0)
  const before = Slice.growth(slice, 10_000_000n, 10n)
  slice.grow(100n, 100, 1_000)
  slice.grow(100n, 200, 1_000)
  expect(Slice.growth(slice, 10_000_000n, 10n)).toBe(before * 4n)
})
