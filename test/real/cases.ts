import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import OpenAI from 'openai'
import type { RunningServer } from './real-server.ts'

/** The gateway that the cases ask. */
export interface AskedGateway {
  /** Without `/v1`. */
  root: string
  key: string
}

/** How one case ended; `failure` says what was wrong. */
export interface CaseResult {
  name: string
  failure: string | null
  /** What was measured. */
  figure?: string
}

type Check = (world: World) => Promise<void>

interface World {
  openai: OpenAI
  anthropic: Anthropic
  openrouter: OpenRouter
  gateway: AskedGateway
  server: RunningServer
  /** Id of the model that the case is about. */
  model: string
}

const prompt = 'Say something.'
const outputTokens = 12

/** Asks a server for everything that it serves, in every format, and says how each case ended. */
export async function runCases(server: RunningServer, gateway: AskedGateway): Promise<CaseResult[]> {
  const { root, key } = gateway
  const clients = {
    openai: new OpenAI({ baseURL: `${root}/v1`, apiKey: key, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: root, apiKey: key, maxRetries: 0 }),
    openrouter: new OpenRouter({ serverURL: `${root}/v1`, apiKey: key, retryConfig: { strategy: 'none' } }),
  }
  const results: CaseResult[] = []
  const { text, embedding } = server.models
  const runAll = async (model: string | null, cases: Readonly<Record<string, Check>>) => {
    if (model === null) return
    for (const [name, check] of Object.entries(cases)) {
      results.push({ name, failure: await failureOf(check({ ...clients, gateway, server, model })) })
    }
  }
  await runAll(text, textCases)
  if (server.keepsSchemas) await runAll(text, { structured })
  if (server.contextTokens !== null) await runAll(text, { 'too long': tooLong })
  await runAll(embedding, { listed, embeddings })
  await runAll(server.models.transcription, { listed })
  await runAll(server.models.speech, { listed })
  return results
}

async function failureOf(run: Promise<void>): Promise<string | null> {
  try {
    await run
    return null
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
}

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise)
}

const listedWaitMs = 10_000

/** A server may tell what it has some moments after the gateway began to ask it. */
const listed: Check = async ({ gateway, model }) => {
  const startMs = performance.now()
  for (;;) {
    const answer = (await (await fetch(`${gateway.root}/v1/models?output_modalities=all`)).json()) as {
      data: { id: string }[]
    }
    const ids = answer.data.map(({ id }) => id)
    if (ids.includes(model)) return
    const isOver = performance.now() - startMs > listedWaitMs
    expect(!isOver, `${model} is not among ${ids.join(', ')}`)
    await Bun.sleep(100)
  }
}

const chatWhole: Check = async ({ openai, gateway, model }) => {
  const { data, response } = await openai.chat.completions
    .create({ model, messages: [{ role: 'user', content: prompt }], max_tokens: outputTokens })
    .withResponse()
  const [choice] = data.choices
  expect(choice !== undefined && (choice.message.content ?? '') !== '', 'it says nothing')
  expect(choice?.finish_reason === 'length' || choice?.finish_reason === 'stop', 'it has no reason to end')
  const usage = data.usage
  expect((usage?.prompt_tokens ?? 0) > 0 && (usage?.completion_tokens ?? 0) > 0, 'it counts nothing')
  await isBooked(gateway, response, usage?.prompt_tokens ?? 0, usage?.completion_tokens ?? 0)
}

/** The generation has the server's own counts. */
async function isBooked(
  { root, key }: AskedGateway,
  response: Response,
  prompted: number,
  completed: number,
): Promise<void> {
  const id = response.headers.get('x-generation-id') ?? ''
  const found = await fetch(`${root}/v1/generation?id=${id}`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await found.json()) as { data?: { tokens_prompt: number; tokens_completion: number } }
  const isSame = data?.tokens_prompt === prompted && data.tokens_completion === completed
  expect(
    isSame,
    `booked as ${data?.tokens_prompt} and ${data?.tokens_completion}, not ${prompted} and ${completed}`,
  )
}

const chatStream: Check = async ({ openai, model }) => {
  const stream = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content: prompt }],
    max_tokens: outputTokens,
    stream: true,
    stream_options: { include_usage: true },
  })
  let said = ''
  let reason: string | null = null
  let tokens = 0
  for await (const { choices, usage } of stream) {
    said += choices[0]?.delta.content ?? ''
    reason = choices[0]?.finish_reason ?? reason
    tokens = usage?.completion_tokens ?? tokens
  }
  expect(
    said !== '' && reason !== null && tokens > 0,
    `said ${said.length}, reason ${reason}, tokens ${tokens}`,
  )
}

const responsesWhole: Check = async ({ openai, model }) => {
  const answer = await openai.responses.create({ model, input: prompt, max_output_tokens: outputTokens })
  expect(answer.output_text !== '', 'it says nothing')
  expect((answer.usage?.output_tokens ?? 0) > 0, 'it counts nothing')
}

const responsesStream: Check = async ({ openai, model }) => {
  const stream = openai.responses.stream({ model, input: prompt, max_output_tokens: outputTokens })
  const answer = await stream.finalResponse()
  expect(answer.output_text !== '', 'it says nothing')
}

const messagesWhole: Check = async ({ anthropic, model }) => {
  const messages = [{ role: 'user' as const, content: prompt }]
  const answer = await anthropic.messages.create({ model, messages, max_tokens: outputTokens })
  expect(
    answer.content.some((block) => block.type === 'text' && block.text !== ''),
    'it says nothing',
  )
  expect(answer.stop_reason !== null && answer.usage.output_tokens > 0, 'it counts nothing')
}

const messagesStream: Check = async ({ anthropic, model }) => {
  const messages = [{ role: 'user' as const, content: prompt }]
  const answer = await anthropic.messages.stream({ model, messages, max_tokens: outputTokens }).finalMessage()
  expect(
    answer.content.some((block) => block.type === 'text' && block.text !== ''),
    'it says nothing',
  )
}

/** The official client reads the answer by a schema of its own. */
const strictClient: Check = async ({ openrouter, model }) => {
  const answer = await openrouter.chat.send({
    chatRequest: { model, messages: [{ role: 'user', content: prompt }], maxTokens: outputTokens },
  })
  expect('choices' in answer && answer.choices.length === 1, 'it has no choice')
}

const textCases: Readonly<Record<string, Check>> = {
  listed,
  chat: chatWhole,
  'chat, streamed': chatStream,
  'chat, @openrouter/sdk': strictClient,
  responses: responsesWhole,
  'responses, streamed': responsesStream,
  messages: messagesWhole,
  'messages, streamed': messagesStream,
  batch: runBatch,
}

async function runBatch({ gateway: { root, key }, model }: World): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = { messages: [{ role: 'user', content: prompt }], max_tokens: outputTokens }
  const requests = ['a', 'b', 'c'].map((custom_id) => ({ custom_id, body }))
  const sent = JSON.stringify({ endpoint: '/v1/chat/completions', model, requests })
  const created = await fetch(`${root}/v1/batches`, { method: 'POST', headers, body: sent })
  const batch = (await created.json()) as { id: string }
  expect(created.status === 202, `${created.status}: ${JSON.stringify(batch).slice(0, 300)}`)
  for (let poll = 0; poll < 120; poll += 1) {
    const found = (await (await fetch(`${root}/v1/batches/${batch.id}`, { headers })).json()) as {
      status: string
      request_counts?: { completed: number; failed: number }
    }
    if (found.status === 'completed') {
      return expect(found.request_counts?.completed === 3, JSON.stringify(found.request_counts))
    }
    if (['failed', 'expired', 'cancelled'].includes(found.status)) throw new Error(JSON.stringify(found))
    await Bun.sleep(500)
  }
  throw new Error('the batch did not end within a minute')
}

const structured: Check = async ({ openai, model }) => {
  const properties = { city: { type: 'string', enum: ['Oslo', 'Rome'] }, warm: { type: 'boolean' } }
  const schema = { type: 'object', properties, required: ['city', 'warm'], additionalProperties: false }
  const answer = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content: prompt }],
    max_tokens: 200,
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
  })
  const value = JSON.parse(answer.choices[0]?.message.content ?? '') as Record<string, unknown>
  expect(
    properties.city.enum.includes(String(value['city'])) && typeof value['warm'] === 'boolean',
    JSON.stringify(value),
  )
}

/** A prompt beyond the server's context is the caller's error, in words that say so. */
const tooLong: Check = async ({ openai, model, server }) => {
  const content = 'word '.repeat((server.contextTokens ?? 0) * 2)
  const error = await openai.chat.completions
    .create({ model, messages: [{ role: 'user', content }], max_tokens: outputTokens })
    .then(() => null)
    .catch((caught: unknown) => caught)
  const isRefused = error instanceof OpenAI.APIError && error.status === 400
  expect(isRefused, `not refused with 400 but ${error instanceof Error ? error.message : 'answered'}`)
}

const embeddings: Check = async ({ openai, model }) => {
  const answer = await openai.embeddings.create({ model, input: ['one', 'two'] })
  expect(answer.data.length === 2 && (answer.data[0]?.embedding.length ?? 0) > 0, 'it has no vectors')
  expect(answer.usage.prompt_tokens > 0, 'it counts nothing')
}
