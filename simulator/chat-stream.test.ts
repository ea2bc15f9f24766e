import { describe, expect, test } from 'bun:test'
import { at, eventsOf, say, simulatorForTests } from './testing.ts'
import type { JsonObject } from './json.ts'

const simulator = simulatorForTests()

async function stream(more: JsonObject, fault?: string): Promise<unknown[]> {
  const body = say('Say hello', { stream: true, ...more })
  const answer = await simulator.post('/chat/completions', {
    body,
    ...(fault === undefined ? {} : { fault }),
  })
  expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
  return eventsOf(answer.text)
}

const withUsage = { stream_options: { include_usage: true } }

describe('a streamed answer', () => {
  test('is the role, the content, the finish reason, and the end mark', async () => {
    const events = await stream({ max_tokens: 2 })
    expect(events.map((event) => at(event, 'choices.0.delta') ?? event)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Hell' },
      { content: 'o! Y' },
      {},
      '[DONE]',
    ])
    expect(events.map((event) => at(event, 'choices.0.finish_reason'))).toEqual([
      null,
      null,
      null,
      'length',
      undefined,
    ])
    expect(events[1]).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: 'gpt-4o-mini-2024-07-18',
      service_tier: 'default',
      system_fingerprint: expect.any(String),
      choices: [{ index: 0, delta: { content: 'Hell' }, logprobs: null, finish_reason: null }],
      obfuscation: expect.any(String),
    })
    expect(new Set(events.slice(0, -1).map((event) => at(event, 'id'))).size).toBe(1)
  })

  test('has its usage only when the request asks for it, in a separate chunk', async () => {
    const events = await stream({ max_tokens: 1, ...withUsage })
    expect(events.map((event) => at(event, 'usage'))).toEqual([
      null,
      null,
      null,
      expect.objectContaining({ prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 }),
      undefined,
    ])
    expect(at(events[3], 'choices')).toEqual([])
  })

  test('leaves the padding out when the request says so', async () => {
    const events = await stream({ stream_options: { include_obfuscation: false } })
    expect(events.some((event) => at(event, 'obfuscation') !== undefined)).toBe(false)
  })

  test('has one role and one finish reason for each choice', async () => {
    const events = await stream({ n: 2, max_tokens: 2 })
    for (const index of [0, 1]) {
      const own = events.filter((event) => at(event, 'choices.0.index') === index)
      expect(own.filter((event) => at(event, 'choices.0.delta.role') === 'assistant')).toHaveLength(1)
      expect(own.filter((event) => at(event, 'choices.0.finish_reason') !== null)).toHaveLength(1)
    }
  })

  test('has as many content chunks as tokens were asked for', async () => {
    const events = await stream(withUsage, 'tokens=50')
    expect(events.filter((event) => at(event, 'choices.0.delta.content'))).toHaveLength(50)
    expect(at(events.at(-2), 'usage.completion_tokens')).toBe(50)
  })

  test.each([
    ['missing', 0],
    ['always', 1],
    ['zero', 1],
    ['negative', 1],
    ['absurd', 1],
  ])('with usage=%s has %d usage chunks', async (mode, chunks) => {
    const events = await stream(mode === 'always' ? {} : withUsage, `usage=${mode}`)
    const counts = events
      .map((event) => at(event, 'usage.total_tokens'))
      .filter((total) => total !== undefined)
    expect(counts).toHaveLength(chunks)
    if (mode === 'zero') expect(counts).toEqual([0])
    if (mode === 'negative') expect(Number(counts[0])).toBeLessThan(0)
    if (mode === 'absurd') expect(Number(counts[0])).toBeGreaterThan(1e9)
  })

  test('with usage=with_finish carries it in the last chunk of content', async () => {
    const events = await stream(withUsage, 'usage=with_finish')
    const carrier = events.find((event) => at(event, 'usage.total_tokens') !== undefined)
    expect(at(carrier, 'choices.0.finish_reason')).toBe('stop')
  })

  test('can begin with a chunk without choices, and with shown thoughts', async () => {
    const events = await stream({}, 'empty_choices_first,reasoning=reasoning_content')
    expect(at(events[0], 'choices')).toEqual([])
    expect(at(events[2], 'choices.0.delta.reasoning_content')).toBe('The ')
  })
})

describe('streamed tool calls', () => {
  const tools = ['get_weather', 'get_time'].map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  }))
  const body = say('get_weather and get_time in Oslo', { stream: true, tools })

  async function callSteps(fault: string): Promise<unknown[]> {
    const answer = await simulator.post('/chat/completions', { body, fault })
    return eventsOf(answer.text).flatMap((event) => at(event, 'choices.0.delta.tool_calls') ?? [])
  }

  test('begin with id and name, and go on with pieces of their arguments', async () => {
    const steps = await callSteps('')
    expect(steps[0]).toEqual({
      index: 0,
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    })
    expect(steps[1]).toEqual({ index: 0, function: { arguments: '{"ci' } })
    for (const index of [0, 1]) {
      const pieces = steps
        .filter((step) => at(step, 'index') === index)
        .map((step) => at(step, 'function.arguments'))
      expect(JSON.parse(pieces.join(''))).toEqual({ city: 'Oslo' })
    }
  })

  test('can be interleaved', async () => {
    const order = (await callSteps('interleave_tools')).map((step) => at(step, 'index'))
    expect(order.slice(0, 4)).toEqual([0, 1, 0, 1])
    expect((await callSteps('')).map((step) => at(step, 'index')).slice(0, 4)).toEqual([0, 0, 0, 0])
  })
})
