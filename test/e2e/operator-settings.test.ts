import { afterAll, beforeAll, expect, test } from 'bun:test'
import { prepareGateway } from '../story/real-gateway.ts'

const key = 'sk-hr-v1-0123456789abcdef0123456789abcdef'
/** What the documentation promises. */
const followMs = 2_000
/** A request that began before the time was over may be answered after it, on a busy machine. */
const graceMs = 5_000
const pollMs = 25

const gateway = prepareGateway()

beforeAll(async () => {
  await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
})
afterAll(() => gateway.remove())

function chat(): Promise<Response> {
  return fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'openai/gpt-4o-mini',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Say hello' }],
    }),
  })
}

/** Runs a command that has to succeed, and gives what it wrote to both. */
async function headrace(...args: string[]): Promise<string> {
  const { code, output, errors } = await gateway.run(args)
  expect({ args, code, errors: code === 0 ? '' : errors }).toEqual({ args, code: 0, errors: '' })
  return output + errors
}

/** Calls until the status is there; the time is counted from the end of the command. */
async function expectStatusSoon(...statuses: number[]): Promise<string> {
  const startMs = performance.now()
  let last: Response
  do {
    last = await chat()
    if (statuses.includes(last.status)) return last.text()
    await Bun.sleep(pollMs)
  } while (performance.now() - startMs < followMs + graceMs)
  throw new Error(`still ${last.status} and not ${statuses.join(' or ')}: ${await last.text()}`)
}

test('an account that becomes prepaid is refused until it has credits, and its books balance', async () => {
  expect((await chat()).status).toBe(200)
  expect(await headrace('org', 'set', 'mode', 'prepaid')).toContain('every call is refused with 402')
  await expectStatusSoon(402)
  await headrace('credits', 'add', '5')
  await expectStatusSoon(200)
  // Calls of the two seconds in which the gateway did not know yet passed the credits by.
  await headrace('org', 'set', 'mode', 'prepaid')
  expect(await headrace('doctor')).toContain('✓ money')
})

test('a rate is followed, and its end', async () => {
  await headrace('org', 'set', 'requests-per-minute', '1')
  await expectStatusSoon(429)
  await headrace('org', 'set', 'requests-per-minute', 'none')
  await expectStatusSoon(200)
})

test('what providers and models are allowed is followed', async () => {
  for (const [name, value, open] of [
    ['allowed-providers', 'groq', 'all'],
    ['ignored-models', 'openai/gpt-4o-mini', 'none'],
    ['allowed-models', 'openai/gpt-4o', 'all'],
    ['ignored-providers', 'sandbox', 'none'],
  ] as const) {
    const shown = await headrace('org', 'set', name, value)
    expect(shown).toContain(value)
    const refusal = await expectStatusSoon(403, 404)
    expect(refusal).toContain('"error"')
    await headrace('org', 'set', name, open)
    await expectStatusSoon(200)
  }
}, 60_000)

test("a key's own rules narrow its organization's", async () => {
  const listed = await headrace('keys')
  const id = /^(key_\S+) +inference/m.exec(listed)?.[1] ?? ''
  await headrace('keys', 'set', id, '--allowed-models', 'openai/gpt-4o')
  await expectStatusSoon(403, 404)
  expect(await headrace('keys')).toContain('allowed-models=openai/gpt-4o')
  await headrace('keys', 'set', id, '--allowed-models', 'all', '--requests-per-minute', '1')
  await expectStatusSoon(429)
})
