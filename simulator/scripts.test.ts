import { describe, expect, test } from 'bun:test'
import type { JsonObject } from './json.ts'
import { ask, at, eventsOf, namedEventsOf, respondTo, say, simulatorForTests } from './testing.ts'

const simulator = simulatorForTests()
const tool = { name: 'Read', input_schema: { type: 'object', properties: {} } }
const reading = {
  thinking: 'I should look.',
  text: 'Let me look.',
  tool_calls: [{ name: 'Read', arguments: { path: 'a.ts' } }],
}
const turns = [reading, { text: 'Done.' }]

async function play(scripts: unknown, mount: string): Promise<JsonObject> {
  return simulator.admin('scripts', { mount, scripts })
}

describe('a script', () => {
  test('is played in Messages, turn by turn as the conversation goes on', async () => {
    await play([{ turns }], 'messages')
    const body = ask('anything', { tools: [tool], thinking: { type: 'enabled', budget_tokens: 1024 } })
    const first = await simulator.post('/messages', { body, mount: 'messages' })
    expect(first.json).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'I should look.' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', name: 'Read', input: { path: 'a.ts' } },
      ],
    })
    const again = await simulator.post('/messages', { body, mount: 'messages' })
    expect(again.json['content']).toEqual(first.json['content'])
    const result = { type: 'tool_result', tool_use_id: at(first.json, 'content.2.id'), content: 'x' }
    const messages = [
      { role: 'user', content: 'anything' },
      { role: 'assistant', content: first.json['content'] },
      { role: 'user', content: [result] },
    ]
    const second = await simulator.post('/messages', {
      body: { ...body, messages, stream: true },
      mount: 'messages',
    })
    expect(
      namedEventsOf(second.text)
        .map((event) => at(event, 'delta.text') ?? '')
        .join(''),
    ).toBe('Done.')
    const { scripts } = await simulator.admin('scripts?mount=messages')
    expect(scripts).toEqual([{ match: {}, turns: 2, advance: 'history', calls: 3, played: [0, 0, 1] }])
  })

  test('is played in chat completions', async () => {
    await play([{ turns }], 'chat')
    const { json } = await simulator.post('/chat/completions', { body: say('hi'), mount: 'chat' })
    expect(at(json, 'choices.0')).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me look.',
        tool_calls: [{ type: 'function', function: { name: 'Read', arguments: '{"path":"a.ts"}' } }],
      },
    })
    const streamed = await simulator.post('/chat/completions', {
      body: say('hi', { stream: true }),
      mount: 'chat',
    })
    const finishes = eventsOf(streamed.text).flatMap((event) => at(event, 'choices.0.finish_reason') ?? [])
    expect(finishes).toEqual(['tool_calls'])
  })

  test('answers with its own text after its last turn', async () => {
    await play([{ turns: [] }], 'over')
    const { json } = await simulator.post('/chat/completions', { body: say('hi'), mount: 'over' })
    expect(at(json, 'choices.0.message.content')).toBe('The script is over.')
  })

  test('answers the conversation that has its marker, and only requests with tools if it says so', async () => {
    await play(
      [
        { match: { marker: 'TASK-1', tools: true, path: '/messages' }, turns: [{ text: 'one' }] },
        { match: { marker: 'TASK-2', model: 'claude-haiku-4-5' }, turns: [{ text: 'two' }] },
      ],
      'marked',
    )
    async function answer(text: string, more: JsonObject = {}): Promise<unknown> {
      const { json } = await simulator.post('/messages', { body: ask(text, more), mount: 'marked' })
      return at(json, 'content.0.text')
    }
    expect(await answer('Do TASK-1', { tools: [tool] })).toBe('one')
    expect(await answer('Title for TASK-1')).toContain('You said')
    expect(await answer('Do TASK-2', { model: 'claude-haiku-4-5' })).toBe('two')
    expect(await answer('Do TASK-2')).toContain('You said')
  })

  test('can advance with every call, and set its own usage and stop reason', async () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 50,
      reasoning_tokens: 20,
      cache_read_tokens: 60,
      cache_write_5m_tokens: 10,
      cache_write_1h_tokens: 5,
    }
    const given = [{ text: 'a', usage, stop_reason: 'max_tokens' }, { text: 'b' }]
    await play([{ turns: given, advance: 'call' }], 'calls')
    const first = await simulator.post('/messages', { body: ask('hi'), mount: 'calls' })
    expect(first.json).toMatchObject({
      stop_reason: 'max_tokens',
      usage: {
        input_tokens: 25,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 15,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 5 },
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 20 },
      },
    })
    const second = await simulator.post('/chat/completions', { body: say('hi'), mount: 'calls' })
    expect(at(second.json, 'choices.0.message.content')).toBe('b')
    await play([{ turns: given, advance: 'call' }], 'calls')
    const chat = await simulator.post('/chat/completions', { body: say('hi'), mount: 'calls' })
    expect(at(chat.json, 'choices.0.finish_reason')).toBe('length')
    expect(chat.json['usage']).toMatchObject({
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 15 },
      completion_tokens_details: { reasoning_tokens: 20 },
    })
  })

  test('may write arguments that are not JSON, hide thoughts, and refuse', async () => {
    const odd = { tool_calls: [{ name: 'Read', arguments: '{"path":' }], redacted_thinking: 'secret' }
    await play([{ turns: [odd, { refusal: 'No.' }], advance: 'call' }], 'odd')
    const body = ask('hi', { stream: true })
    const events = namedEventsOf((await simulator.post('/messages', { body, mount: 'odd' })).text)
    expect(events.map((event) => at(event, 'delta.partial_json') ?? '').join('')).toBe('{"path":')
    expect(at(events[1], 'content_block.type')).toBe('redacted_thinking')
    const { json } = await simulator.post('/chat/completions', { body: say('hi'), mount: 'odd' })
    expect(at(json, 'choices.0.message')).toMatchObject({ content: null, refusal: 'No.' })
  })

  test.each([
    [{ scripts: {} }, 'a list of scripts'],
    [{ scripts: [{ turns: [{ txt: 'a' }] }] }, "'scripts[0].turns[0]' has an unknown member 'txt'"],
    [{ scripts: [{ turns: [{ tool_calls: [{}] }] }] }, "'scripts[0].turns[0].tool_calls[0].name' is missing"],
    [{ scripts: [{ turns: [{ text: 1 }] }] }, 'must be a string'],
    [{ scripts: [{ turns: [{ usage: { input_tokens: 'a' } }] }] }, 'must be a whole number'],
    [{ scripts: [{ turns: [], advance: 'never' }] }, '"history" or "call"'],
    [{ scripts: [{ match: { tools: 'yes' }, turns: [] }] }, "'scripts[0].match.tools' is of the wrong type"],
  ])('%j is refused', async (body, message) => {
    const answer = await simulator.admin('scripts', body)
    expect(at(answer, 'error.message')).toContain(message)
  })
})

describe('an agent can be driven through twenty turns', () => {
  const turnsOfTask = Array.from({ length: 20 }, (_, index) => ({
    thinking: `Thought ${index}.`,
    ...(index % 5 === 0 ? { text: `Text ${index}.` } : {}),
    tool_calls: [
      { name: 'Read', arguments: { path: `${index}.ts` } },
      ...(index % 3 === 0 ? [{ name: 'Read', arguments: { path: `${index}.md` } }] : []),
    ],
  }))
  const scripts = [{ match: { marker: 'THE TASK', tools: true }, turns: [...turnsOfTask, { text: 'Done.' }] }]

  test('in Messages', async () => {
    await play(scripts, 'agent')
    const messages: JsonObject[] = [{ role: 'user', content: 'Do THE TASK' }]
    for (let turn = 0; ; turn++) {
      const thinking = { type: 'enabled', budget_tokens: 1024 }
      const body = ask('', { messages, tools: [tool], thinking })
      const { json } = await simulator.post('/messages', { body, mount: 'agent' })
      const content = json['content'] as JsonObject[]
      if (json['stop_reason'] !== 'tool_use') {
        expect([turn, at(content, '0.text')]).toEqual([20, 'Done.'])
        return
      }
      const calls = content.filter((block) => block['type'] === 'tool_use')
      const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }))
      messages.push({ role: 'assistant', content }, { role: 'user', content: results })
    }
  })

  test('in Responses', async () => {
    await play(scripts, 'agent-responses')
    const input: JsonObject[] = [{ role: 'user', content: 'Do THE TASK' }]
    const settings = {
      model: 'gpt-5.4',
      store: false,
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', name: 'Read', parameters: tool.input_schema }],
    }
    for (let turn = 0; ; turn++) {
      const { json } = await simulator.post('/responses', {
        body: respondTo(input, settings),
        mount: 'agent-responses',
      })
      const output = json['output'] as JsonObject[]
      const calls = output.filter((item) => item['type'] === 'function_call')
      input.push(...output)
      for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: 'x' })
      if (calls.length > 0) continue
      expect([turn, at(output, '0.content.0.text')]).toEqual([20, 'Done.'])
      return
    }
  })

  test('in chat completions', async () => {
    await play(scripts, 'agent-chat')
    const messages: JsonObject[] = [{ role: 'user', content: 'Do THE TASK' }]
    const tools = [{ type: 'function', function: { name: 'Read', parameters: tool.input_schema } }]
    for (let turn = 0; ; turn++) {
      const body = say('', { messages, tools })
      const { json } = await simulator.post('/chat/completions', { body, mount: 'agent-chat' })
      const message = at(json, 'choices.0.message') as JsonObject
      const calls = (message['tool_calls'] ?? []) as JsonObject[]
      messages.push(message)
      for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'x' })
      if (calls.length > 0) continue
      expect([turn, message['content']]).toEqual([20, 'Done.'])
      return
    }
  })
})
