import { describe, expect, test } from 'bun:test'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { StreamedBody } from '../../canonical/upstream.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { azureSpeechTranscription } from './transcription.ts'
import { readAzureSpeechTranscript } from './transcript.ts'
import { remoteAudio } from '../../formats/transcription/transcription-request.ts'
import { testSound, testTranscription } from '../../formats/transcription/transcription-testing.ts'

const endpoint: Endpoint = { ...testEndpoint('fast-transcription'), modality: 'transcription' }
const provider = endpoint.deployment.provider

async function sent(changes: Partial<TranscriptionCall>) {
  const call = testTranscription(changes)
  const step = azureSpeechTranscription.first({ call, endpoint, context: testContext })
  if (step.type !== 'send') throw new Error('expected a request')
  const { request, dropped } = step.exchange
  const body = await new Response((request.body as StreamedBody).open()).bytes()
  const form = await new Response(body, { headers: request.headers }).formData()
  const { definition, ...files } = Object.fromEntries(form) as Record<string, string | File>
  const named = Object.entries(files).map(([name, file]) => [name, (file as File).name])
  return { path: request.path, dropped, definition: JSON.parse(definition as string) as unknown, named }
}

describe('a form for Azure Speech', () => {
  test.each<[string, Partial<TranscriptionCall>, object]>([
    ['nothing but the sound', {}, {}],
    ['the likeliest region of a language', { language: 'pt' }, { locales: ['pt-BR'] }],
    ['no script of a language', { language: 'zh' }, { locales: ['zh-CN'] }],
    ['that speakers are wanted', { diarize: true }, { diarization: { enabled: true } }],
    ['terms once each', { keyterms: ['a b', ' c ', 'c'] }, { phraseList: { phrases: ['a b', 'c'] } }],
  ])('says %s', async (_, changes, definition) => {
    expect(await sent(changes)).toEqual({
      path: '/transcriptions:transcribe?api-version=2025-10-15',
      dropped: [],
      definition,
      named: [['audio', 'audio.wav']],
    })
  })

  test('has samples as a WAV file', async () => {
    expect((await sent({ audio: testSound('pcm') })).named).toEqual([['audio', 'audio.wav']])
  })

  test('has an address within its definition, and no file', async () => {
    const audio = remoteAudio('https://example.com/a', { field: 'input_audio.url', statedFormat: null })
    const { definition, named } = await sent({ audio })
    expect([definition, named]).toEqual([{ audioUrl: 'https://example.com/a' }, []])
  })

  test('has the caller’s own options, but none that the gateway decides', async () => {
    const options = {
      [provider]: { channels: [0, 1], profanityFilterMode: 'None', audioUrl: 'x', locales: [] },
    }
    const { definition, dropped } = await sent({ preferences: { ...defaultPreferences, options } })
    expect(definition).toEqual({ channels: [0, 1], profanityFilterMode: 'None' })
    expect(dropped).toEqual([`provider.options.${provider}.audioUrl`, `provider.options.${provider}.locales`])
  })
})

const read = (wire: unknown, asked: string | null = null) =>
  readAzureSpeechTranscript(new TextEncoder().encode(JSON.stringify(wire)), asked)
const span = (text: string, offsetMilliseconds: number, more: object = {}) => ({
  text,
  offsetMilliseconds,
  durationMilliseconds: 400,
  ...more,
})

describe('an answer of Azure Speech', () => {
  test('gives words the speaker and the confidence of their phrase, and milliseconds as seconds', () => {
    const wire = {
      durationMilliseconds: 2500,
      combinedPhrases: [{ text: 'Hallo. Ja.' }],
      phrases: [
        span('Hallo.', 100, { speaker: 7, confidence: 0.9, locale: 'de-AT', words: [span('Hallo.', 100)] }),
        span('Ja.', 1600, { speaker: 3, confidence: 0.8, locale: 'de-AT', words: [span('Ja.', 1600)] }),
      ],
    }
    const first = { start: 0.1, end: 0.5, speaker: 0, speaker_label: '7' }
    const second = { start: 1.6, end: 2, speaker: 1, speaker_label: '3' }
    expect(read(wire)).toEqual({
      text: 'Hallo. Ja.',
      language: 'de',
      durationSeconds: 2.5,
      segments: [
        { id: 0, text: 'Hallo.', ...first },
        { id: 1, text: 'Ja.', ...second },
      ],
      words: [
        { word: 'Hallo.', confidence: 0.9, ...first },
        { word: 'Ja.', confidence: 0.8, ...second },
      ],
      confidence: null,
      languageConfidence: null,
      entities: null,
      tokens: null,
      upstreamId: null,
    })
  })

  test('of two channels has their texts in the order of channels, and its phrases in that of time', () => {
    const wire = {
      combinedPhrases: [
        { channel: 1, text: 'Ja.' },
        { channel: 0, text: 'Wer? Anna?' },
      ],
      phrases: [
        span('Wer?', 0, { channel: 0 }),
        span('Anna?', 2000, { channel: 0 }),
        span('Ja.', 1000, { channel: 1 }),
      ],
    }
    const { text, segments } = read(wire)
    expect(text).toBe('Wer? Anna?\nJa.')
    expect(segments?.map((segment) => [segment.id, segment.text, segment.channel])).toEqual([
      [0, 'Wer?', 0],
      [1, 'Ja.', 1],
      [2, 'Anna?', 0],
    ])
  })

  test('with one channel has no channel numbers', () => {
    const phrases = [span('Ja.', 0, { channel: 0, words: [span('Ja.', 0)] })]
    const { segments, words } = read({ combinedPhrases: [{ channel: 0, text: 'Ja.' }], phrases })
    expect([segments, words]).toEqual([
      [{ id: 0, text: 'Ja.', start: 0, end: 0.4 }],
      [{ word: 'Ja.', start: 0, end: 0.4 }],
    ])
  })

  test('whose phrases have no words has none, and the language that was asked for', () => {
    const wire = { combinedPhrases: [{ text: ' Ja. ' }], phrases: [span('Ja.', 0)] }
    expect(read(wire, 'de')).toMatchObject({
      text: 'Ja.',
      language: 'de',
      durationSeconds: null,
      words: null,
    })
  })

  test('of silence has no text and no words', () => {
    expect(read({ combinedPhrases: [], phrases: [] })).toMatchObject({ text: '', segments: null, words: [] })
  })

  test.each([{}, { combinedPhrases: [{ channel: 0 }] }])('%j is a failure of the provider', (wire) => {
    expect(() => read(wire)).toThrow('without a transcript')
  })
})

describe('a refusal of Azure Speech', () => {
  const told = { code: 'X', message: 'No such locale.', innerError: { code: 'Y', message: 'inner' } }
  test.each([{ error: told }, told])('is understood in each of its shapes: %j', (body) => {
    const { error } = readUpstreamFailure({
      status: 400,
      headers: new Headers(),
      body: new TextEncoder().encode(JSON.stringify(body)),
      requestedModel: 'microsoft/fast-transcription',
      parameterNames: [],
    })
    expect([error.type, error.message]).toEqual([
      'invalid_request',
      expect.stringContaining('No such locale.'),
    ])
  })
})
