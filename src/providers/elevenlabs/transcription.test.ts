import { describe, expect, test } from 'bun:test'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { StreamedBody } from '../../canonical/upstream.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { elevenLabsTranscription } from './transcription.ts'
import { confidencesOf, readElevenLabsTranscript } from './transcript.ts'
import { testSound, testTranscription } from '../../formats/transcription/transcription-testing.ts'
import { remoteAudio } from '../../formats/transcription/transcription-request.ts'

const endpoint: Endpoint = { ...testEndpoint('scribe_v2'), modality: 'transcription' }
const provider = endpoint.deployment.provider

async function sent(changes: Partial<TranscriptionCall>) {
  const call = testTranscription(changes)
  const step = elevenLabsTranscription.first({ call, endpoint, context: testContext })
  if (step.type !== 'send') throw new Error('expected a request')
  const { request, dropped } = step.exchange
  const body = await new Response((request.body as StreamedBody).open()).bytes()
  const form = await new Response(body, { headers: request.headers }).formData()
  const fields = [...form].map(([name, value]) => [
    name,
    typeof value === 'string' ? value : (value as File).name,
  ])
  return { path: request.path, dropped, fields: fields.filter(([name]) => name !== 'model_id') }
}
const file = ['file', 'audio.wav']
const plain = ['timestamps_granularity', 'none']
const timed = ['timestamps_granularity', 'word']

describe('a form for ElevenLabs', () => {
  test.each<[string, Partial<TranscriptionCall>, string[][]]>([
    ['nothing more', {}, [plain, file]],
    [
      'an address',
      { audio: remoteAudio('https://example.com/a', { field: 'input_audio.url', statedFormat: null }) },
      [plain, ['source_url', 'https://example.com/a']],
    ],
    ['a language', { language: 'de' }, [plain, ['language_code', 'de'], file]],
    ['a temperature', { temperature: 0.3 }, [plain, ['temperature', '0.3'], file]],
    ['verbose_json', { responseFormat: 'verbose_json' }, [timed, file]],
    ['diarize', { responseFormat: 'verbose_json', diarize: true }, [timed, ['diarize', 'true'], file]],
    ['keyterms', { keyterms: ['a b', ' c '] }, [plain, ['keyterms', 'a b'], ['keyterms', 'c'], file]],
    ['samples', { audio: testSound('pcm') }, [plain, ['file_format', 'pcm_s16le_16'], ['file', 'audio.pcm']]],
  ])('says %s', async (_, changes, fields) => {
    const { path, fields: told } = await sent(changes)
    expect([path, told]).toEqual(['/speech-to-text', fields])
  })

  test('asks for no traces where none may be kept', async () => {
    const { path } = await sent({ preferences: { ...defaultPreferences, requireZdr: true } })
    expect(path).toBe('/speech-to-text?enable_logging=false')
  })

  test('has the caller’s own options, but none that the gateway decides', async () => {
    const options = { [provider]: { entity_detection: ['name', 'date'], webhook: true, num_speakers: 2 } }
    const { fields, dropped } = await sent({ preferences: { ...defaultPreferences, options } })
    expect(fields).toEqual([
      plain,
      ['entity_detection', 'name'],
      ['entity_detection', 'date'],
      ['num_speakers', '2'],
      file,
    ])
    expect(dropped).toEqual([`provider.options.${provider}.webhook`])
  })
})

const read = (wire: unknown, asked: string | null = null) =>
  readElevenLabsTranscript(new TextEncoder().encode(JSON.stringify(wire)), asked)
const token = (text: string, start: number, more: object = {}) => ({
  text,
  start,
  end: start + 0.3,
  type: text === ' ' ? 'spacing' : 'word',
  logprob: 0,
  ...more,
})

describe('an answer of ElevenLabs', () => {
  test('is read without its spaces, with speakers, confidences and entities', () => {
    const wire = {
      language_code: 'deu',
      language_probability: 0.8,
      text: '🎉 Anna lacht. (Lachen) Ja!',
      words: [
        token('Anna', 0, { speaker_id: 'speaker_1', logprob: -Math.LN2 }),
        token(' ', 0.3, { speaker_id: 'speaker_1' }),
        token('lacht.', 0.4, { speaker_id: 'speaker_1' }),
        token('(Lachen)', 0.8, { type: 'audio_event', speaker_id: 'speaker_1' }),
        token('Ja!', 2, { speaker_id: 'speaker_0' }),
      ],
      entities: [{ text: 'Anna', entity_type: 'name', start_char: 3, end_char: 6 }],
      transcription_id: 't-1',
      audio_duration_secs: 2.5,
    }
    const first = { speaker: 0, speaker_label: 'speaker_1' }
    const second = { speaker: 1, speaker_label: 'speaker_0' }
    expect(read(wire)).toEqual({
      text: '🎉 Anna lacht. (Lachen) Ja!',
      language: 'de',
      durationSeconds: 2.5,
      segments: [
        { id: 0, start: 0, end: 0.7, text: 'Anna lacht.', ...first },
        { id: 1, start: 0.8, end: 1.1, text: '(Lachen)', ...first },
        { id: 2, start: 2, end: 2.3, text: 'Ja!', ...second },
      ],
      words: [
        { word: 'Anna', start: 0, end: 0.3, confidence: 0.5, ...first, type: 'word' },
        { word: 'lacht.', start: 0.4, end: 0.7, confidence: 1, ...first, type: 'word' },
        { word: '(Lachen)', start: 0.8, end: 1.1, confidence: 1, ...first, type: 'audio_event' },
        { word: 'Ja!', start: 2, end: 2.3, confidence: 1, ...second, type: 'word' },
      ],
      confidence: null,
      languageConfidence: 0.8,
      entities: [{ text: 'Anna', type: 'name', start_char: 2, end_char: 6 }],
      tokens: null,
      upstreamId: 't-1',
    })
  })

  test('whose logarithms are all 0 has no confidences', () => {
    const { words } = read({ text: 'a b', words: [token('a', 0), token(' ', 0.3), token('b', 0.4)] })
    expect(words).toEqual([
      { word: 'a', start: 0, end: 0.3, type: 'word' },
      { word: 'b', start: 0.4, end: 0.7, type: 'word' },
    ])
  })

  test('without words has no segments, and the language that was asked for', () => {
    expect(read({ text: ' Hello. ' }, 'en')).toMatchObject({
      text: 'Hello.',
      language: 'en',
      segments: null,
      words: null,
      entities: null,
    })
  })

  test('of several channels has them one after another, with offsets into the whole', () => {
    const part = (text: string, index: number) => ({
      text,
      language_code: 'eng',
      words: [token(text, index, { channel_index: index })],
      entities: [{ text, entity_type: 'name', start_char: 0, end_char: text.length }],
    })
    const wire = {
      transcripts: [part('Anna', 0), part('Peter', 1)],
      transcription_id: 't',
      audio_duration_secs: 3,
    }
    expect(read(wire)).toMatchObject({
      text: 'Anna\nPeter',
      durationSeconds: 3,
      words: [
        { word: 'Anna', channel: 0 },
        { word: 'Peter', channel: 1 },
      ],
      segments: [
        { text: 'Anna', channel: 0 },
        { text: 'Peter', channel: 1 },
      ],
      entities: [
        { text: 'Anna', start_char: 0, end_char: 4 },
        { text: 'Peter', start_char: 5, end_char: 10 },
      ],
    })
  })

  test('without a text is a failure of the provider', () => {
    expect(() => read({ message: 'Accepted', request_id: 'r' })).toThrow('without a transcript')
  })
})

describe('a refusal of ElevenLabs', () => {
  const detail = (status: string, message = 'No.') => ({ detail: { status, message } })
  test.each<[number, unknown, string, boolean]>([
    [400, detail('invalid_audio', 'File is corrupted.'), 'invalid_request', false],
    [401, detail('invalid_api_key'), 'provider_failed', true],
    [401, detail('quota_exceeded'), 'provider_failed', true],
    [
      422,
      { detail: [{ loc: ['body', 'x'], msg: 'Field required', type: 'missing' }] },
      'invalid_request',
      false,
    ],
    [429, detail('too_many_concurrent_requests'), 'upstream_rate_limited', false],
    [429, detail('system_busy'), 'upstream_rate_limited', false],
    [500, detail('internal_server_error'), 'provider_failed', false],
  ])('of %i %j is %s', (status, body, type, credentialFault) => {
    const failure = readUpstreamFailure({
      status,
      headers: new Headers(),
      body: new TextEncoder().encode(JSON.stringify(body)),
      requestedModel: 'elevenlabs/scribe_v2',
      parameterNames: [],
    })
    expect([failure.error.type, failure.credentialFault]).toEqual([type as never, credentialFault])
    if (status === 401 && JSON.stringify(body).includes('quota'))
      expect(failure.error.message).toContain('no quota left')
  })
})

test('confidences come from logarithms, and not where all are 0', () => {
  expect(confidencesOf([0, -Math.LN2, null])).toEqual([1, 0.5, null])
  expect(confidencesOf([0, 0, 0])).toEqual([null, null, null])
  expect(confidencesOf([-1, 0.5, 'x']).slice(1)).toEqual([null, null])
})
