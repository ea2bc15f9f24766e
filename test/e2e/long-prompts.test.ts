import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway } from '../support/gateway.ts'

const model = 'openai/gpt-5.4'
const gateway = await startTestGateway({
  credits: '100',
  providers: (url) => [
    {
      preset: 'openai',
      base_url: `${url}/v1`,
      api_key: 'a-key-of-the-simulator',
      weight: 1,
      models: [],
    },
  ],
})
afterAll(() => gateway.stop())

/** Asks with so many tokens of text, of which the simulator counts one for four bytes. */
async function ask(textTokens: number, more: Record<string, unknown> = {}) {
  const messages = [{ role: 'user', content: 'word'.repeat(textTokens) }]
  return gateway.post('/chat/completions', { model, messages, max_completion_tokens: 10, ...more })
}

// OpenAI's prices of the model in USD per million tokens: 2.50 and 15; above 272,000 tokens of input 5 and 22.50.
test('a call is billed by the length of its own prompt, to the token', async () => {
  const frame = Number(at((await ask(1)).json, 'usage.prompt_tokens')) - 1
  for (const { inputTokens, input, output } of [
    { inputTokens: 271_999, input: 2.5, output: 15 },
    { inputTokens: 272_000, input: 5, output: 22.5 },
  ]) {
    const { status, json } = await ask(inputTokens - frame)
    expect(status).toBe(200)
    expect(at(json, 'usage.prompt_tokens')).toBe(inputTokens)
    const outputTokens = Number(at(json, 'usage.completion_tokens'))
    expect(outputTokens).toBeGreaterThan(0)
    const cost = (inputTokens * input + outputTokens * output) / 1e6
    expect(at(json, 'usage.cost')).toBeCloseTo(cost, 9)
  }
})

test('a limit on the price counts what the prompt at hand costs', async () => {
  const provider = { max_price: { prompt: 3 } }
  expect((await ask(10, { provider })).status).toBe(200)
  const refused = await ask(272_000, { provider })
  expect(refused.status).toBe(404)
  expect(at(refused.json, 'error.message')).toContain('provider.max_price')
})
