import OpenAI from 'openai'
import { describe, expect, test } from 'bun:test'
import { at, eventsOf, simulatorForTests } from './testing.ts'

const simulator = simulatorForTests()
const path = '/completions'
const asked = (more: object = {}) => ({ model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello', ...more })
const text = 'Hello! You said: "Say hello". How can I help?'

describe('a completion', () => {
  test('has at most 16 tokens unless the request sets another limit', async () => {
    const { json } = await simulator.post(path, { body: asked() })
    expect(json).toMatchObject({ object: 'text_completion', model: 'gpt-3.5-turbo-instruct' })
    expect(String(json['id'])).toMatch(/^cmpl-/)
    expect(json['choices']).toEqual([{ text, index: 0, logprobs: null, finish_reason: 'stop' }])
    // Nine bytes of prompt are three tokens, 45 of text are twelve.
    expect(json['usage']).toEqual({ prompt_tokens: 3, completion_tokens: 12, total_tokens: 15 })
    const { json: cut } = await simulator.post(path, { body: asked({ max_tokens: 2 }) })
    expect(at(cut, 'choices.0')).toMatchObject({ text: 'Hello! Y', finish_reason: 'length' })
  })

  test('of several prompts has the answers in the order of the prompts, and counts answers that are not shown', async () => {
    const body = asked({ prompt: ['Say a', 'Say b'], n: 2, best_of: 3, max_tokens: 2, echo: true })
    const { json } = await simulator.post(path, { body })
    const choices = json['choices'] as { index: number; text: string }[]
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    expect(choices.map((choice) => choice.text.slice(0, 5))).toEqual(['Say a', 'Say a', 'Say b', 'Say b'])
    expect(json['usage']).toEqual({ prompt_tokens: 4, completion_tokens: 12, total_tokens: 16 })
  })

  test('takes token numbers, a stop text and logprobs', async () => {
    const { json } = await simulator.post(path, { body: asked({ prompt: [1, 2, 3] }) })
    expect(at(json, 'usage.prompt_tokens')).toBe(3)
    const body = asked({ stop: ' You', logprobs: 2, echo: true })
    const { json: told } = await simulator.post(path, { body })
    expect(at(told, 'choices.0.text')).toBe('Say helloHello!')
    const logprobs = at(told, 'choices.0.logprobs')
    expect(logprobs).toMatchObject({ tokens: ['Hell', 'o!'], text_offset: [9, 13] })
    expect(Object.keys(at(logprobs, 'top_logprobs.0') as object)).toHaveLength(2)
  })

  test('streams the same object piece by piece, with usage where it is asked for', async () => {
    const body = asked({ stream: true, stream_options: { include_usage: true } })
    const events = eventsOf((await simulator.post(path, { body })).text)
    expect(events.at(-1)).toBe('[DONE]')
    expect(events.at(-2)).toMatchObject({ choices: [], usage: { completion_tokens: 12 } })
    expect(events.at(-3)).toMatchObject({ choices: [{ text: '', finish_reason: 'stop' }], usage: null })
    const pieces = events.slice(0, -2).map((event) => at(event, 'choices.0.text'))
    expect(pieces.join('')).toBe(text)
    expect(pieces).toHaveLength(13)
  })

  test.each<[string, object, number, string | null]>([
    ['no prompt', { prompt: undefined }, 400, 'prompt'],
    ['an empty list', { prompt: [] }, 400, 'prompt'],
    ['a mixed list', { prompt: ['a', 1] }, 400, 'prompt[0]'],
    ['too many logprobs', { logprobs: 6 }, 400, 'logprobs'],
    ['best_of below n', { n: 3, best_of: 2 }, 400, 'best_of'],
    ['a stream of the best', { stream: true, best_of: 2 }, 400, 'best_of'],
    ['messages', { messages: [] }, 400, 'messages'],
    ['more than the context', { max_tokens: 4_095 }, 400, null],
    ['a model of chat', { model: 'gpt-4o-mini' }, 404, 'model'],
    ['an unknown model', { model: 'gpt-0' }, 404, null],
  ])('is refused for %s', async (_, more, status, param) => {
    const answer = await simulator.post(path, { body: asked(more) })
    expect(answer.status).toBe(status)
    expect(at(answer.json, 'error.param') ?? null).toBe(param)
  })

  test('of any model is served where the mount is a server of one’s own', async () => {
    const { json } = await simulator.post(path, { body: asked({ model: 'base' }), fault: 'any_model' })
    expect(json).toMatchObject({ model: 'base', choices: [{ text }] })
  })

  test('breaks off and fails with the same faults as other streams', async () => {
    const body = asked({ stream: true })
    const failed = eventsOf((await simulator.post(path, { body, fault: 'error_chunk=1' })).text)
    expect(failed.at(-1)).toMatchObject({ error: { type: 'server_error' } })
    const cut = simulator.post(path, { body, fault: 'cut_after=1' }).catch(() => 'broken off')
    expect(await cut).toBe('broken off')
  })

  test('is read by the official client', async () => {
    const client = new OpenAI({ apiKey: 'test-key', baseURL: `${simulator.url()}/v1`, maxRetries: 0 })
    const answer = await client.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello' })
    expect(answer.choices[0]?.text).toBe(text)
    let streamed = ''
    for await (const chunk of await client.completions.create({
      model: 'gpt-3.5-turbo-instruct',
      prompt: 'Say hello',
      stream: true,
    }))
      streamed += chunk.choices[0]?.text ?? ''
    expect(streamed).toBe(text)
  })
})
