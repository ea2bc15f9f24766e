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
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import * as ai from 'ai'
import { z } from 'zod'

// One program for the ways in which this library asks and for its versions 5, 6 and 7: both are told by its arguments.
const { APICallError, embed, generateText, Output, streamText, tool } = ai
const [, , wire, version = '7'] = process.argv
const stepsMax = ai.isStepCount ?? ai.stepCountIs
const instructions = version === '7' ? 'instructions' : 'system'
const asOutput = version === '5' ? 'experimental_output' : 'output'
const openai = createOpenAI({ baseURL: `${root}/v1`, apiKey: key })
// Version 5 knows no bearer token for it.
const secret = version === '5' ? { apiKey: key } : { authToken: key }
const anthropic = createAnthropic({ baseURL: `${root}/v1`, ...secret })
const compatible = createOpenAICompatible({
  name: 'headrace',
  baseURL: `${root}/v1`,
  apiKey: key,
  supportsStructuredOutputs: true,
})
const openrouter = createOpenRouter({ baseURL: `${root}/v1`, apiKey: key })
const ways = {
  chat: openai.chat,
  responses: openai.responses,
  messages: anthropic,
  compatible,
  openrouter: (id) => openrouter.chat(id),
}
const asked = (id) => ways[wire](id)
// The provider for OpenRouter has a class of its own for what other providers throw.
const refusedCall =
  wire === 'openrouter'
    ? { name: 'AI_APICallError', [Symbol.hasInstance]: (error) => error?.name === 'AI_APICallError' }
    : APICallError
// It leaves out of a request what it knows that a model of Anthropic does not take.
const unfit = createAnthropic({
  baseURL: `${root}/v1`,
  ...secret,
  fetch: (url, init) => fetch(url, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), top_p: 7 }) }),
})
const unfitModel = wire === 'messages' ? unfit(model) : asked(model)
const common = {
  model: asked(model),
  maxRetries: 0,
  [instructions]: 'Be brief.',
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
    stopWhen: stepsMax(8),
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
    const answer = await generateText({
      ...common,
      prompt: task.structured.prompt,
      [asOutput]: Output.object({ schema: place }),
    })
    assert.deepEqual(answer[asOutput], task.structured.value)
  },
  'unknown model': () =>
    refusal(() => generateText({ ...common, model: asked(task.errors.unknownModel), prompt: 'x' }), {
      kind: refusedCall,
      status: 400,
      says: task.errors.unknownModel,
    }),
  'bad parameter': () =>
    refusal(() => generateText({ ...common, model: unfitModel, prompt: 'x', topP: 7 }), {
      kind: refusedCall,
      status: 400,
      says: 'top_p',
    }),
  'upstream 429': async () => {
    const error = await refusal(() => generateText({ ...common, prompt: task.errors.limited }), {
      kind: refusedCall,
      status: 429,
    })
    assert.equal(error.isRetryable, true)
  },
  'upstream 500': async () => {
    const error = await refusal(() => generateText({ ...common, prompt: task.errors.broken }), {
      kind: refusedCall,
      status: 502,
    })
    assert.equal(error.isRetryable, true)
  },
  'error in stream': async () => {
    const { texts, error, finish } = await read({ ...common, prompt: task.errors.cut })
    assert.ok(texts.join('').length > 0, 'nothing came before the error')
    // Of chat it reads the choice and not the error beside it, so there the finish reason tells. Version 5 does not read
    // the event of responses either, and calls every reason that it does not know unknown.
    if (version === '5' && wire !== 'messages') assert.ok(error !== null || finish === 'unknown', finish)
    else if (wire === 'chat' || wire === 'compatible') assert.ok(error !== null || finish === 'error', finish)
    else assert.ok(error !== null, `no error came, and the end is ${finish}`)
  },
})
