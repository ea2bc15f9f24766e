import { assert, createTools, key, model, placeSchema, play, refusal, root, task, tools } from './play.mjs'
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'

const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key, maxRetries: 0 })
const functions = tools.map(({ name, description, schema }) => ({
  type: 'function',
  function: { name, description, parameters: schema },
}))
const ask = (content) => [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content },
]

async function loop(next) {
  const world = createTools()
  const messages = ask(task.tools.prompt)
  for (let turn = 0; turn < 8; turn += 1) {
    const { message, finish_reason: finish, usage } = await next(messages)
    assert.ok(usage.total_tokens > 0 && usage.total_tokens === usage.prompt_tokens + usage.completion_tokens)
    messages.push(message)
    if (!message.tool_calls?.length) {
      assert.equal(finish, 'stop')
      assert.equal(message.content, task.tools.text)
      world.check()
      assert.equal(new Set(messages.flatMap((each) => each.tool_call_id ?? [])).size, task.tools.calls)
      return
    }
    assert.equal(finish, 'tool_calls')
    for (const call of message.tool_calls) {
      const content = world[call.function.name](JSON.parse(call.function.arguments))
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
  }
  assert.fail('the loop did not end')
}

const place = z.object({ city: z.string(), degrees: z.number(), labels: z.array(z.string()) })

await play({
  tools: () =>
    loop(async (messages) => {
      const { choices, usage } = await client.chat.completions.create({ model, messages, tools: functions })
      return { ...choices[0], usage }
    }),
  'tools streamed': () =>
    loop(async (messages) => {
      const stream = client.chat.completions.stream({
        model,
        messages,
        tools: functions,
        stream_options: { include_usage: true },
      })
      const { choices, usage } = await stream.finalChatCompletion()
      const { message, finish_reason } = choices[0]
      const { role, content, tool_calls } = message
      return {
        message: { role, content, ...(tool_calls?.length ? { tool_calls } : {}) },
        finish_reason,
        usage,
      }
    }),
  'tool runner': async () => {
    const world = createTools()
    const runner = client.chat.completions.runTools({
      model,
      messages: ask(task.tools.prompt),
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: schema, parse: JSON.parse, function: world[name] },
      })),
    })
    assert.equal(await runner.finalContent(), task.tools.text)
    world.check()
  },
  stream: async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: ask(task.stream.prompt),
      stream: true,
      stream_options: { include_usage: true },
    })
    const texts = []
    let usage = null
    let finish = null
    for await (const chunk of stream) {
      assert.equal(chunk.object, 'chat.completion.chunk')
      if (chunk.choices[0]?.delta.content) texts.push(chunk.choices[0].delta.content)
      finish = chunk.choices[0]?.finish_reason ?? finish
      usage = chunk.usage ?? usage
    }
    assert.equal(texts.join(''), task.stream.text)
    assert.ok(texts.length > 5, `${texts.length} pieces`)
    assert.equal(finish, 'stop')
    assert.ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0)
  },
  structured: async () => {
    const messages = ask(task.structured.prompt)
    const parsed = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(place, 'place'),
    })
    assert.deepEqual(parsed.choices[0].message.parsed, task.structured.value)
    const plain = await client.chat.completions.create({
      model,
      messages,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', schema: placeSchema, strict: true },
      },
    })
    assert.deepEqual(JSON.parse(plain.choices[0].message.content), task.structured.value)
  },
  'unknown model': () =>
    refusal(() => client.chat.completions.create({ model: task.errors.unknownModel, messages: ask('x') }), {
      kind: OpenAI.BadRequestError,
      status: 400,
      says: task.errors.unknownModel,
    }),
  'bad parameter': async () => {
    const error = await refusal(
      () => client.chat.completions.create({ model, messages: ask('x'), temperature: 'hot' }),
      { kind: OpenAI.BadRequestError, status: 400, says: 'temperature' },
    )
    assert.equal(error.param, 'temperature')
  },
  'upstream 429': () =>
    refusal(() => client.chat.completions.create({ model, messages: ask(task.errors.limited) }), {
      kind: OpenAI.RateLimitError,
      status: 429,
    }),
  'upstream 500': () =>
    refusal(() => client.chat.completions.create({ model, messages: ask(task.errors.broken) }), {
      kind: OpenAI.InternalServerError,
      status: 502,
    }),
  'error in stream': async () => {
    let text = ''
    await refusal(
      async () => {
        const params = { model, messages: ask(task.errors.cut), stream: true }
        for await (const chunk of await client.chat.completions.create(params))
          text += chunk.choices[0]?.delta.content ?? ''
      },
      { kind: OpenAI.APIError, status: null },
    )
    assert.ok(text.length > 0, 'nothing came before the error')
  },
})
