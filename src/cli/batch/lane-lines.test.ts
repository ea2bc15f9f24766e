import { expect, test } from 'bun:test'
import { describeLanes, describeMoves } from './lane-lines.ts'

test('an estimate shows each lane that the batch could have, and nothing when there is one', () => {
  const lanes = [
    { lane: 'flex', estimate: 0.5, worst_case: 1 },
    { lane: 'emulated', estimate: 1, worst_case: 2 },
  ]
  expect(describeLanes({ lanes })).toEqual([
    '  in lane flex (where its items start) $0.5, $1 at most',
    '  in lane emulated $1, $2 at most',
  ])
  expect(describeLanes({ lanes: lanes.slice(1) })).toEqual([])
  expect(describeLanes({})).toEqual([])
})

test('a batch shows which items left their lane, and why', () => {
  const moved = [
    { from: 'flex', to: 'emulated', reason: 'deadline', items: 12 },
    { from: 'flex', to: 'emulated', reason: 'provider_timeout', items: 1 },
  ]
  expect(describeMoves({ headrace_metadata: { lane: 'flex', moved } })).toEqual([
    '12 items went from lane flex to emulated: deadline',
    '1 item went from lane flex to emulated: provider_timeout',
  ])
  expect(describeMoves({ headrace_metadata: { lane: 'flex' } })).toEqual([])
})
