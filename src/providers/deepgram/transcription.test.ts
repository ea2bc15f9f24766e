import { describe, expect, test } from 'bun:test'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { deepgramTranscription } from './transcription.ts'
import { readDeepgramTranscript } from './transcript.ts'
import { testSound, testTranscription } from '../../formats/transcription/transcription-testing.ts'
import { remoteAudio } from '../../formats/transcription/transcription-request.ts'

const endpoint: Endpoint = { ...testEndpoint('nova-3'), modality: 'transcription' }

function sent(changes: Partial<TranscriptionCall>) {
  const call = testTranscription(changes)
  const step = deepgramTranscription.first({ call, endpoint, context: testContext })
  if (step.type !== 'send') throw new Error('expected a request')
  const { request, dropped } = step.exchange
  const [path, query = ''] = request.path.split('?')
  return {
    request,
    path,
    dropped,
    query: [...new URLSearchParams(query)].filter(([name]) => name !== 'model'),
  }
}
const usual: [string, string][] = [
  ['detect_language', 'true'],
  ['punctuate', 'true'],
]

describe('a request to Deepgram', () => {
  test('has the bytes unchanged, and all options in the query', () => {
    const { request, path, query } = sent({})
    expect([path, query]).toEqual(['/listen', usual])
    expect(request.headers).toEqual({ 'content-type': 'audio/wav' })
    expect(request.body).toMatchObject({ contentLength: testSound('wav').sizeBytes })
    expect(request.path).toContain('model=')
  })

  test('names an address in JSON', () => {
    const { request } = sent({
      audio: remoteAudio('https://example.com/a.mp3', { field: 'input_audio.url', statedFormat: 'mp3' }),
    })
    expect(request.headers).toEqual({ 'content-type': 'application/json' })
    const [body] = request.body as Uint8Array[]
    expect(new TextDecoder().decode(body)).toBe('{"url":"https://example.com/a.mp3"}')
  })

  test.each<[string, Partial<TranscriptionCall>, [string, string][]]>([
    [
      'a language',
      { language: 'de' },
      [
        ['language', 'de'],
        ['punctuate', 'true'],
      ],
    ],
    ['verbose_json', { responseFormat: 'verbose_json' }, [...usual, ['utterances', 'true']]],
    ['diarize', { diarize: true }, [...usual, ['diarize_model', 'latest']]],
    [
      'keyterms',
      { keyterms: [' head race', 'a,b'] },
      [...usual, ['keyterm', 'head race'], ['keyterm', 'a,b']],
    ],
    ['samples', { audio: testSound('pcm') }, [...usual, ['encoding', 'linear16'], ['sample_rate', '16000']]],
    [
      'no training',
      { preferences: { ...defaultPreferences, denyDataCollection: true } },
      [...usual, ['mip_opt_out', 'true']],
    ],
    [
      'no retention',
      { preferences: { ...defaultPreferences, requireZdr: true } },
      [...usual, ['mip_opt_out', 'true']],
    ],
  ])('says %s', (_, changes, query) => {
    expect(sent(changes).query).toEqual(query)
  })

  test('has the caller’s own options, but none that the gateway decides, and no temperature', () => {
    const options = {
      [endpoint.deployment.provider]: {
        detect_entities: true,
        punctuate: false,
        search: ['tide', 'ebb'],
        callback: 'https://example.com',
      },
    }
    const { query, dropped } = sent({ temperature: 0.2, preferences: { ...defaultPreferences, options } })
    expect(query).toEqual([
      ['detect_language', 'true'],
      ['detect_entities', 'true'],
      ['punctuate', 'false'],
      ['search', 'tide'],
      ['search', 'ebb'],
    ])
    expect(dropped).toEqual([`provider.options.${endpoint.deployment.provider}.callback`, 'temperature'])
  })
})

const read = (wire: unknown, asked: string | null = null) =>
  readDeepgramTranscript(new TextEncoder().encode(JSON.stringify(wire)), asked)

const word = (text: string, start: number, more: object = {}) => ({
  word: text.toLowerCase().replace(/\W/g, ''),
  start,
  end: start + 0.4,
  confidence: 0.9,
  punctuated_word: text,
  ...more,
})

describe('an answer of Deepgram', () => {
  test('is read with all its members', () => {
    const alternative = {
      transcript: 'Anna said: yes. No!',
      confidence: 0.97,
      words: [
        word('Anna', 0, { speaker: 1, speaker_confidence: 0.6 }),
        word('said:', 0.5, { speaker: 1 }),
        word('yes.', 1, { speaker: 1 }),
        word('No!', 2, { speaker: 0 }),
      ],
      entities: [{ label: 'NAME', value: ' Anna', confidence: 0.9, start_word: 0, end_word: 1 }],
    }
    const channel = { alternatives: [alternative], detected_language: 'en', language_confidence: 0.99 }
    const utterances = [
      {
        start: 0,
        end: 1.4,
        confidence: 0.9,
        channel: 0,
        transcript: 'Anna said: yes.',
        speaker: 1,
        id: 'u1',
        words: [],
      },
      { start: 2, end: 2.4, confidence: 0.9, channel: 0, transcript: 'No!', speaker: 0, id: 'u2', words: [] },
    ]
    const metadata = { request_id: 'r-1', duration: 2.5, channels: 1 }
    expect(read({ metadata, results: { channels: [channel], utterances } })).toEqual({
      text: 'Anna said: yes. No!',
      language: 'en',
      durationSeconds: 2.5,
      channels: 1,
      segments: [
        { id: 0, start: 0, end: 1.4, text: 'Anna said: yes.', speaker: 0, speaker_label: '1' },
        { id: 1, start: 2, end: 2.4, text: 'No!', speaker: 1, speaker_label: '0' },
      ],
      words: [
        { word: 'Anna', start: 0, end: 0.4, confidence: 0.9, speaker: 0, speaker_label: '1' },
        { word: 'said:', start: 0.5, end: 0.9, confidence: 0.9, speaker: 0, speaker_label: '1' },
        { word: 'yes.', start: 1, end: 1.4, confidence: 0.9, speaker: 0, speaker_label: '1' },
        { word: 'No!', start: 2, end: 2.4, confidence: 0.9, speaker: 1, speaker_label: '0' },
      ],
      confidence: 0.97,
      languageConfidence: 0.99,
      entities: [{ text: 'Anna', type: 'NAME', start_char: 0, end_char: 4 }],
      tokens: null,
      upstreamId: 'r-1',
    })
  })

  test('of several channels has them one after another, each word with its channel', () => {
    const channel = (transcript: string, start: number) => ({
      alternatives: [{ transcript, confidence: 0.9, words: [{ word: transcript, start, end: start + 0.5 }] }],
    })
    const results = { channels: [channel('hello', 0), channel('bye', 1)] }
    expect(read({ metadata: { duration: 2, channels: 2 }, results }, 'de')).toMatchObject({
      text: 'hello\nbye',
      language: 'de',
      channels: 2,
      confidence: null,
      entities: null,
      words: [
        { word: 'hello', start: 0, end: 0.5, channel: 0 },
        { word: 'bye', start: 1, end: 1.5, channel: 1 },
      ],
      segments: [
        { id: 0, text: 'hello', channel: 0 },
        { id: 1, text: 'bye', channel: 1 },
      ],
    })
  })

  test('has its segments made of words where no utterance is told', () => {
    const alternatives = [{ transcript: 'Hi. Bye.', words: [word('Hi.', 0), word('Bye.', 1)] }]
    const { segments } = read({ results: { channels: [{ alternatives }], utterances: [] } })
    expect(segments?.map(({ text }) => text)).toEqual(['Hi.', 'Bye.'])
  })

  test('of silence is an empty text', () => {
    const results = {
      channels: [{ alternatives: [{ transcript: '', confidence: 0, words: [] }] }],
      utterances: [],
    }
    expect(read({ metadata: { duration: 3 }, results })).toMatchObject({ text: '', words: [], segments: [] })
  })

  test('counts the places of entities by all words, also by one without a time', () => {
    const words = [{ word: 'so' }, word('Anna', 0), word('and', 1), word('Peter', 2)]
    const entities = [{ label: 'NAME', value: 'Peter', start_word: 3, end_word: 4 }]
    const results = { channels: [{ alternatives: [{ transcript: 'so Anna and Peter', words, entities }] }] }
    expect(read({ results }).entities).toEqual([
      { text: 'Peter', type: 'NAME', start_char: 12, end_char: 17 },
    ])
  })

  test.each([{}, { results: { channels: [] } }, { results: { channels: [{ alternatives: [] }] } }])(
    'without a transcript is a failure of the provider: %j',
    (wire) => {
      expect(() => read(wire)).toThrow('The provider answered without a transcript.')
    },
  )
})

describe('a refusal of Deepgram', () => {
  const failureOf = (status: number, body: unknown) =>
    readUpstreamFailure({
      status,
      headers: new Headers(),
      body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
      requestedModel: 'deepgram/nova-3',
      parameterNames: [],
    })
  const coded = (err_code: string, err_msg = 'No.') => ({ err_code, err_msg, request_id: 'r' })

  test.each<[number, unknown, string, boolean]>([
    [
      400,
      coded('Bad Request', 'Bad Request: failed to process audio: corrupt or unsupported data'),
      'invalid_request',
      false,
    ],
    [400, coded('INVALID_QUERY_PARAMETER'), 'invalid_request', false],
    [400, coded('PAYLOAD_ERROR'), 'invalid_request', false],
    [400, coded('REMOTE_CONTENT_ERROR', 'The remote server returned 404.'), 'invalid_request', false],
    [
      400,
      { category: 'INVALID_JSON', message: 'Invalid JSON submitted.', details: 'x', request_id: 'r' },
      'invalid_request',
      false,
    ],
    [401, coded('INVALID_AUTH'), 'provider_failed', true],
    [402, coded('ASR_PAYMENT_REQUIRED'), 'provider_failed', true],
    [
      403,
      coded('INSUFFICIENT_PERMISSIONS', 'Project does not have access to the requested model.'),
      'no_matching_endpoint',
      false,
    ],
    [404, coded('PROJECT_NOT_FOUND'), 'provider_failed', true],
    [408, 'Request Timeout', 'provider_timeout', false],
    [413, coded('PAYLOAD_TOO_LARGE'), 'payload_too_large', false],
    [414, 'URI Too Long', 'invalid_request', false],
    [429, coded('TOO_MANY_REQUESTS'), 'upstream_rate_limited', false],
    [500, 'Internal Server Error', 'provider_failed', false],
    [503, coded('SERVICE_UNAVAILABLE'), 'provider_overloaded', false],
  ])('of %i %j is %s', (status, body, type, credentialFault) => {
    const failure = failureOf(status, body)
    expect([failure.error.type, failure.credentialFault]).toEqual([type as never, credentialFault])
  })

  test('has Deepgram’s own words about a fault of the audio', () => {
    const failure = failureOf(400, coded('Bad Request', 'Bad Request: failed to process audio: corrupt data'))
    expect(failure.error.message).toContain('corrupt data')
  })
})
