import { afterAll, expect, test } from 'bun:test'
import { startTestGateway } from '../support/gateway.ts'

/** A disk this slow makes an answer that does not wait for its capture arrive long before it. */
const fsyncDelayMs = 250

const slow = await startTestGateway({ hooks: { writeLog: () => undefined, faults: { fsyncDelayMs } } })
afterAll(() => slow.stop())

async function chargeOf(response: Response): Promise<unknown> {
  const { status } = await slow.get(`/generation?id=${response.headers.get('x-generation-id') ?? ''}`)
  return status
}

const chat = { model: 'openai/gpt-4o-mini', max_tokens: 5, messages: [{ role: 'user', content: 'Hello.' }] }

test('a whole answer is there only when its charge is', async () => {
  const response = await slow.request('/chat/completions', { method: 'POST', body: chat })
  await response.text()
  expect([response.status, await chargeOf(response)]).toEqual([200, 200])
})

test('a stream whose answer was whole already is there only when its charge is', async () => {
  const response = await slow.request('/chat/completions', {
    method: 'POST',
    body: { ...chat, stream: true },
  })
  await response.text()
  expect([response.status, await chargeOf(response)]).toEqual([200, 200])
})

test('a stream of pieces ends only when its charge is there', async () => {
  await slow.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'tokens=4,chunk_delay=20' }])
  const response = await slow.request('/chat/completions', {
    method: 'POST',
    body: { ...chat, stream: true },
  })
  expect(await response.text()).toEndWith('data: [DONE]\n\n')
  expect([response.status, await chargeOf(response)]).toEqual([200, 200])
})

test('speech ends only when its charge is there', async () => {
  await slow.admin('faults', [{ match: { path: '/audio/speech' }, fault: 'tone' }])
  const response = await slow.request('/audio/speech', {
    method: 'POST',
    body: { model: 'openai/tts-1', input: 'Hello.', voice: 'alloy' },
  })
  expect((await response.bytes()).byteLength).toBeGreaterThan(0)
  expect([response.status, await chargeOf(response)]).toEqual([200, 200])
})
