import { describe, expect, spyOn, test } from 'bun:test'
import { type BodyPieces, joinPieces } from '../../core/body.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { LeanJson } from '../../json/document.ts'
import { decodeChatRequest } from './chat/read-request.ts'
import type { DecodeContext } from './decode-context.ts'
import { chatQuirks } from './chat/quirks.ts'
import { testEndpoint } from './testing.ts'
import { selectCodec } from './formats.ts'
import { leaveOutTexts } from '../../json/set-aside-texts.ts'
import { listAddresses } from './media/media-addresses.ts'
import { decodeMessagesRequest } from './messages/read-request.ts'
import { messagesQuirks } from './messages/quirks.ts'
import { decodeResponsesRequest } from './responses/read-request.ts'

const decoders = {
  chat: decodeChatRequest,
  responses: decodeResponsesRequest,
  messages: decodeMessagesRequest,
}
const quirksOf = { chat: chatQuirks(), messages: messagesQuirks() }

/** A text with escapes that is longer than the texts kept in a lean body. */
const words = 'Größe 東京 🦆 "quoted" \\ back \n'.repeat(60)
const png = 'iVBORw0KGgo+/'.repeat(100_000)
const input = { path: 'a.txt', text: words, list: [words, { deep: words }] }
const plain = `data:text/plain;base64,${Buffer.from(words).toString('base64')}`
const sealed = `hr1.messages.s..${'QUJD'.repeat(200)}`

const chatBody = {
  model: 'a/b',
  messages: [
    { role: 'system', content: words },
    {
      role: 'user',
      content: [
        { type: 'text', text: words },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        { type: 'image_url', image_url: { url: `https://example.com/?q=${'a'.repeat(400)}` } },
        { type: 'file', file: { filename: 'a.txt', file_data: plain } },
      ],
    },
    {
      role: 'assistant',
      content: words,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'a', arguments: JSON.stringify(input) } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: words },
  ],
  tools: [
    { type: 'function', function: { name: 'a', description: words, parameters: { description: words } } },
  ],
  response_format: { type: 'json_schema', json_schema: { name: 's', schema: { description: words } } },
}
const responsesBody = {
  model: 'a/b',
  instructions: words,
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: words },
        { type: 'input_image', image_url: `data:image/png;base64,${png}` },
        { type: 'input_file', filename: 'a.txt', file_data: plain },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: words }],
      encrypted_content: sealed,
    },
    { type: 'function_call', call_id: 'c1', name: 'a', arguments: JSON.stringify(input) },
    { type: 'function_call_output', call_id: 'c1', output: words },
  ],
}
const messagesBody = {
  model: 'a/b',
  max_tokens: 9,
  system: [{ type: 'text', text: words }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: words },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        { type: 'document', title: words, source: { type: 'text', media_type: 'text/plain', data: words } },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'a', input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: words }] },
  ],
}

function leanOf(bytes: Uint8Array): LeanJson {
  const work = leaveOutTexts(bytes)
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

function encode(call: TextCall, upstream: 'chat' | 'messages'): BodyPieces {
  return selectCodec(call.format, upstream).encodeRequest(call, testEndpoint('up'), quirksOf[upstream]).body
}

const textOf = (pieces: BodyPieces) => new TextDecoder().decode(joinPieces(pieces))

describe('a large body in another format', () => {
  const pairs = [
    ['chat', 'messages', chatBody],
    ['responses', 'chat', responsesBody],
    ['responses', 'messages', responsesBody],
    ['messages', 'chat', messagesBody],
  ] as const
  for (const [caller, upstream, body] of pairs) {
    const bytes = Buffer.from(JSON.stringify(body))
    const decode = (lean: LeanJson | null) => {
      const context: DecodeContext = { sessionIdHeader: null, lean }
      return decoders[caller](bytes, context)
    }

    test(`${caller} to ${upstream} is translated like a small one`, () => {
      const small = JSON.parse(textOf(encode(decode(null), upstream))) as unknown
      expect(JSON.parse(textOf(encode(decode(leanOf(bytes)), upstream)))).toEqual(small)
    })

    test(`${caller} to ${upstream}: its picture goes on as the bytes that came`, () => {
      const pieces = encode(decode(leanOf(bytes)), upstream)
      const views = pieces.filter((piece) => typeof piece !== 'string' && piece.buffer === bytes.buffer)
      expect(Math.max(...views.map(({ length }) => length))).toBe(png.length)
    })
  }
})

describe('a large body of many short texts', () => {
  const messages = Array.from({ length: 45_000 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${'word '.repeat(40)}${index}`,
  }))
  const bytes = Buffer.from(JSON.stringify({ model: 'a/b', max_tokens: 9, messages }))

  for (const format of ['chat', 'messages'] as const) {
    test(`${format} to ${format} is never parsed whole, and read in steps before`, () => {
      let steps = 1
      const work = leaveOutTexts(bytes)
      let step = work.next()
      for (; !step.done; step = work.next()) steps += 1
      expect(steps).toBeGreaterThan(40)
      const lean = step.value
      const parse = spyOn(JSON, 'parse')
      try {
        const call = decoders[format](bytes, { sessionIdHeader: null, lean })
        expect(listAddresses(call)).toEqual([])
        const body = encode(call, format)
        const lengths = parse.mock.calls.map(([json]) => json.length)
        expect(Math.max(0, ...lengths)).toBeLessThan(1_000)
        expect(body.some((piece) => typeof piece !== 'string' && piece.buffer === bytes.buffer)).toBe(true)
      } finally {
        parse.mockRestore()
      }
    })
  }

  test('still names an address that must be fetched', () => {
    const url = 'http://example.com/a.png'
    const named = {
      chat: { type: 'image_url', image_url: { url } },
      messages: { type: 'image', source: { type: 'url', url } },
    }
    for (const format of ['chat', 'messages'] as const) {
      const last = { role: 'user', content: [named[format]] }
      const body = Buffer.from(
        JSON.stringify({ model: 'a/b', max_tokens: 9, messages: [...messages.slice(0, 20_000), last] }),
      )
      const call = decoders[format](body, { sessionIdHeader: null, lean: leanOf(body) })
      expect(listAddresses(call).map((address) => address.url)).toEqual([url])
    }
  })
})
