import { describe, expect, test } from 'bun:test'
import { at, say, simulatorForTests } from './testing.ts'

const simulator = simulatorForTests()
const path = '/chat/completions'

describe('the admin endpoint', () => {
  test('names the programs that make speech and transcriptions', async () => {
    const health = await simulator.admin('health')
    expect(health['status']).toBe('ok')
    expect(['espeak-ng', 'tone']).toContain(String(health['speech']))
    expect(['pocketsphinx', 'scripted']).toContain(String(health['transcription']))
  })

  test('shows what reached a mount: headers, body, model and outcome', async () => {
    await simulator.post(path, { body: say('item-1'), mount: 'seen', key: 'key-of-caller' })
    const counters = await simulator.admin('counters?mount=seen')
    expect(counters).toMatchObject({
      mount: 'seen',
      requests: 1,
      in_flight: 0,
      in_flight_max: 1,
      by_path: { '/v1/chat/completions': 1 },
      by_model: { 'gpt-4o-mini': 1 },
    })
    expect(at(counters, 'last_requests.0')).toMatchObject({
      number: 1,
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer key-of-caller' },
      model: 'gpt-4o-mini',
      outcome: 200,
      body_bytes: JSON.stringify(say('item-1')).length,
    })
    expect(JSON.parse(String(at(counters, 'last_requests.0.body')))).toEqual(say('item-1'))
  })

  test('applies a fault by a substring of the body, a given number of times', async () => {
    const rule = { match: { body_contains: 'item-17' }, fault: 'status=500', times: 1 }
    await simulator.admin('faults?mount=items', [rule])
    const statuses: number[] = []
    for (const text of ['item-16', 'item-17', 'item-17']) {
      statuses.push((await simulator.post(path, { body: say(text), mount: 'items' })).status)
    }
    expect(statuses).toEqual([200, 500, 200])
    const listed = await simulator.admin('faults?mount=items')
    expect(at(listed, 'rules.0')).toMatchObject({ fault: 'status=500', matched: 2, struck: 1 })
  })

  test('the header of a request wins over the rules', async () => {
    await simulator.admin('faults?mount=both', [{ fault: 'status=500,no_rate_limits' }])
    const answer = await simulator.post(path, { body: say('x'), mount: 'both', fault: 'status=503' })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBeNull()
  })

  test('changes settings of one mount', async () => {
    const changed = await simulator.admin('settings', { mount: 'loose', strict: false })
    expect(changed).toMatchObject({ mount: 'loose', strict: false, transcription: 'auto' })
    const body = say('x', { unknown_member: 1 })
    expect((await simulator.post(path, { body, mount: 'loose' })).status).toBe(200)
    expect((await simulator.post(path, { body, mount: 'tight' })).status).toBe(400)
  })

  test('forgets one mount or all of them', async () => {
    await simulator.admin('faults', { mount: 'old', rules: [{ fault: 'status=500' }] })
    await simulator.post(path, { body: say('x'), mount: 'old' })
    await simulator.post(path, { body: say('x'), mount: 'kept' })
    await simulator.admin('reset?mount=old', {})
    expect(at(await simulator.admin('counters?mount=old'), 'requests')).toBe(0)
    expect((await simulator.post(path, { body: say('x'), mount: 'old' })).status).toBe(200)
    expect(at(await simulator.admin('counters?mount=kept'), 'requests')).toBe(1)
    await simulator.admin('reset', {})
    expect(at(await simulator.admin('counters?mount=kept'), 'requests')).toBe(0)
  })

  test.each([
    ['faults', [{ fault: 'explode' }], 'Unknown fault'],
    ['faults', '{', 'not JSON'],
    ['settings', { strict: 'yes' }, 'strict'],
    ['nowhere', {}, 'No such admin route'],
  ])('refuses a bad call to %s and says why', async (route, body, reason) => {
    const init = { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }
    const response = await fetch(`${simulator.url()}/admin/${route}`, init)
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(await response.text()).toContain(reason)
  })

  test('keeps only the last requests', async () => {
    for (let index = 0; index < 205; index++)
      await simulator.post(path, { body: say(`n${index}`), mount: 'many' })
    const counters = await simulator.admin('counters?mount=many')
    expect(counters['last_requests']).toHaveLength(200)
    expect(at(counters, 'last_requests.0.number')).toBe(6)
    expect(counters['requests']).toBe(205)
  })
})

test('the same seed draws the same latencies and faults', async () => {
  const rules = [{ fault: 'status=503', probability: 0.3 }]
  const runs: string[] = []
  for (let run = 0; run < 2; run++) {
    await simulator.admin('reset?mount=seeded', {})
    await simulator.admin('faults?mount=seeded', rules)
    const texts = Array.from({ length: 40 }, (_, index) => `item-${index}`)
    const answers = await Promise.all(
      texts.map((text) => simulator.post(path, { body: say(text), mount: 'seeded' })),
    )
    runs.push(answers.map((answer) => answer.status).join(' '))
  }
  expect(runs[0]).toContain('503')
  expect(runs[0]).toContain('200')
  expect(runs[0]).toBe(String(runs[1]))
})
