import { afterAll, beforeEach, expect, test } from 'bun:test'
import { startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Callers whose provider speaks another format: every part of their history reaches the provider, or the caller
// is told that it cannot.

const upstream = startScriptedUpstream()
const prices = { input_per_million: '1', output_per_million: '1' }
const ofMessages = 'anthropic/claude-sonnet-4.5'
const ofChat = 'acme/words'
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'anthropic',
      base_url: `${upstream.url}/v1`,
      api_key: 'sk-ant-x',
      weight: 1,
      discover: false,
      models: [{ id: ofMessages, upstream: 'claude-sonnet-4-5', prices }],
    },
    {
      preset: 'custom',
      base_url: `${upstream.url}/v1`,
      api_key: 'sk-x',
      weight: 1,
      discover: false,
      models: [{ id: ofChat, upstream: 'words', prices }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(({ path }) => Response.json(path.endsWith('/messages') ? message : completion))
})

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Two a day.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 3 },
}
const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'words',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Two a day.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
}

const asked = { role: 'user', content: 'How many tides?' }
const item = { type: 'function_call', call_id: 'c', name: 'tides', arguments: '{}' }
const itemWith = (output: unknown) => [asked, item, { type: 'function_call_output', call_id: 'c', output }]
const called = { name: 'tides', arguments: '{}' }
const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'tides', input: {} }] }
const resultWith = (content: unknown) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'c', content }],
})

const parts = 'must be a string or an array of parts'
const part = 'must be a part with a type'
const blocks = 'must be a string or an array of content blocks'
const block = 'must be a content block with a type'
const text = 'must be a string'
const said = 'must be a text, an image or a file, because a tool said it'

test.each([
  ['a result that is an object', itemWith({ tides: 2 }), 'input[2].output', parts],
  ['a result that is null', itemWith(null), 'input[2].output', parts],
  ['a result that is left out', itemWith(undefined), 'input[2].output', parts],
  ['a part of a result that is a text', itemWith(['2']), 'input[2].output[0]', part],
  ['a part that is a text', [{ role: 'user', content: ['Hi'] }, asked], 'input[0].content[0]', part],
  ['a part that is null', [asked, { role: 'user', content: [null] }], 'input[1].content[0]', part],
  [
    'the input of a custom tool that is an object',
    [asked, { type: 'custom_tool_call', call_id: 'c', name: 'tides', input: { at: 'Brest' } }],
    'input[1].input',
    text,
  ],
  ['a refusal in a result', itemWith([{ type: 'refusal', refusal: 'No.' }]), 'input[2].output[0]', said],
])('a responses caller is told of %s', async (_, input, param, problem) => {
  await refused('/responses', { model: ofMessages, max_output_tokens: 20, input }, { param, problem })
})

test.each([
  ['a result that is an object', [asked, use, resultWith({ tides: 2 })], '[2].content[0].content', blocks],
  ['a block of a result that is a text', [asked, use, resultWith(['2'])], '[2].content[0].content[0]', block],
  ['a block of a result that is null', [asked, use, resultWith([null])], '[2].content[0].content[0]', block],
  [
    'a text that is a number',
    [{ role: 'user', content: [{ type: 'text', text: 7 }] }],
    '[0].content[0].text',
    text,
  ],
  [
    'a text of a result that is a number',
    [asked, use, resultWith([{ type: 'text', text: 7 }])],
    '[2].content[0].content[0].text',
    text,
  ],
  ['a call in a result', [asked, use, resultWith(use.content)], '[2].content[0].content[0]', said],
  ['a block that is null', [{ role: 'user', content: [null] }], '[0].content[0]', block],
])('a messages caller is told of %s', async (_, messages, place, problem) => {
  const body = { model: ofChat, max_tokens: 20, messages }
  await refused('/messages', body, { param: `messages${place}`, problem })
})

test.each([
  ['a part that is null', [{ role: 'user', content: [null] }], '[0].content[0]', part],
  ['a part that is a number', [asked, { role: 'user', content: [7] }], '[1].content[0]', part],
  [
    'a call that is null',
    [asked, { role: 'assistant', content: 'I look.', tool_calls: [null] }, asked],
    '[1].tool_calls[0]',
    'must be a call with an id and a function',
  ],
  [
    'sound in a result',
    [
      asked,
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: called }] },
      {
        role: 'tool',
        tool_call_id: 'c',
        content: [
          { type: 'text', text: '2' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
    ],
    '[2].content[1]',
    said,
  ],
])('a chat caller is told of %s', async (_, messages, place, problem) => {
  const body = { model: ofMessages, max_tokens: 20, messages }
  await refused('/chat/completions', body, { param: `messages${place}`, problem })
})

test.each([
  ['left out', {}],
  ['null', { schema: null }],
])('a caller whose schema is %s is told so', async (_, rest) => {
  const format = { type: 'json_schema', name: 'tides', ...rest }
  const problem = 'must be an object: the JSON schema that the answer is to hold to'
  const items = { model: ofMessages, max_output_tokens: 20, input: 'How many tides?', text: { format } }
  await refused('/responses', items, { param: 'text.format.schema', problem })
  const told = { model: ofChat, max_tokens: 20, messages: [asked], output_config: { format } }
  await refused('/messages', told, { param: 'output_config.format.schema', problem })
  const { output_config: _config, ...older } = { ...told, output_format: format }
  await refused('/messages', older, { param: 'output_format.schema', problem })
})

async function refused(path: string, body: object, { param, problem }: { param: string; problem: string }) {
  const { status, json } = await gateway.post(path, body)
  expect([status, json['error']]).toMatchObject([400, { message: `"${param}" ${problem}.` }])
  expect(upstream.seen).toEqual([])
}

test('arguments that a responses caller sends as an object reach the provider', async () => {
  const withObject = { ...item, arguments: { at: 'Brest' } }
  const input = [asked, withObject, { type: 'function_call_output', call_id: 'c', output: '2' }]
  const { status } = await gateway.post('/responses', { model: ofMessages, max_output_tokens: 20, input })
  expect(status).toBe(200)
  const [seen] = upstream.seen
  expect(JSON.parse(seen?.body ?? '')).toMatchObject({
    messages: [
      {},
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'tides', input: { at: 'Brest' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c' }] },
    ],
  })
})

test('a messages caller whose tool said nothing is answered', async () => {
  const messages = [asked, use, resultWith(null)]
  const { status } = await gateway.post('/messages', { model: ofChat, max_tokens: 20, messages })
  expect([status, upstream.seen.length]).toEqual([200, 1])
})

test('texts that a chat caller sends as parts reach the provider', async () => {
  const messages = [{ role: 'user', content: ['How many tides?'] }]
  const { status } = await gateway.post('/chat/completions', { model: ofMessages, max_tokens: 20, messages })
  expect(status).toBe(200)
  expect(upstream.seen[0]?.body).toContain('How many tides?')
})
