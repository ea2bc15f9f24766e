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
import { asMessages } from '../formats/text/messages/quirks.ts'
import type { TextInterface } from '../formats/text/text-interface.ts'
import type { Preset } from './define-provider.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/** The promises of every provider with Anthropic's messages, for a chat completions caller. */
export function testMessages(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('chat', adapter.format)
  const endpoint = testEndpoint('claude-sonnet-4-5', preset.slug)
  const request = {
    model: 'author/name',
    provider: { sort: 'price' },
    session_id: 's',
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ],
    seed: 1,
    stream: true,
    unknown_member: 1,
  }
  const call = decodeChatRequest(bytesOf(request), { sessionIdHeader: null })

  test('is sent messages of its own format, and nothing that is only the gateway’s', () => {
    const { body, dropped } = codec.encodeRequest(call, endpoint, adapter.quirks)
    const wire = JSON.parse(textOf(body))
    const { inBody } = asMessages(adapter.quirks)
    expect(wire).toEqual({
      ...(inBody === null ? { model: 'claude-sonnet-4-5' } : { anthropic_version: inBody.version }),
      max_tokens: expect.any(Number),
      system: [{ type: 'text', text: 'be brief' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      ...(inBody?.hasStream === false ? {} : { stream: true }),
    })
    expect([...dropped].toSorted()).toEqual(['seed', 'unknown_member'])
  })

  test('is not sent what would change the answer', () => {
    for (const [name, value] of Object.entries({ n: 2, logprobs: true, web_search_options: {} })) {
      const asked = decodeChatRequest(bytesOf({ ...request, [name]: value }), { sessionIdHeader: null })
      expect(() => codec.encodeRequest(asked, endpoint, adapter.quirks)).toThrow(`"${name}"`)
    }
  })

  test('answers in the contract’s form', () => {
    const wire = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 4, cache_read_input_tokens: 5, output_tokens: 3 },
    }
    const answer = codec.decodeAnswer(bytesOf(wire), testContext, adapter.quirks, call)
    expect(answer.reading.usage).toMatchObject({ inputTokens: 9, cachedInputTokens: 5, outputTokens: 3 })
    const shown = JSON.parse(textOf(answer.encode(testCharge)))
    expect(chatAnswerSchema.safeParse(shown).error).toBeUndefined()
    expect(shown.choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'end_turn' })
  })

  test('streams in the contract’s form, its ending kept back', () => {
    const events = [
      { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
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
