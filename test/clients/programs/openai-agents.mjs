import { assert, createTools, key, model, play, refusal, root, task, tools } from './play.mjs'
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'

// Traces would go to its maker.
setTracingDisabled(true)
const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL: `${root}/v1`, apiKey: key }) })
const parameters = {
  weather: z.object({ city: z.string(), unit: z.enum(['C', 'F']) }),
  convert: z.object({
    celsius: z.number(),
    flags: z.object({ exact: z.boolean() }),
    labels: z.array(z.string()),
  }),
  note: z.object({}),
}
const agentOf = (more = {}) => new Agent({ name: 'Clerk', instructions: 'Be brief.', model, ...more })
const toolsOf = (world) =>
  tools.map(({ name, description }) =>
    tool({ name, description, parameters: parameters[name], execute: (input) => world[name](input) }),
  )
const place = z.object({ city: z.string(), degrees: z.number(), labels: z.array(z.string()) })
// It retries by itself; here every call counts.
const once = { modelSettings: { retry: { maxRetries: 0 } } }

await play({
  tools: async () => {
    const world = createTools()
    const result = await runner.run(agentOf({ tools: toolsOf(world) }), task.tools.prompt)
    assert.equal(result.finalOutput, task.tools.text)
    assert.equal(result.rawResponses.length, 4)
    for (const { usage } of result.rawResponses) assert.ok(usage.totalTokens > 0)
    world.check()
  },
  'tools streamed': async () => {
    const world = createTools()
    const result = await runner.run(agentOf({ tools: toolsOf(world) }), task.tools.prompt, { stream: true })
    for await (const event of result) assert.ok(event.type.length > 0)
    await result.completed
    assert.equal(result.finalOutput, task.tools.text)
    world.check()
  },
  stream: async () => {
    const result = await runner.run(agentOf(), task.stream.prompt, { stream: true })
    const texts = []
    for await (const event of result)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
        texts.push(event.data.delta)
    await result.completed
    assert.equal(texts.join(''), task.stream.text)
    assert.ok(texts.length > 5, `${texts.length} pieces`)
  },
  structured: async () => {
    const result = await runner.run(agentOf({ outputType: place }), task.structured.prompt)
    assert.deepEqual(result.finalOutput, task.structured.value)
  },
  'unknown model': () =>
    refusal(() => runner.run(agentOf({ model: task.errors.unknownModel, ...once }), 'x'), {
      kind: Error,
      status: 400,
      says: task.errors.unknownModel,
    }),
  'bad parameter': () =>
    refusal(() => runner.run(agentOf({ modelSettings: { topP: 7 } }), 'x'), {
      kind: Error,
      status: 400,
      says: 'top_p',
    }),
  'upstream 429': () =>
    refusal(() => runner.run(agentOf(once), task.errors.limited), { kind: Error, status: 429 }),
  'upstream 500': () =>
    refusal(() => runner.run(agentOf(once), task.errors.broken), { kind: Error, status: 502 }),
  'error in stream': async () => {
    let text = ''
    await refusal(
      async () => {
        const result = await runner.run(agentOf(once), task.errors.cut, { stream: true })
        for await (const event of result)
          if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
            text += event.data.delta
        await result.completed
      },
      { kind: Error, status: null },
    )
    assert.ok(text.length > 0, 'nothing came before the error')
  },
})
