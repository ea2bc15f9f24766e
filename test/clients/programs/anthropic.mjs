import { assert, createTools, key, model, placeSchema, play, refusal, root, task, tools } from './play.mjs'
import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: root, apiKey: null, authToken: key, maxRetries: 0 })
const offered = tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema }))
const ask = (content) => ({
  model,
  max_tokens: 2000,
  system: 'Be brief.',
  messages: [{ role: 'user', content }],
})

async function loop(next) {
  const world = createTools()
  const { messages, ...params } = ask(task.tools.prompt)
  for (let turn = 0; turn < 8; turn += 1) {
    const message = await next({ ...params, messages, tools: offered })
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0)
    messages.push({ role: 'assistant', content: message.content })
    const called = message.content.filter((block) => block.type === 'tool_use')
    if (called.length === 0) {
      assert.equal(message.stop_reason, 'end_turn')
      assert.deepEqual(
        message.content.map(({ type, text }) => ({ type, text })),
        [{ type: 'text', text: task.tools.text }],
      )
      world.check()
      return
    }
    assert.equal(message.stop_reason, 'tool_use')
    const content = called.map(({ id, name, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: world[name](input),
    }))
    messages.push({ role: 'user', content })
  }
  assert.fail('the loop did not end')
}

await play({
  tools: () => loop((params) => client.messages.create(params)),
  'tools streamed': () => loop((params) => client.messages.stream(params).finalMessage()),
  'tool runner': async () => {
    const world = createTools()
    const message = await client.beta.messages.toolRunner({
      ...ask(task.tools.prompt),
      tools: offered.map((tool) => ({
        type: 'custom',
        ...tool,
        parse: (input) => input,
        run: (input) => world[tool.name](input),
      })),
    })
    assert.equal(message.content.at(-1).text, task.tools.text)
    world.check()
  },
  stream: async () => {
    const texts = []
    const stream = client.messages.stream(ask(task.stream.prompt)).on('text', (delta) => texts.push(delta))
    const message = await stream.finalMessage()
    assert.equal(texts.join(''), task.stream.text)
    assert.ok(texts.length > 5, `${texts.length} pieces`)
    assert.equal(message.content[0].text, task.stream.text)
    assert.equal(message.stop_reason, 'end_turn')
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0)
  },
  structured: async () => {
    const format = { type: 'json_schema', schema: placeSchema }
    const parsed = await client.messages.parse({ ...ask(task.structured.prompt), output_config: { format } })
    assert.deepEqual(parsed.parsed_output, task.structured.value)
  },
  'count tokens': async () => {
    const { messages, system } = ask(task.stream.prompt)
    const { input_tokens: tokens } = await client.messages.countTokens({ model, system, messages })
    assert.ok(tokens > 5 && tokens < 100, `${tokens} tokens`)
  },
  'unknown model': () =>
    refusal(() => client.messages.create({ ...ask('x'), model: task.errors.unknownModel }), {
      kind: Anthropic.BadRequestError,
      status: 400,
      says: task.errors.unknownModel,
    }),
  'bad parameter': () =>
    refusal(() => client.messages.create({ ...ask('x'), max_tokens: -1 }), {
      kind: Anthropic.BadRequestError,
      status: 400,
      says: 'max_tokens',
    }),
  'upstream 429': async () => {
    const error = await refusal(() => client.messages.create(ask(task.errors.limited)), {
      kind: Anthropic.RateLimitError,
      status: 429,
    })
    assert.equal(error.type, 'rate_limit_error')
  },
  'upstream 500': () =>
    refusal(() => client.messages.create(ask(task.errors.broken)), {
      kind: Anthropic.InternalServerError,
      status: 502,
    }),
  'error in stream': async () => {
    let text = ''
    const stream = client.messages.stream(ask(task.errors.cut)).on('text', (delta) => (text += delta))
    await refusal(() => stream.finalMessage(), { kind: Anthropic.APIError, status: null })
    assert.ok(text.length > 0, 'nothing came before the error')
  },
})
