import { describe, expect, test } from 'bun:test'
import type { TextCall } from '../../../canonical/call.ts'
import { chatQuirks } from '../chat/quirks.ts'
import { decodeChatRequest } from '../chat/read-request.ts'
import type { DecodeContext } from '../decode-context.ts'
import { runStream, testCharge, testContext, testEndpoint, textOf } from '../testing.ts'
import { callers, selectCodec, upstreams } from '../formats.ts'
import { leaveOutTexts } from '../../../json/set-aside-texts.ts'
import { decodeMessagesRequest } from '../messages/read-request.ts'
import { messagesQuirks } from '../messages/quirks.ts'
import { openReasoning, sealReasoning } from './reasoning-envelope.ts'
import { decodeResponsesRequest } from '../responses/read-request.ts'
import { responsesQuirks } from '../responses/quirks.ts'
import type { TextCodec } from '../codec.ts'
import { translate } from '../translate.ts'

// A seal goes back to the provider that can open it: the maker of the format, or the provider that an envelope names.

type Wire = Record<string, unknown>

interface Format {
  name: 'messages' | 'responses'
  /** A host that is not the maker of the format. */
  host: ReturnType<typeof messagesQuirks> | ReturnType<typeof responsesQuirks>
  maker: Format['host']
  /** A request whose history has a thought with each of these seals. */
  request(seals: readonly string[]): Wire
  decode: (bytes: Uint8Array, context: DecodeContext) => TextCall
  answer(seal: string): Wire
  stream(seal: string): Wire[]
  /** The text that stands in a history or in an answer for a seal of the format by `provider`. */
  envelope(provider: string, seal: string): string
  dropped: string
}

const block = (signature: string) => ({ type: 'thinking', thinking: 'Hm.', signature })
const item = (sealed: string) => ({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed })
const said = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
}
const whole = (output: unknown[], status = 'completed') => ({
  id: 'resp_1',
  object: 'response',
  status,
  model: 'm',
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})

const formats: readonly Format[] = [
  {
    name: 'messages',
    host: messagesQuirks({ isMaker: false }),
    maker: messagesQuirks(),
    decode: decodeMessagesRequest,
    request: (seals) => ({
      model: 'a/b',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Well?' },
        { role: 'assistant', content: [...seals.map(block), { type: 'text', text: 'Yes.' }] },
        { role: 'user', content: 'Sure?' },
      ],
    }),
    answer: (seal) => ({
      type: 'message',
      role: 'assistant',
      content: [block(seal), { type: 'redacted_thinking', data: seal }, { type: 'text', text: 'Yes.' }],
      stop_reason: 'end_turn',
    }),
    stream: (seal) => [
      { type: 'message_start', message: { content: [], usage: { input_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: block('') },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: seal } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: seal } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: 'Yes.' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
    envelope: (provider, seal) => `hr1.messages@${provider}.s..${seal}`,
    dropped: 'messages[].content[].thinking',
  },
  {
    name: 'responses',
    host: responsesQuirks({ isMaker: false, sealsThoughts: true }),
    maker: responsesQuirks({ sealsThoughts: true }),
    decode: decodeResponsesRequest,
    request: (seals) => ({
      model: 'a/b',
      input: [
        { role: 'user', content: 'Well?' },
        ...seals.map(item),
        said,
        { role: 'user', content: 'Sure?' },
      ],
    }),
    answer: (seal) => whole([item(seal), said]),
    stream: (seal) => [
      { type: 'response.created', response: whole([], 'in_progress') },
      { type: 'response.output_item.added', output_index: 0, item: { ...item(''), encrypted_content: seal } },
      { type: 'response.output_item.done', output_index: 0, item: item(seal) },
      { type: 'response.output_item.added', output_index: 1, item: { ...said, content: [] } },
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Yes.' },
      { type: 'response.output_item.done', output_index: 1, item: said },
      { type: 'response.completed', response: whole([item(seal), said]) },
    ],
    envelope: (provider, seal) => `hr1.responses@${provider}.d.rs_1.${seal}`,
    dropped: 'input[].reasoning',
  },
]

const long = 'QUJD'.repeat(200)

for (const { name, host, maker, request, decode, answer, stream, envelope, dropped } of formats) {
  const read = (body: Wire, isLarge: boolean): TextCall => {
    const bytes = Buffer.from(JSON.stringify(body))
    if (!isLarge) return decode(bytes, { sessionIdHeader: null })
    const work = leaveOutTexts(bytes)
    for (;;) {
      const { done, value } = work.next()
      if (done) return decode(bytes, { sessionIdHeader: null, lean: value })
    }
  }
  const ways: readonly [string, TextCodec][] = [
    ['as bytes', selectCodec(name, name)],
    ['through both halves', translate(callers[name], upstreams[name])],
  ]
  const seals = [
    `maker${long}`,
    envelope('fjord', `own${long}`),
    envelope('other', `other${long}`),
    `hr1.gemini.d..google${long}`,
  ]
  for (const [way, codec] of ways) {
    describe(`${name} ${way}`, () => {
      const sent = (provider: string, quirks: typeof host, isLarge: boolean) => {
        const call = read(request(seals), isLarge)
        const encoded = codec.encodeRequest(call, testEndpoint('up', provider), quirks)
        const found = textOf(encoded.body).match(/(?:hr1[^"]*|maker|own|other|google)(?=(?:QUJD){200}")/g)
        return { found, dropped: encoded.dropped }
      }
      for (const isLarge of [false, true]) {
        test(`a host is sent only its own seals${isLarge ? ' in a large request' : ''}`, () => {
          expect(sent('fjord', host, isLarge)).toEqual({ found: ['own'], dropped: [dropped] })
        })

        test(`the maker is sent seals without an envelope${isLarge ? ' in a large request' : ''}`, () => {
          expect(sent('fjord', maker, isLarge)).toEqual({ found: ['maker'], dropped: [dropped] })
        })
      }

      const context = { ...testContext, providerSlug: 'fjord.no' }
      const call = read(request([]), false)
      const marked = (text: string): string[] => text.match(/[^"]*QUJD(?=")/g) ?? []
      const wanted = (provider: string | null, count: number) =>
        Array.from({ length: count }, (_, at) => {
          if (provider === null) return 'QUJD'
          const sealed = envelope(provider, 'QUJD')
          return name === 'messages' && at % 2 === 1 ? sealed.replace('.s.', '.d.') : sealed
        })

      test('an answer of a host has its seals in envelopes, an answer of the maker has them unchanged', () => {
        const shown = (quirks: typeof host) =>
          marked(
            textOf(
              codec
                .decodeAnswer(Buffer.from(JSON.stringify(answer('QUJD'))), context, quirks, call)
                .encode(testCharge),
            ),
          )
        const count = name === 'messages' ? 2 : 1
        expect(shown(host)).toEqual(wanted('fjord~no', count))
        expect(shown(maker)).toEqual(wanted(null, count))
      })

      test('a stream does as well', () => {
        const frames = stream('QUJD').map((wire, at) => {
          const numbered = name === 'responses' ? { ...wire, sequence_number: at } : wire
          return `event: ${String(wire['type'])}\ndata: ${JSON.stringify(numbered)}\n\n`
        })
        const shown = (quirks: typeof host) => {
          const rewriter = codec.createStream(context, quirks, call)
          const run = runStream(rewriter, Buffer.from(frames.join('')))
          expect(rewriter.failure).toBeNull()
          return [...new Set(marked(run.shown + run.ending))]
        }
        const count = name === 'messages' ? 2 : 1
        expect(shown(host)).toEqual([...new Set(wanted('fjord~no', count))])
        expect(shown(maker)).toEqual(['QUJD'])
      })
    })
  }
}

test('an envelope names a provider whose slug has points', () => {
  const bound = {
    id: 'rs_1',
    signature: null,
    sealed: 'abc',
    origin: 'responses',
    sealer: 'my.own-1',
  } as const
  const text = sealReasoning(bound) ?? ''
  expect(text).toBe('hr1.responses@my~own-1.d.rs_1.abc')
  expect(openReasoning(text)).toEqual({ ...bound, text: null })
})

test('an unsigned thought gets no envelope', () => {
  expect(
    sealReasoning({ id: null, signature: '', sealed: null, origin: 'messages', sealer: 'fjord' }),
  ).toBeNull()
})

test('a host of chat completions that takes thoughts back is sent the text of the thought without an envelope', () => {
  const details = [
    { type: 'reasoning.encrypted', data: envelopeOf('fjord'), format: 'openai-responses-v1' },
    { type: 'reasoning.encrypted', data: 'plain', format: 'openai-responses-v1' },
  ]
  const spoken = { role: 'assistant', content: 'Yes.', reasoning: 'Hm.', reasoning_details: details }
  const messages = [{ role: 'user', content: 'Well?' }, spoken, { role: 'user', content: 'Sure?' }]
  const body = Buffer.from(JSON.stringify({ model: 'a/b', messages }))
  const call = decodeChatRequest(body, { sessionIdHeader: null })
  const quirks = chatQuirks({ reasoningHistory: 'keep', unknownMembers: 'forward' })
  const encoded = selectCodec('chat', 'chat').encodeRequest(call, testEndpoint('up', 'fjord'), quirks)
  const [, sent] = (JSON.parse(textOf(encoded.body)) as { messages: Wire[] }).messages
  expect(sent).toEqual({ ...spoken, reasoning_details: details.slice(1) })
  expect(encoded.dropped).toEqual(['messages[].reasoning'])
})

function envelopeOf(sealer: string): string | null {
  return sealReasoning({ id: 'rs_1', signature: null, sealed: 'abc', origin: 'responses', sealer })
}
