import {
  assert,
  createTools,
  embeddingModel,
  isVector,
  key,
  model,
  play,
  refusal,
  root,
  task,
  tools,
} from './play.mjs'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, embed, generateText, isStepCount, Output, streamText, tool } from 'ai'
import { z } from 'zod'

// One program for the three ways in which this library asks: the wire is told by its argument.
const wire = process.argv[2]
const openai = createOpenAI({ baseURL: `${root}/v1`, apiKey: key })
const anthropic = createAnthropic({ baseURL: `${root}/v1`, authToken: key })
const ways = { chat: openai.chat, responses: openai.responses, messages: anthropic }
const asked = (id) => ways[wire](id)
const common = {
  model: asked(model),
  maxRetries: 0,
  instructions: 'Be brief.',
  onError: () => undefined,
  providerOptions: {
    // Otherwise it refers to items by their ids, for which they had to be stored.
    openai: { store: false },
    // Otherwise it asks models that it does not know for a call of a tool named json.
    anthropic: { structuredOutputMode: 'outputFormat' },
  },
}

const inputs = {
  weather: z.object({ city: z.string(), unit: z.enum(['C', 'F']) }),
  convert: z.object({
    celsius: z.number(),
    flags: z.object({ exact: z.boolean() }),
    labels: z.array(z.string()),
  }),
  note: z.object({}),
}
const toolsOf = (world) =>
  Object.fromEntries(
    tools.map(({ name, description }) => [
      name,
      tool({ description, inputSchema: inputs[name], execute: (input) => world[name](input) }),
    ]),
  )
const place = z.object({ city: z.string(), degrees: z.number(), labels: z.array(z.string()) })

async function checkLoop(ask) {
  const world = createTools()
  const result = await ask({
    ...common,
    prompt: task.tools.prompt,
    tools: toolsOf(world),
    stopWhen: isStepCount(8),
  })
  assert.equal(await result.text, task.tools.text)
  assert.equal(await result.finishReason, 'stop')
  const steps = await result.steps
  assert.equal(steps.length, 4)
  for (const { usage } of steps) assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0)
  world.check()
}

/** Reads a stream to its end, as text and error. */
async function read(params) {
  const seen = { texts: [], error: null, finish: null }
  for await (const part of streamText(params).fullStream) {
    if (part.type === 'text-delta') seen.texts.push(part.text)
    if (part.type === 'error') seen.error = part.error
    if (part.type === 'finish') seen.finish = part.rawFinishReason ?? part.finishReason
  }
  return seen
}

await play({
  chat: async () => {
    const { text, usage } = await generateText({ ...common, prompt: task.stream.prompt })
    assert.equal(text, task.stream.text)
    assert.ok(usage.outputTokens > 0)
  },
  ...(wire === 'messages' || embeddingModel === ''
    ? {}
    : {
        embeddings: async () => {
          const value = task.embeddings.input
          const { embedding } = await embed({ model: openai.embedding(embeddingModel), value, maxRetries: 0 })
          isVector(embedding)
        },
      }),
  tools: () => checkLoop((params) => generateText(params)),
  'tools streamed': () =>
    checkLoop(async (params) => {
      const result = streamText(params)
      await result.consumeStream()
      return result
    }),
  stream: async () => {
    const result = streamText({ ...common, prompt: task.stream.prompt })
    const texts = []
    for await (const text of result.textStream) texts.push(text)
    assert.equal(texts.join(''), task.stream.text)
    assert.ok(texts.length > 5, `${texts.length} pieces`)
    assert.equal(await result.finishReason, 'stop')
    const { inputTokens, outputTokens } = await result.usage
    assert.ok(inputTokens > 0 && outputTokens > 0)
  },
  structured: async () => {
    const { output } = await generateText({
      ...common,
      prompt: task.structured.prompt,
      output: Output.object({ schema: place }),
    })
    assert.deepEqual(output, task.structured.value)
  },
  'unknown model': () =>
    refusal(() => generateText({ ...common, model: asked(task.errors.unknownModel), prompt: 'x' }), {
      kind: APICallError,
      status: 400,
      says: task.errors.unknownModel,
    }),
  'bad parameter': () =>
    refusal(() => generateText({ ...common, prompt: 'x', topP: 7 }), {
      kind: APICallError,
      status: 400,
      says: 'top_p',
    }),
  'upstream 429': async () => {
    const error = await refusal(() => generateText({ ...common, prompt: task.errors.limited }), {
      kind: APICallError,
      status: 429,
    })
    assert.equal(error.isRetryable, true)
  },
  'upstream 500': async () => {
    const error = await refusal(() => generateText({ ...common, prompt: task.errors.broken }), {
      kind: APICallError,
      status: 502,
    })
    assert.equal(error.isRetryable, true)
  },
  'error in stream': async () => {
    const { texts, error, finish } = await read({ ...common, prompt: task.errors.cut })
    assert.ok(texts.join('').length > 0, 'nothing came before the error')
    // Of chat it reads the choice and not the error beside it, so there the finish reason tells.
    if (wire === 'chat') assert.equal(finish, 'error')
    else assert.ok(error !== null, `no error came, and the end is ${finish}`)
  },
})
