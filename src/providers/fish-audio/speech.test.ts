import { expect, test } from 'bun:test'
import { speechRequestOf } from '../../../test/support/speech-testing.ts'
import { fishSpeech } from './speech.ts'

test('Fish Audio has its model in a header, and clips with their words in MessagePack', () => {
  const clip = { type: 'input_audio', input_audio: { data: 'UklGRg==' } }
  const { headers, body } = speechRequestOf(fishSpeech, 's1', {
    input_references: [clip, { type: 'text', text: 'one' }, clip, { type: 'text', text: 'two' }],
  })
  expect(headers).toMatchObject({ model: 's1', 'content-type': 'application/msgpack' })
  const audio = new Uint8Array(Buffer.from('RIFF'))
  expect(body).toMatchObject({
    text: 'Hello',
    references: [
      { audio, text: 'one' },
      { audio, text: 'two' },
    ],
  })
  expect(body).not.toHaveProperty('reference_id')
})
