import { describe, expect, test } from 'bun:test'
import type { StreamRewriter } from '../../../canonical/upstream.ts'
import { chatQuirks } from '../chat/quirks.ts'
import { messagesQuirks } from '../messages/quirks.ts'
import { decodeResponsesRequest } from '../responses/read-request.ts'
import { responsesQuirks } from '../responses/quirks.ts'
import { selectCodec } from '../formats.ts'
import { runStream, testContext } from '../testing.ts'

// Rules that hold for a passing stream in every format.

const call = decodeResponsesRequest(Buffer.from('{"model":"a/b","input":"x"}'), { sessionIdHeader: null })
const response = { id: 'resp_1', status: 'in_progress', model: 'm', output: [] }
const item = { id: 'm', type: 'message', role: 'assistant', content: [], status: 'in_progress' }
const place = { item_id: 'm', output_index: 0, content_index: 0 }

const formats: readonly { name: string; open: () => StreamRewriter; frames: readonly object[] }[] = [
  {
    name: 'chat',
    open: () => selectCodec('chat', 'chat').createStream(testContext, chatQuirks(), call),
    frames: ['Hel', 'lo', '.'].map((content) => ({ id: 'c', choices: [{ index: 0, delta: { content } }] })),
  },
  {
    name: 'messages',
    open: () => selectCodec('messages', 'messages').createStream(testContext, messagesQuirks(), call),
    frames: [
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...['Hel', 'lo', '.'].map((text) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      })),
    ],
  },
  {
    name: 'responses',
    open: () => selectCodec('responses', 'responses').createStream(testContext, responsesQuirks(), call),
    frames: [
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '' } },
      ...['Hel', 'lo', '.'].map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    ].map((frame, number) => ({ ...frame, sequence_number: number })),
  },
]

for (const { name, open, frames } of formats) {
  describe(name, () => {
    const write = (between: string) =>
      new TextEncoder().encode(frames.map((frame) => `data: ${JSON.stringify(frame)}${between}`).join(''))

    test('empty lines beyond the one that ends a frame change nothing', () => {
      const usual = runStream(open(), write('\n\n'))
      expect(usual.shown).toContain('lo')
      for (const between of ['\n\n\n', '\n\n\n\n', '\r\n\r\n\r\n']) {
        expect(runStream(open(), write(between)).shown).toBe(usual.shown)
      }
    })

    test('the first failure ends the stream, and a later one does not replace it', () => {
      const stream = open()
      stream.push(write('\n\n'))
      stream.push(new TextEncoder().encode('data: {"broken\n\n'))
      const { failure } = stream
      expect([failure?.type, stream.stage]).toEqual(['provider_failed', 'failed'])
      const reading = stream.reading()
      expect(stream.push(write('\n\n'))).toBeNull()
      stream.push(new TextEncoder().encode('data: {"error":{"message":"Another."}}\n\n'))
      stream.end()
      expect([stream.failure, stream.stage]).toEqual([failure, 'failed'])
      expect(stream.reading()).toEqual(reading)
    })
  })
}
