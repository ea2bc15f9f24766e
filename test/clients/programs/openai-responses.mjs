import {
  assert,
  createTools,
  key,
  model,
  placeSchema,
  play,
  refusal,
  root,
  sealedThoughts,
  task,
  tools,
} from './play.mjs'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'

const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key, maxRetries: 0 })
const functions = tools.map(({ name, description, schema }) => ({
  type: 'function',
  name,
  description,
  parameters: schema,
  strict: true,
}))
const thinking = {
  reasoning: { effort: 'high', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  store: false,
}

async function loop(next) {
  const world = createTools()
  const input = [{ role: 'user', content: task.tools.prompt }]
  let thoughts = 0
  for (let turn = 0; turn < 8; turn += 1) {
    const response = await next(input)
    assert.equal(response.status, 'completed')
    assert.ok(response.usage.total_tokens > 0)
    thoughts += response.output.filter((item) => item.type === 'reasoning' && item.encrypted_content).length
    input.push(...response.output)
    const called = response.output.filter((item) => item.type === 'function_call')
    if (called.length === 0) {
      assert.equal(response.output_text, task.tools.text)
      world.check()
      assert.equal(thoughts, sealedThoughts, 'thoughts that came sealed')
      return
    }
    for (const { name, call_id, arguments: text } of called)
      input.push({ type: 'function_call_output', call_id, output: world[name](JSON.parse(text)) })
  }
  assert.fail('the loop did not end')
}

const place = z.object({ city: z.string(), degrees: z.number(), labels: z.array(z.string()) })

await play({
  tools: () => loop((input) => client.responses.create({ model, input, tools: functions, ...thinking })),
  'tools streamed': () =>
    loop((input) => client.responses.stream({ model, input, tools: functions, ...thinking }).finalResponse()),
  stream: async () => {
    const texts = []
    const types = []
    let sequence = -1
    const stream = client.responses.stream({ model, instructions: 'Be brief.', input: task.stream.prompt })
    for await (const event of stream) {
      types.push(event.type)
      assert.equal(event.sequence_number, sequence + 1)
      sequence = event.sequence_number
      if (event.type === 'response.output_text.delta') texts.push(event.delta)
    }
    assert.equal(texts.join(''), task.stream.text)
    assert.ok(texts.length > 5, `${texts.length} pieces`)
    assert.equal(types[0], 'response.created')
    assert.equal(types.at(-1), 'response.completed')
    const whole = await stream.finalResponse()
    assert.equal(whole.output_text, task.stream.text)
    assert.ok(whole.usage.input_tokens > 0 && whole.usage.output_tokens > 0)
  },
  structured: async () => {
    const params = { model, input: task.structured.prompt }
    const parsed = await client.responses.parse({
      ...params,
      text: { format: zodTextFormat(place, 'place') },
    })
    assert.deepEqual(parsed.output_parsed, task.structured.value)
    const format = { type: 'json_schema', name: 'place', schema: placeSchema, strict: true }
    const stream = client.responses.stream({ ...params, text: { format } })
    assert.deepEqual(JSON.parse((await stream.finalResponse()).output_text), task.structured.value)
  },
  'unknown model': () =>
    refusal(() => client.responses.create({ model: task.errors.unknownModel, input: 'x' }), {
      kind: OpenAI.BadRequestError,
      status: 400,
      says: task.errors.unknownModel,
    }),
  'bad parameter': async () => {
    const error = await refusal(
      () => client.responses.create({ model, input: 'x', max_output_tokens: 'few' }),
      {
        kind: OpenAI.BadRequestError,
        status: 400,
        says: 'max_output_tokens',
      },
    )
    assert.equal(error.param, 'max_output_tokens')
  },
  'upstream 429': () =>
    refusal(() => client.responses.create({ model, input: task.errors.limited }), {
      kind: OpenAI.RateLimitError,
      status: 429,
    }),
  'upstream 500': () =>
    refusal(() => client.responses.create({ model, input: task.errors.broken }), {
      kind: OpenAI.InternalServerError,
      status: 502,
    }),
  'error in stream': async () => {
    let text = ''
    let failed = null
    try {
      for await (const event of await client.responses.create({
        model,
        input: task.errors.cut,
        stream: true,
      })) {
        if (event.type === 'response.output_text.delta') text += event.delta
        if (event.type === 'response.failed') failed = event.response.error
      }
    } catch (error) {
      // Since version 7 it raises what the event before says.
      failed = error
    }
    assert.ok(text.length > 0, 'nothing came before the error')
    assert.ok(failed?.message.length > 0)
  },
})
