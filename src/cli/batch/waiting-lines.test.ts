import { expect, test } from 'bun:test'
import { describeWaiting, readWaiting, summariseWaiting } from './waiting-lines.ts'

const cause = {
  type: 'provider_failed',
  message: 'The provider failed to answer.',
  items: 3,
  since: 1_795_334_718,
  next_try_at: 1_795_334_724,
}

test('shows for each cause the number of waiting items, the reason, and the begin and end of the wait', () => {
  const other = {
    ...cause,
    type: 'no_healthy_endpoint',
    message: 'No.',
    items: 1,
    next_try_at: 1_795_334_720,
  }
  const batch = { headrace_metadata: { waiting: { ...cause, items: 4, causes: [cause, other] } } }
  const waiting = readWaiting(batch)
  expect(waiting.map(describeWaiting)).toEqual([
    '3 items wait for provider_failed since 2026-11-22 08:05:18, tried next at 2026-11-22 08:05:24 (UTC): The provider failed to answer.',
    '1 item waits for no_healthy_endpoint since 2026-11-22 08:05:18, tried next at 2026-11-22 08:05:20 (UTC): No.',
  ])
  expect(summariseWaiting(waiting)).toBe(', 4 waiting, next try 08:05:20')
})

test('a batch that waits as a whole has only its message, and a batch that moves has none', () => {
  const waiting = readWaiting({
    headrace_metadata: { waiting: { type: 'payment_required', message: 'Pay.' } },
  })
  expect([waiting.map(describeWaiting), summariseWaiting(waiting)]).toEqual([['Pay.'], ''])
  expect([readWaiting({}), summariseWaiting([])]).toEqual([[], ''])
})
