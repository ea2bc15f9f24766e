import { assert, createTools, key, model, placeSchema, play, refusal, root, task, tools } from './play.mjs'
import { OpenRouter } from '@openrouter/sdk'
import * as errors from '@openrouter/sdk/models/errors'

// It retries every 5xx for up to an hour.
const retryConfig = { strategy: 'none' }
const client = new OpenRouter({ apiKey: key, serverURL: `${root}/v1`, retryConfig })
const functions = tools.map(({ name, description, schema }) => ({
  type: 'function',
  function: { name, description, parameters: schema },
}))
const ask = (content) => [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content },
]
const send = (more) => client.chat.send({ chatRequest: { model, stream: false, ...more } })

/** Its errors show their status as `statusCode`. */
const refused = (call, kind, status, says) => refusal(call, { kind, status, says })

async function loop(next) {
  const world = createTools()
  const messages = ask(task.tools.prompt)
  for (let turn = 0; turn < 8; turn += 1) {
    const { message, finishReason, usage } = await next(messages)
    assert.ok(usage.totalTokens > 0)
    messages.push(message)
    if (!message.toolCalls?.length) {
      assert.equal(finishReason, 'stop')
      assert.equal(message.content, task.tools.text)
      world.check()
      return
    }
    for (const call of message.toolCalls) {
      const content = world[call.function.name](JSON.parse(call.function.arguments))
      messages.push({ role: 'tool', toolCallId: call.id, content })
    }
  }
  assert.fail('the loop did not end')
}

/** The client has no helper that puts the pieces of a stream together. */
async function join(stream) {
  const message = { role: 'assistant', content: '', toolCalls: [] }
  const seen = { message, finishReason: null, usage: null }
  for await (const { choices, usage } of stream) {
    const { delta = {}, finishReason } = choices[0] ?? {}
    message.content += delta.content ?? ''
    for (const { index, id, type, function: piece } of delta.toolCalls ?? []) {
      message.toolCalls[index] ??= { id, type, function: { name: piece.name, arguments: '' } }
      message.toolCalls[index].function.arguments += piece?.arguments ?? ''
    }
    seen.finishReason = finishReason ?? seen.finishReason
    seen.usage = usage ?? seen.usage
  }
  if (message.toolCalls.length === 0) delete message.toolCalls
  return seen
}

await play({
  tools: () =>
    loop(async (messages) => {
      const { choices, usage } = await send({ messages, tools: functions })
      return { ...choices[0], usage }
    }),
  'tools streamed': () =>
    loop(async (messages) => join(await send({ messages, tools: functions, stream: true }))),
  stream: async () => {
    const stream = await client.chat.send({
      chatRequest: { model, messages: ask(task.stream.prompt), stream: true },
    })
    const texts = []
    let tokens = 0
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) texts.push(chunk.choices[0].delta.content)
      tokens = chunk.usage?.totalTokens ?? tokens
    }
    assert.equal(texts.join(''), task.stream.text)
    assert.ok(texts.length > 5, `${texts.length} pieces`)
    assert.ok(tokens > 0)
  },
  structured: async () => {
    const { choices } = await send({
      messages: ask(task.structured.prompt),
      responseFormat: {
        type: 'json_schema',
        jsonSchema: { name: 'place', schema: placeSchema, strict: true },
      },
    })
    assert.deepEqual(JSON.parse(choices[0].message.content), task.structured.value)
  },
  responses: async () => {
    const world = createTools()
    const input = [{ role: 'user', content: task.tools.prompt }]
    const flat = tools.map(({ name, description, schema }) => ({
      type: 'function',
      name,
      description,
      parameters: schema,
    }))
    for (let turn = 0; turn < 8; turn += 1) {
      const { output, usage, status } = await client.beta.responses.send({
        responsesRequest: { model, input, tools: flat, stream: false },
      })
      assert.equal(status, 'completed')
      assert.ok(usage.totalTokens > 0)
      const called = output.filter((item) => item.type === 'function_call')
      if (called.length === 0) {
        assert.equal(output.at(-1).content[0].text, task.tools.text)
        world.check()
        return
      }
      input.push(...output)
      for (const { name, callId, arguments: text } of called)
        input.push({ type: 'function_call_output', callId, output: world[name](JSON.parse(text)) })
    }
    assert.fail('the loop did not end')
  },
  'responses streamed': async () => {
    const stream = await client.beta.responses.send({
      responsesRequest: { model, input: task.stream.prompt, stream: true },
    })
    const texts = []
    let last = null
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') texts.push(event.delta)
      last = event
    }
    assert.equal(texts.join(''), task.stream.text)
    assert.equal(last.type, 'response.completed')
    assert.ok(last.response.usage.totalTokens > 0)
  },
  'unknown model': () =>
    refused(
      () => send({ messages: ask('x'), model: task.errors.unknownModel }),
      errors.BadRequestResponseError,
      400,
      task.errors.unknownModel,
    ),
  'bad parameter': () =>
    refused(
      () => send({ messages: ask('x'), temperature: 99 }),
      errors.BadRequestResponseError,
      400,
      'temperature',
    ),
  'upstream 429': () =>
    refused(() => send({ messages: ask(task.errors.limited) }), errors.TooManyRequestsResponseError, 429),
  'upstream 500': () =>
    refused(() => send({ messages: ask(task.errors.broken) }), errors.BadGatewayResponseError, 502),
  'error in stream': async () => {
    let text = ''
    let error = null
    const stream = await client.chat.send({
      chatRequest: { model, messages: ask(task.errors.cut), stream: true },
    })
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      error = chunk.error ?? error
    }
    assert.ok(text.length > 0, 'nothing came before the error')
    assert.ok(error?.code >= 500 && error.message.length > 0)
  },
})
