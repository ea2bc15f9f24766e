import { expect, test } from 'bun:test'
import type { CanonicalTranscription } from '../../canonical/audio.ts'
import { openAiTranscriptEvents, openAiTranscriptReader } from './openai-transcript-stream.ts'

// Events by section 2 of the reference: `transcript.text.delta {delta, logprobs?}`, `transcript.text.done {text, usage?}`.

const readWhole = (bytes: Uint8Array) =>
  ({ text: (JSON.parse(Buffer.from(bytes).toString()) as { text: string }).text }) as CanonicalTranscription

const frame = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`
const stream = [
  {
    type: 'transcript.text.delta',
    delta: 'Öffne',
    logprobs: [{ token: 'Ö', logprob: -0.1, bytes: [195, 150] }],
  },
  { type: 'transcript.text.delta', delta: ' das Tor 💧.' },
  { type: 'transcript.text.done', text: 'Öffne das Tor 💧.' },
]

test('the text comes piece by piece and the whole at the end, wherever reads are cut', () => {
  const bytes = Buffer.from(`: a comment\n\n${stream.map(frame).join('')}data: [DONE]\n\n`)
  for (let cut = 1; cut <= bytes.length; cut += 1) {
    const reader = openAiTranscriptReader(openAiTranscriptEvents, readWhole)
    let text = ''
    for (let at = 0; at < bytes.length; at += cut) text += reader.push(bytes.subarray(at, at + cut))
    expect([cut, text, reader.end().text]).toEqual([cut, 'Öffne das Tor 💧.', 'Öffne das Tor 💧.'])
  }
})

test('an answer that is not a stream is read as a whole', () => {
  for (const bytes of [Buffer.from('{"text":"Open."}'), Buffer.from(' \n{"text":"Open."}')]) {
    const reader = openAiTranscriptReader(openAiTranscriptEvents, readWhole)
    expect(reader.push(bytes.subarray(0, 3)) + reader.push(bytes.subarray(3))).toBe('')
    expect(reader.end().text).toBe('Open.')
  }
})

test('an error, and an end without done, break the stream off after the text that came before', () => {
  for (const last of ['', frame({ error: { message: 'secret host' } }), 'data: {broken\n\n']) {
    const reader = openAiTranscriptReader(openAiTranscriptEvents, readWhole)
    expect(reader.push(Buffer.from(frame(stream[0]) + last))).toBe('Öffne')
    expect(() => reader.end()).toThrow('The provider broke off the transcript')
  }
})

test('events with a provider’s own names are read, and the text begins without a space', () => {
  const own = { delta: 'words', deltaMember: 'text', done: 'end' }
  const reader = openAiTranscriptReader(own, readWhole)
  const events = [
    { type: 'language', audio_language: 'de' },
    { type: 'words', text: ' ', error: null },
    { type: 'words', text: ' Öffne', error: null },
    { type: 'words', text: ' das Tor.' },
    { type: 'end', text: ' Öffne das Tor.', error: null },
  ]
  const shown = events.map((event) => reader.push(Buffer.from(`event: ${event.type}\n${frame(event)}`)))
  expect(shown).toEqual(['', '', 'Öffne', ' das Tor.', ''])
  expect(reader.end().text).toBe(' Öffne das Tor.')
})
