import { expect, test } from 'bun:test'
import { chatAnswerSchema, chatChunkSchema } from '../formats/text/chat/answer-schema.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import {
  framesOf,
  runStream,
  testCharge,
  testContext,
  testEndpoint,
  textOf,
} from '../formats/text/testing.ts'
import { selectCodec } from '../formats/text/formats.ts'
import type { TextInterface } from '../formats/text/text-interface.ts'
import type { Preset } from './define-provider.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/** The promises of every provider with OpenAI's responses, for a chat completions caller. */
export function testResponses(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('chat', adapter.format)
  const endpoint = testEndpoint('some-model', preset.slug)
  const request = {
    model: 'author/name',
    provider: { sort: 'price' },
    session_id: 's',
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
    seed: 1,
    stream: true,
    unknown_member: 1,
  }
  const call = decodeChatRequest(bytesOf(request), { sessionIdHeader: null })

  test('is sent a response’s request that nobody keeps, and nothing that is only the gateway’s', () => {
    const { body, dropped } = codec.encodeRequest(call, endpoint, adapter.quirks)
    const { include: _asked, ...wire } = JSON.parse(textOf(body))
    expect(wire).toEqual({
      model: 'some-model',
      instructions: 'be brief',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
      store: false,
      stream: true,
    })
    expect([...dropped].toSorted()).toEqual(['seed', 'unknown_member'])
  })

  test('is not sent what would change the answer', () => {
    for (const [name, value] of Object.entries({ n: 2, stop: ['x'], web_search_options: {} })) {
      const asked = decodeChatRequest(bytesOf({ ...request, [name]: value }), { sessionIdHeader: null })
      expect(() => codec.encodeRequest(asked, endpoint, adapter.quirks)).toThrow(`"${name}"`)
    }
  })

  const content = [{ type: 'output_text', text: 'hi', annotations: [] }]
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'up',
    output: [message],
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens: 3,
      total_tokens: 12,
    },
  }

  test('answers in the contract’s form', () => {
    const answer = codec.decodeAnswer(bytesOf(response), testContext, adapter.quirks, call)
    expect(answer.reading.usage).toMatchObject({ inputTokens: 9, cachedInputTokens: 5, outputTokens: 3 })
    const shown = JSON.parse(textOf(answer.encode(testCharge)))
    expect(chatAnswerSchema.safeParse(shown).error).toBeUndefined()
    expect(shown.choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'completed' })
  })

  test('streams in the contract’s form, its ending kept back', () => {
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hi' },
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.completed', response },
    ]
    const bytes = new TextEncoder().encode(
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
    )
    const { shown, ending, rewriter } = runStream(
      codec.createStream(testContext, adapter.quirks, call),
      bytes,
    )
    const frames = framesOf(shown + ending)
    for (const frame of frames) expect(chatChunkSchema.safeParse(frame).error).toBeUndefined()
    expect(framesOf(shown)).toHaveLength(1)
    expect(rewriter.reading().usage).toMatchObject({ inputTokens: 9, outputTokens: 3 })
  })
}
