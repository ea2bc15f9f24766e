import { describe, expect, test } from 'bun:test'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, joinEvents } from '../../src/canonical/text/answer.ts'
import { readCohereAnswer } from '../../src/formats/text/cohere/read-answer.ts'
import { createCohereReader } from '../../src/formats/text/cohere/read-stream.ts'
import { readConverseFailure } from '../../src/formats/text/converse/errors.ts'
import { readConverseAnswer } from '../../src/formats/text/converse/read-answer.ts'
import { createConverseReader } from '../../src/formats/text/converse/read-stream.ts'
import type { StreamReader } from '../../src/formats/text/halves.ts'
import { runStream, testCharge, testContext, testEndpoint, textOf } from '../../src/formats/text/testing.ts'
import { textAdapter } from '../../src/formats/text/adapter.ts'
import { decodeChatRequest } from '../../src/formats/text/chat/read-request.ts'
import { selectCodec } from '../../src/formats/text/formats.ts'
import { messagesQuirks } from '../../src/formats/text/messages/quirks.ts'
import { readMessagesAnswer } from '../../src/formats/text/messages/read-answer.ts'
import { ChunkStream } from '../../src/formats/text/streams/chunk-stream.ts'
import { bedrockEmbeddings } from '../../src/formats/invoke/quirks.ts'
import { decodeEmbeddingsRequest } from '../../src/formats/embeddings/read-request.ts'
import { readUpstreamFailure } from '../../src/formats/upstream-errors.ts'
import { recordingsRoot } from './outside.ts'

/** A body as it was recorded; the tests say what stands in it. */
type Wire = Record<string, ReturnType<typeof JSON.parse>>

interface Exchange {
  id: string
  wire: string
  path: string
  status: number
  request?: Wire
  response?: Wire
  sse?: string
  responseBase64?: string
}

const folder = join(recordingsRoot, 'outside')
const reason = existsSync(folder)
  ? null
  : 'no exchanges with Bedrock and Cohere are here: set HEADRACE_RECORDINGS'
if (reason !== null) console.warn(`skipped: ${reason}`)

const exchanges =
  reason === null
    ? globSync(join(folder, '{bedrock,cohere}-*.json'))
        .toSorted()
        .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Exchange)
    : []
const of = (wire: string, isGood: boolean) =>
  exchanges.filter((each) => each.wire === wire && (each.status === 200) === isGood)

/** Texts, thoughts and calls of an answer, joined by kind, whatever their parts. */
function told({ choices, usage }: Answer) {
  const parts = choices[0]?.parts ?? []
  const textOfKind = (type: string) =>
    parts
      .filter(({ head }) => head.type === type)
      .map(({ text }) => text)
      .join('')
  const calls = parts.flatMap(({ head, text }) =>
    head.type === 'tool_call' ? [[head.id, head.name, JSON.parse(text || '{}')]] : [],
  )
  const counts = usage?.usage
  return {
    text: textOfKind('text'),
    thoughts: textOfKind('reasoning'),
    calls,
    native: choices[0]?.finish?.native,
    input: counts?.inputTokens,
    cached: counts?.cachedInputTokens,
    written: counts?.cacheWriteTokens,
    output: counts?.outputTokens,
  }
}

function usageOf(usage: Wire) {
  const [cached, written] = [usage['cacheReadInputTokens'] ?? 0, usage['cacheWriteInputTokens'] ?? 0]
  return { input: usage['inputTokens'] + cached + written, cached, written, output: usage['outputTokens'] }
}

/** The same of a body of Converse, read by its documentation. */
function converseTold({ output, stopReason, usage }: Wire) {
  const content: Wire[] = output.message.content
  return {
    text: content
      .map(
        (block) =>
          block['text'] ?? block['citationsContent']?.content?.map((one: Wire) => one['text']).join('') ?? '',
      )
      .join(''),
    thoughts: content.map((block) => block['reasoningContent']?.reasoningText?.text ?? '').join(''),
    calls: content.flatMap(({ toolUse }) =>
      toolUse ? [[toolUse.toolUseId, toolUse.name, toolUse.input]] : [],
    ),
    native: stopReason,
    ...usageOf(usage),
  }
}

/** The events of a binary stream, cut by their lengths alone. */
function framesOf(bytes: Buffer): [name: string, payload: Wire][] {
  const frames: [string, Wire][] = []
  for (let at = 0; at < bytes.length;) {
    const [length, headers] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
    const head = bytes.toString('latin1', at + 12, at + 12 + headers)
    const name = /:event-type\x07..([A-Za-z]+)/s.exec(head)?.[1] ?? ''
    frames.push([name, JSON.parse(bytes.toString('utf8', at + 12 + headers, at + length - 4))])
    at += length
  }
  return frames
}

function streamTold(bytes: Buffer) {
  const seen = { text: '', thoughts: '', calls: [] as unknown[][], native: '', usage: {} as Wire }
  const calls = new Map<number, { id: string; name: string; json: string }>()
  for (const [name, event] of framesOf(bytes)) {
    const { contentBlockIndex: index, delta, start } = event
    if (start?.toolUse) calls.set(index, { id: start.toolUse.toolUseId, name: start.toolUse.name, json: '' })
    seen.text += delta?.text ?? ''
    seen.thoughts += delta?.reasoningContent?.text ?? ''
    const call = calls.get(index)
    if (call && delta?.toolUse) call.json += delta.toolUse.input
    if (name === 'messageStop') seen.native = event['stopReason']
    if (name === 'metadata') seen.usage = event['usage']
  }
  const listed = [...calls.values()].map(({ id, name, json }) => [id, name, JSON.parse(json || '{}')])
  return {
    text: seen.text,
    thoughts: seen.thoughts,
    calls: listed,
    native: seen.native,
    ...usageOf(seen.usage),
  }
}

function read(reader: StreamReader, bytes: Uint8Array, step: number): Answer {
  const events = []
  for (let at = 0; at < bytes.length; at += step) events.push(...reader.push(bytes.subarray(at, at + step)))
  return joinEvents([...events, ...reader.end()])
}

describe.skipIf(reason !== null)('Bedrock’s recorded replies', () => {
  test.each(of('bedrock-converse', true))('$id say the same here', ({ response, responseBase64 }) => {
    if (responseBase64 === undefined) {
      const bytes = Buffer.from(JSON.stringify(response))
      const { usage } = response ?? {}
      if (usage === undefined) return
      expect(told(readConverseAnswer(bytes))).toEqual(converseTold(response ?? {}))
      return
    }
    const bytes = Buffer.from(responseBase64, 'base64')
    const expected = streamTold(bytes)
    for (const step of [bytes.length, 1, 7, 100]) {
      const answer = told(read(createConverseReader(testContext), bytes, step))
      // A guardrail that ends the answer tells no usage.
      if (expected.output === undefined) expect(answer.text).toBe(expected.text)
      else expect(answer).toEqual(expected)
    }
  })

  test.each(of('bedrock-converse', false))(
    '$id is a refusal of the request or of the model',
    ({ status, response }) => {
      const failure = readConverseFailure({
        status,
        headers: new Headers(),
        body: Buffer.from(JSON.stringify(response)),
        requestedModel: 'a/b',
        modelNames: ['a/b'],
        parameterNames: [],
      })
      const isModel = String(response?.['message']).includes('model identifier')
      expect([failure.error.type, failure.retryElsewhere]).toEqual(
        isModel ? ['no_matching_endpoint', true] : ['invalid_request', false],
      )
    },
  )
})

/** The events that stand in the frames, as a client of Anthropic’s puts them together. */
function claudeTold(bytes: Buffer) {
  const events: Wire[] = framesOf(bytes).map(([, { bytes: event }]) =>
    JSON.parse(Buffer.from(event, 'base64').toString('utf8')),
  )
  const content = new Map<number, { text: string; json: string; call: Wire | null }>()
  let [usage, stop]: [Wire, unknown] = [{}, null]
  for (const { type, index, content_block: block, delta, message, usage: counted } of events) {
    if (type === 'message_start') usage = { ...message.usage }
    if (type === 'content_block_start')
      content.set(index, { text: block.text ?? '', json: '', call: block.type === 'tool_use' ? block : null })
    const open = content.get(index)
    if (type === 'content_block_delta' && open !== undefined) {
      open.text += delta.text ?? ''
      open.json += delta.partial_json ?? ''
    }
    if (type === 'message_delta') {
      stop = delta.stop_reason
      usage = { ...usage, ...counted }
    }
  }
  const blocks = [...content.values()]
  return {
    text: blocks.map(({ text }) => text).join(''),
    calls: blocks.flatMap(({ call, json }) =>
      call === null ? [] : [[call['id'], call['name'], JSON.parse(json || '{}')]],
    ),
    native: stop,
    input: usage['input_tokens'],
    output: usage['output_tokens'],
  }
}

describe.skipIf(reason !== null)('Claude’s recorded replies by Bedrock’s InvokeModel', () => {
  const ofClaude = of('bedrock-invoke', true).filter(({ path }) => path.includes('anthropic.claude'))
  const call = decodeChatRequest(
    Buffer.from('{"model":"a/b","stream":true,"messages":[{"role":"user","content":"x"}]}'),
    { sessionIdHeader: null },
  )

  test.each(ofClaude.filter(({ responseBase64 }) => responseBase64 !== undefined))(
    '$id say the same in a stream',
    ({ responseBase64 = '' }) => {
      const bytes = Buffer.from(responseBase64, 'base64')
      const expected = claudeTold(bytes)
      for (const step of [bytes.length, 1, 7, 100]) {
        const codec = selectCodec('chat', 'messages')
        const rewriter = new ChunkStream(codec.createStream(testContext, messagesQuirks(), call))
        const cuts = Array.from({ length: Math.floor(bytes.length / step) }, (_, at) => at * step)
        const { shown, ending } = runStream(rewriter, bytes, cuts)
        const choices: Wire[] = objectsOf(shown + ending).flatMap(({ choices: each }) => each)
        const calls: Wire[] = []
        for (const { delta } of choices)
          for (const { index, id, function: piece } of delta.tool_calls ?? []) {
            const one = (calls[index] ??= { id: '', name: '', json: '' })
            one['id'] += id ?? ''
            one['name'] += piece.name ?? ''
            one['json'] += piece.arguments ?? ''
          }
        const { usage } = rewriter.reading()
        expect<unknown>({
          text: choices.map(({ delta }) => delta.content ?? '').join(''),
          calls: calls.map(({ id, name, json }) => [id, name, JSON.parse(json || '{}')]),
          native: expected.native,
          input: usage?.inputTokens,
          output: usage?.outputTokens,
        }).toEqual(expected)
      }
    },
  )

  test.each(ofClaude.filter(({ response }) => response !== undefined))('$id say the same', ({ response }) => {
    const { content, stop_reason: native, usage } = response ?? {}
    const answer = told(readMessagesAnswer(Buffer.from(JSON.stringify(response)), testContext))
    expect(answer).toMatchObject({
      text: content.map(({ text }: Wire) => text ?? '').join(''),
      calls: content.flatMap(({ type, id, name, input }: Wire) =>
        type === 'tool_use' ? [[id, name, input]] : [],
      ),
      native,
      input: usage.input_tokens,
      output: usage.output_tokens,
    })
  })
})

/** The objects of a stream of server-sent events. */
function objectsOf(text: string): Wire[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))
}

describe.skipIf(reason !== null)('Bedrock’s recorded vectors', () => {
  const embedded = of('bedrock-invoke', true).filter(({ path }) => path.includes('embed'))

  test.each(embedded)('$id are read, and asked for as their client asked', ({ path, request, response }) => {
    const input: string[] = request?.['texts'] ?? [request?.['singleEmbeddingParams'].text.value]
    const call = decodeEmbeddingsRequest(Buffer.from(JSON.stringify({ model: 'a/b', input })), {
      sessionIdHeader: null,
    })
    const upstream = decodeURIComponent(path.split('/')[2] ?? '')
    const adapter = textAdapter('embeddings', bedrockEmbeddings())
    const at = { call, endpoint: testEndpoint(upstream, 'amazon-bedrock'), context: testContext }
    const step = adapter.first(at)
    if (step.type !== 'send') throw new Error('expected a request')
    expect(step.exchange.request.path).toBe(path)
    const asked: Wire = JSON.parse(textOf(step.exchange.request.body as Parameters<typeof textOf>[0]))
    expect(Object.keys(asked)).toContain(request?.['texts'] === undefined ? 'singleEmbeddingParams' : 'texts')
    const bytes = Buffer.from(JSON.stringify(response))
    const next = adapter.next(step.state, { headers: new Headers(), bytes }, at)
    if (next.type !== 'answer') throw new Error('expected an answer')
    const shown: Wire = JSON.parse(textOf(next.answer.encode(testCharge)))
    const { embeddings } = response ?? {}
    const vectors: unknown[] = (embeddings.float ?? embeddings).map((each: Wire | number[]) =>
      Array.isArray(each) ? each : each['embedding'],
    )
    expect(shown['data'].map(({ embedding }: Wire) => embedding)).toEqual(vectors)
  })
})

/** What Cohere’s documentation says of a message. */
function cohereTold({ message, finish_reason: native, usage }: Wire) {
  const content: Wire[] = message.content ?? []
  return {
    text: content.map((block) => block['text'] ?? '').join(''),
    thoughts: content.map((block) => block['thinking'] ?? '').join('') + (message.tool_plan ?? ''),
    calls: (message.tool_calls ?? []).map((call: Wire) => [
      call['id'],
      call['function'].name,
      JSON.parse(call['function'].arguments || '{}'),
    ]),
    native,
    input: usage.billed_units.input_tokens,
    cached: 0,
    written: 0,
    output: usage.billed_units.output_tokens,
  }
}

/** The message whose events these are. */
function cohereMessage(sse: string): Wire {
  const message: Wire = { content: [], tool_plan: '', tool_calls: [] }
  let end: Wire = {}
  for (const [, json = ''] of sse.matchAll(/^data: (\{.*)$/gm)) {
    const { type, index = 0, delta } = JSON.parse(json)
    const part: Wire = delta?.message ?? {}
    if (type === 'content-start') message['content'][index] = { ...part['content'] }
    if (type === 'content-delta') {
      const [[name, piece] = ['text', '']] = Object.entries(part['content'])
      message['content'][index][name] += piece
    }
    if (type === 'tool-plan-delta') message['tool_plan'] += part['tool_plan']
    if (type === 'tool-call-start') message['tool_calls'][index] = structuredClone(part['tool_calls'])
    if (type === 'tool-call-delta')
      message['tool_calls'][index].function.arguments += part['tool_calls'].function.arguments
    if (type === 'message-end') end = delta
  }
  return { message, ...end }
}

describe.skipIf(reason !== null)('Cohere’s recorded replies', () => {
  test.each(of('cohere-chat', true))('$id say the same here', ({ response, sse }) => {
    if (sse === undefined) {
      expect(told(readCohereAnswer(Buffer.from(JSON.stringify(response))))).toEqual(
        cohereTold(response ?? {}),
      )
      return
    }
    const bytes = Buffer.from(sse)
    const expected = cohereTold(cohereMessage(sse))
    for (const step of [bytes.length, 1, 7, 100])
      expect(told(read(createCohereReader(testContext), bytes, step))).toEqual(expected)
  })

  test.each(of('cohere-chat', false))('$id is a refusal', ({ status, response }) => {
    const { error, credentialFault } = readUpstreamFailure({
      status,
      headers: new Headers(),
      body: Buffer.from(JSON.stringify(response)),
      requestedModel: 'a/b',
      modelNames: ['a/b'],
      parameterNames: [],
    })
    expect([error.type, credentialFault]).toEqual(
      status === 401 ? ['provider_failed', true] : ['context_length_exceeded', false],
    )
  })
})
