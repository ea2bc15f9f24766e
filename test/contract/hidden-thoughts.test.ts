import { afterAll, beforeEach, expect, test } from 'bun:test'
import { models, requestOf, startLab } from '../fidelity/lab.ts'
import { callers, type Caller, type Json } from '../fidelity/table.ts'
import { at, startTestGateway, type Answer } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Contract: `reasoning.exclude` and `include_reasoning: false` leave a model's thoughts out of its answer, and
// do not ask a model to think. A provider of each format thinks here before it answers and before it calls a
// tool.

const lab = await startLab()
afterAll(() => lab.stop())

const thought = 'zebra'
const seal = 'c2VhbGVkLXplYnJh'

const called = { name: 'look', arguments: '{}' }
const replies = {
  chat: {
    message: {
      reasoning: thought,
      reasoning_details: [
        { type: 'reasoning.text', text: thought, index: 0 },
        { type: 'reasoning.encrypted', data: seal, index: 1 },
      ],
      content: 'Yes.',
      tool_calls: [{ id: 'c1', type: 'function', function: called }],
    },
    finish: 'tool_calls',
  },
  responses: {
    output: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: thought }],
        encrypted_content: seal,
      },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Yes.', annotations: [], logprobs: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', status: 'completed', ...called },
    ],
  },
  messages: {
    content: [
      { type: 'thinking', thinking: thought, signature: seal },
      { type: 'redacted_thinking', data: seal },
      { type: 'text', text: 'Yes.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
    ],
    stop: { stop_reason: 'tool_use' },
  },
  gemini: {
    parts: [
      { text: thought, thought: true },
      { text: 'Yes.' },
      { functionCall: { id: 'c1', name: 'look', args: {} }, thoughtSignature: seal },
    ],
    finish: 'STOP',
  },
}
beforeEach(() => lab.answer(replies))

const asked = [
  models.chat,
  models.chatThatPasses,
  models.responses,
  models.messages,
  models.messagesNewest,
  models.gemini,
] as const
const wishes: readonly Json[] = [{ reasoning: { exclude: true } }, { include_reasoning: false }]
const toolsOf: Readonly<Record<Caller, Json>> = {
  chat: { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] },
  responses: { tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }] },
  messages: { tools: [{ name: 'look', input_schema: { type: 'object' } }] },
}

/** The text of an answer, whole or joined from the frames of its stream. */
function toldIn({ text }: Answer): { words: string; calls: number; isThought: boolean } {
  const frames = text.startsWith('{')
    ? [JSON.parse(text) as Json]
    : text
        .split('\n')
        .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as Json] : []))
  const all = JSON.stringify(frames.map(withoutSettings))
  // A stream may split a word.
  const said = [...all.matchAll(/"(?:content|text|delta|reasoning|summary)":"([^"]*)"/g)]
    .map(([, piece]) => piece)
    .join('')
  return {
    words: said.includes('Yes.') ? 'Yes.' : said,
    calls: all.includes('"look"') ? 1 : 0,
    isThought:
      /zebra|c2VhbGVk|"thinking"|thinking_delta|signature|"reasoning_details"|"type":"reasoning|reasoning_summary/.test(
        said + all,
      ),
  }
}

/** A response repeats members of its request. */
function withoutSettings(frame: Json): Json {
  const { reasoning: _said, include: _included, usage: _usage, headrace_metadata: _told, ...rest } = frame
  const { response } = rest
  return response === undefined ? rest : { ...rest, response: withoutSettings(response as Json) }
}

for (const caller of callers) {
  for (const stream of [false, true]) {
    test(`no thought reaches a ${caller} caller who wants none, ${stream ? 'streamed' : 'whole'}`, async () => {
      for (const model of asked) {
        for (const wish of wishes) {
          const answer = await lab.ask(
            caller,
            requestOf(caller, model, { ...toolsOf[caller], ...wish, stream }),
          )
          const told = [model, wish, answer.status, toldIn(answer)]
          expect(told).toEqual([model, wish, 200, { words: 'Yes.', calls: 1, isThought: false }])
        }
      }
    })
  }

  test(`a ${caller} caller who wants to see no thoughts asks no model to think`, async () => {
    for (const model of asked) {
      for (const wish of wishes) {
        const { status, json } = await lab.ask(caller, requestOf(caller, model, wish))
        expect([model, wish, status, at(json, 'headrace_metadata.dropped') ?? []]).toEqual([
          model,
          wish,
          200,
          [],
        ])
        const [sent = {}] = lab.seen
        for (const name of [
          'reasoning',
          'reasoning_effort',
          'include_reasoning',
          'thinking',
          'output_config',
        ])
          expect([model, wish, sent[name]]).toEqual([model, wish, undefined])
        expect(at(sent, 'generationConfig.thinkingConfig')).toBeUndefined()
      }
    }
  })
}

test('a model thinks at the effort that its caller wants, without showing the thoughts', async () => {
  const { status } = await lab.ask(
    'chat',
    requestOf('chat', models.messages, { max_tokens: 9000, reasoning: { effort: 'low', exclude: true } }),
  )
  expect([status, at(lab.seen[0], 'thinking.type')]).toEqual([200, 'enabled'])
  const answer = await lab.ask(
    'responses',
    requestOf('responses', models.responses, { reasoning: { effort: 'low', exclude: true } }),
  )
  expect([answer.status, lab.seen[0]?.['reasoning']]).toEqual([200, { effort: 'low' }])
})

test('a messages caller who wants no words of thoughts gives back those of a host that has only words', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
  lab.answer({
    ...replies,
    chat: {
      message: { reasoning_content: thought, content: 'Yes.', tool_calls: [call] },
      finish: 'tool_calls',
    },
  })
  const thinking = { type: 'adaptive', display: 'omitted' }
  for (const model of [models.chat, models.chatThatPasses]) {
    for (const stream of [false, true]) {
      const ask = requestOf('messages', model, { ...toolsOf.messages, thinking, stream })
      const answer = await lab.ask('messages', ask)
      expect([model, stream, answer.status]).toEqual([model, stream, 200])
      expect(answer.text).not.toContain(thought)
      const shown = contentOf(answer)
      expect([model, stream, shown.map(({ type }) => type)]).toEqual([
        model,
        stream,
        ['thinking', 'text', 'tool_use'],
      ])
      const [first] = shown
      expect([first?.['thinking'], typeof first?.['signature']]).toEqual(['', 'string'])
      const result = { type: 'tool_result', tool_use_id: shown[2]?.['id'], content: 'Found.' }
      const messages = [
        ...(ask['messages'] as Json[]),
        { role: 'assistant', content: shown },
        { role: 'user', content: [result] },
      ]
      await lab.ask('messages', { ...ask, messages })
      // A host as strict as OpenAI takes no thoughts.
      const isGiven = model === models.chatThatPasses
      expect([model, stream, JSON.stringify(lab.seen).includes(thought)]).toEqual([model, stream, isGiven])
    }
  }
})

/** The blocks of a message, whole or as a client of a stream joins them. */
function contentOf({ text }: Answer): Json[] {
  if (text.startsWith('{')) return (JSON.parse(text) as { content: Json[] }).content
  const blocks: Json[] = []
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const frame = JSON.parse(line.slice(6)) as Json
    const index = Number(frame['index'])
    if (frame['type'] === 'content_block_start') blocks[index] = frame['content_block'] as Json
    const delta = frame['delta'] as Json | undefined
    if (frame['type'] === 'content_block_delta' && delta?.['type'] === 'signature_delta')
      blocks[index] = { ...blocks[index], signature: delta['signature'] }
  }
  return blocks
}

test('a stream without its thoughts is numbered without gaps', async () => {
  const numbersOf = (answer: Answer, type: string, name: string) =>
    answer.text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as Json)
      .filter((frame) => frame['type'] === type)
      .map((frame) => frame[name])
  for (const model of asked) {
    const [wish = {}] = wishes
    const ask = (caller: Caller) =>
      lab.ask(caller, requestOf(caller, model, { ...toolsOf[caller], ...wish, stream: true }))
    const blocks = numbersOf(await ask('messages'), 'content_block_start', 'index')
    expect([model, blocks]).toEqual([model, [0, 1]])
    const items = numbersOf(await ask('responses'), 'response.output_item.added', 'output_index')
    expect([model, items]).toEqual([model, [0, 1]])
  }
})

test('hidden thoughts are paid even when the provider counts nothing', async () => {
  const upstream = startScriptedUpstream()
  const gateway = await startTestGateway({
    providers: () => [
      {
        preset: 'custom',
        id: 'acme',
        base_url: `${upstream.url}/v1`,
        weight: 1,
        discover: false,
        models: [{ id: 'acme/any', prices: { input_per_million: '1', output_per_million: '100' } }],
      },
    ],
  })
  try {
    const words = 'the model thinks of zebras '.repeat(40)
    upstream.answer(({ body }) => {
      const identity = { id: 'c', created: 1, model: 'any' }
      const choice = { index: 0, finish_reason: 'stop' }
      const message = { role: 'assistant', reasoning_content: words, content: 'Yes.' }
      if ((JSON.parse(body) as Json)['stream'] !== true)
        return Response.json({ ...identity, object: 'chat.completion', choices: [{ ...choice, message }] })
      const chunk = { ...identity, object: 'chat.completion.chunk', choices: [{ ...choice, delta: message }] }
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    })
    const costOf = async (more: Json) => {
      const body = { model: 'acme/any', messages: [{ role: 'user', content: 'Hi.' }], ...more }
      const { status, text } = await gateway.post('/chat/completions', body)
      const cost = /"cost":([\d.e-]+)/.exec(text)?.[1]
      return { status, cost: Number(cost), isShown: text.includes('zebras') }
    }
    for (const stream of [false, true]) {
      const shown = await costOf({ stream })
      expect(shown).toMatchObject({ status: 200, isShown: true })
      const hidden = await costOf({ stream, reasoning: { exclude: true } })
      expect([stream, hidden]).toEqual([stream, { ...shown, isShown: false }])
      expect(hidden.cost).toBeGreaterThan(0.02)
    }
  } finally {
    await gateway.stop()
    await upstream.stop()
  }
})
