import { describe, expect, test } from 'bun:test'
import { HTTPClient, OpenRouter } from '@openrouter/sdk'
import OpenAI from 'openai'
import { joinPieces } from '../../../core/body.ts'
import { GatewayError } from '../../../core/errors.ts'
import { decodeChatAnswer } from './pass-answer.ts'
import { chatQuirks } from './quirks.ts'
import { createChatStream } from './pass-stream.ts'
import { streamOf, testCharge, testContext, textOf } from '../testing.ts'

const base = {
  id: 'up-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  system_fingerprint: null,
  usage: null,
}
const chunk = (delta: object, finish: string | null = null) => ({
  ...base,
  choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
})
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }
const usage = {
  prompt_tokens: 9,
  completion_tokens: 3,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: null },
}

const payloads = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Let me ' }),
  chunk({ content: 'look.' }),
  chunk({ tool_calls: [{ index: 0, ...call }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
  chunk({}, 'stop'),
  { ...base, choices: [], usage },
]

/** The gateway's stream as the client's `fetch` returns it. */
function streamed(): Response {
  const rewriter = createChatStream(testContext, chatQuirks())
  const shown = rewriter.push(streamOf(payloads)) ?? ''
  rewriter.end()
  return new Response(joinPieces([shown, rewriter.encodeEnding(testCharge)]), {
    headers: { 'content-type': 'text/event-stream' },
  })
}

function whole(): Response {
  const wire = {
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'hi', tool_calls: [call] },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  }
  const answer = decodeChatAnswer(new TextEncoder().encode(JSON.stringify(wire)), testContext, chatQuirks())
  return new Response(textOf(answer.encode(testCharge)), {
    headers: { 'content-type': 'application/json' },
  })
}

const messages = [{ role: 'user' as const, content: 'hi' }]

describe('the openai package', () => {
  const clientFor = (answer: () => Response) =>
    new OpenAI({
      apiKey: 'k',
      baseURL: 'http://gateway.test/v1',
      maxRetries: 0,
      fetch: () => Promise.resolve(answer()),
    })

  test('puts a stream together, tool calls and usage included', async () => {
    const stream = clientFor(streamed).chat.completions.stream({ model: 'm', messages })
    const result = await stream.finalChatCompletion()
    expect(result.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me look.',
        tool_calls: [{ id: 'call_1', function: { name: 'weather', arguments: '{"a":1}' } }],
      },
    })
    expect(result.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3 })
  })

  test('finds a choice in every chunk, which some callers take for granted', async () => {
    const stream = await clientFor(streamed).chat.completions.create({ model: 'm', messages, stream: true })
    for await (const { choices } of stream) expect(choices[0]?.delta).toBeDefined()
  })

  test('reads a whole answer', async () => {
    const result = await clientFor(whole).chat.completions.create({ model: 'm', messages })
    expect(result.choices[0]?.message).toMatchObject({ content: 'hi', tool_calls: [{ id: 'call_1' }] })
  })

  test('throws the error that a stream breaks off with', async () => {
    const broken = () =>
      new Response(
        createChatStream(testContext, chatQuirks()).encodeError(
          new GatewayError('provider_failed', 'It broke.'),
        ) as Uint8Array<ArrayBuffer>,
        {
          headers: { 'content-type': 'text/event-stream' },
        },
      )
    const stream = await clientFor(broken).chat.completions.create({ model: 'm', messages, stream: true })
    const reading = (async () => {
      for await (const _ of stream) expect.unreachable()
    })()
    await expect(reading).rejects.toThrow('It broke.')
  })
})

describe('the @openrouter/sdk package', () => {
  const clientFor = (answer: () => Response) =>
    new OpenRouter({
      apiKey: 'k',
      serverURL: 'http://gateway.test/v1',
      httpClient: new HTTPClient({ fetcher: () => Promise.resolve(answer()) }),
    })

  test('accepts a whole answer', async () => {
    const result = await clientFor(whole).chat.send({ chatRequest: { model: 'm', messages, stream: false } })
    expect(result).toMatchObject({ id: 'gen-1-abc', systemFingerprint: null, usage: { promptTokens: 9 } })
  })

  // Some servers write every field of an object, used or not.
  test('accepts answers of servers that write null for every absent member', async () => {
    const nothing = { role: null, refusal: null, reasoning: null, reasoning_details: null, audio: null }
    const rest = { tool_calls: null, function_call: null, annotations: null, images: null, name: null }
    const nulls = { error: null, service_tier: null, system_fingerprint: null, openrouter_metadata: null }
    const called = { index: 0, id: 'a', type: '', function: { name: 'f', arguments: null } }
    const chunks = [
      {
        ...base,
        ...nulls,
        choices: [{ index: 0, delta: { ...nothing, ...rest, content: 'a' }, finish_reason: null }],
      },
      {
        ...base,
        ...nulls,
        choices: [{ index: 0, delta: { ...nothing, ...rest, tool_calls: [called] }, logprobs: null }],
      },
      {
        ...base,
        ...nulls,
        choices: [{ index: 0, delta: { role: '', tool_calls: [{ index: 0, function: null }] } }],
      },
      chunk({ ...nothing, ...rest, content: null }, 'stop'),
    ]
    const rewriter = createChatStream(testContext, chatQuirks())
    const shown = rewriter.push(streamOf(chunks)) ?? ''
    rewriter.end()
    const body = joinPieces([shown, rewriter.encodeEnding(testCharge)])
    const events = () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    const stream = await clientFor(events).chat.send({ chatRequest: { model: 'm', messages, stream: true } })
    if (!(Symbol.asyncIterator in stream)) throw new Error('it is not a stream')
    for await (const part of stream) expect(part.choices[0]?.index).toBe(0)

    const message = { ...nothing, ...rest, content: null, tool_calls: [called] }
    const wire = { ...nulls, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
    const answer = decodeChatAnswer(new TextEncoder().encode(JSON.stringify(wire)), testContext, chatQuirks())
    const json = () =>
      new Response(textOf(answer.encode(testCharge)), { headers: { 'content-type': 'application/json' } })
    const result = await clientFor(json).chat.send({ chatRequest: { model: 'm', messages, stream: false } })
    expect(result).toMatchObject({
      choices: [{ finishReason: 'tool_calls', message: { role: 'assistant' } }],
    })
  })

  test('accepts every chunk of a stream', async () => {
    const stream = await clientFor(streamed).chat.send({
      chatRequest: { model: 'm', messages, stream: true },
    })
    if (!(Symbol.asyncIterator in stream)) throw new Error('it is not a stream')
    let text = ''
    let cost: number | null | undefined
    for await (const part of stream) {
      text += part.choices[0]?.delta.content ?? ''
      cost = part.usage?.cost ?? cost
    }
    expect(text).toBe('Let me look.')
    expect(cost).toBe(30e-9)
  })
})
