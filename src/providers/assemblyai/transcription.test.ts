import { describe, expect, test } from 'bun:test'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { CallAt, Exchange } from '../../canonical/steps.ts'
import type { StreamedBody } from '../../canonical/upstream.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import { expectNamesChecked, remote, reply, sentBy } from '../../formats/transcription/polled-job.case.ts'
import { testSound, testTranscription } from '../../formats/transcription/transcription-testing.ts'
import { assemblyAiTranscription as adapter } from './transcription.ts'

function askedFor(
  changes: Partial<TranscriptionCall> = {},
  upstreamModel = 'universal-3-5-pro',
): CallAt<TranscriptionCall> {
  const base = testEndpoint('universal')
  const deployment = { ...base.deployment, id: 'assemblyai', preset: 'assemblyai', provider: 'assemblyai' }
  const audio = { ...leastAudio, url: true }
  const endpoint: Endpoint = { ...base, deployment, upstreamModel, modality: 'transcription', audio }
  return { call: testTranscription(changes), endpoint, context: testContext }
}

function bodyOf({ request }: Exchange): unknown {
  return JSON.parse(String((request.body as readonly unknown[])[0]))
}

function streamIn({ request: { body } }: Exchange): StreamedBody {
  if (body === null || !('open' in body)) throw new Error('expected a stream')
  return body
}

/** The request that creates the job of a call with a URL. */
const creation = (changes: Partial<TranscriptionCall> = {}, upstreamModel?: string) =>
  sentBy(adapter.first(askedFor({ audio: remote, ...changes }, upstreamModel)))

/** The transcription read from a completed transcript. */
function answerOf(wire: Record<string, unknown>, changes: Partial<TranscriptionCall> = {}) {
  const asked = askedFor({ audio: remote, ...changes })
  const step = adapter.next({ step: 'look', id: 't1', looks: 0 }, reply({ id: 't1', ...wire }), asked)
  if (step.type !== 'answer') throw new Error('expected an answer')
  return step.answer
}

describe('a job of AssemblyAI', () => {
  test('with a name that leads elsewhere is refused', () => {
    expectNamesChecked(adapter, 'assemblyai')
  })

  test('begins with an upload of the raw bytes, then names the upload', async () => {
    const asked = askedFor({ audio: testSound('mp3') })
    const first = adapter.first(asked)
    const upload = sentBy(first)
    expect(upload.request).toMatchObject({
      method: 'POST',
      path: '/v2/upload',
      headers: { 'content-type': 'application/octet-stream' },
    })
    expect(upload.makes).toEqual({ kind: 'assemblyai.upload', marker: null })
    const body = streamIn(upload)
    const bytes = await new Response(body.open()).bytes()
    expect(body.contentLength).toBe(14)
    expect(Buffer.from(bytes).toString()).toBe('RIFF and so on')
  })

  test('sends samples without a header as a WAV file', async () => {
    const body = streamIn(sentBy(adapter.first(askedFor({ audio: testSound('pcm') }))))
    const bytes = Buffer.from(await new Response(body.open()).bytes())
    expect([bytes.length, body.contentLength]).toEqual([58, 58])
    expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(24), bytes.readUInt32LE(40)]).toEqual([
      'RIFF',
      16_000,
      14,
    ])
    expect(bytes.toString('latin1', 44)).toBe('RIFF and so on')
  })

  test('goes from step to step', () => {
    const asked = askedFor({ audio: testSound('mp3') })
    const first = adapter.first(asked)
    if (first.type !== 'send') throw new Error('expected a request')
    const second = adapter.next(first.state, reply({ upload_url: 'https://cdn.example/upload/u1' }), asked)
    if (second.type !== 'send') throw new Error('expected a request')
    expect(second.exchange.request).toMatchObject({ method: 'POST', path: '/v2/transcript' })
    expect(bodyOf(second.exchange)).toEqual({
      audio_url: 'https://cdn.example/upload/u1',
      speech_models: ['universal-3-5-pro'],
      language_detection: true,
    })
    expect(second.exchange.makes?.takesIn).toEqual(['assemblyai.upload'])
    let step = adapter.next(second.state, reply({ id: 'a/b', status: 'queued' }), asked)
    const waits = []
    for (const status of ['queued', 'processing', 'processing', 'processing', 'processing']) {
      const look = sentBy(step)
      expect([look.request.method, look.request.path]).toEqual(['GET', '/v2/transcript/a%2Fb'])
      waits.push(look.waitMs)
      if (step.type !== 'send') throw new Error('expected a request')
      step = adapter.next(step.state, reply({ id: 'a/b', status }), asked)
    }
    expect(waits).toEqual([250, 750, 2000, 3000, 3000])
  })

  test('names an address itself where the endpoint takes addresses', () => {
    expect(bodyOf(creation())).toMatchObject({ audio_url: remote.url })
  })

  test('asks for everything that the call wants, in the provider’s words', () => {
    const exchange = creation({
      language: 'de',
      temperature: 0.2,
      diarize: true,
      keyterms: [' head race ', 'Oka', 'Oka'],
    })
    expect(bodyOf(exchange)).toEqual({
      audio_url: remote.url,
      speech_models: ['universal-3-5-pro'],
      language_code: 'de',
      temperature: 0.2,
      speaker_labels: true,
      keyterms_prompt: ['head race', 'Oka'],
    })
    expect(exchange.dropped).toEqual([])
  })

  test('drops the temperature where a model takes none, and says so', () => {
    const exchange = creation({ temperature: 0.2 }, 'universal-2')
    expect(bodyOf(exchange)).not.toHaveProperty('temperature')
    expect(exchange.dropped).toEqual(['temperature'])
  })

  test('passes the provider’s own options on, and none that the gateway decides', () => {
    const options = {
      assemblyai: {
        entity_detection: true,
        speakers_expected: 2,
        speech_models: ['universal-2'],
        webhook_url: 'https://a.example',
      },
    }
    const exchange = creation({ preferences: { ...defaultPreferences, options } })
    expect(bodyOf(exchange)).toEqual({
      audio_url: remote.url,
      entity_detection: true,
      speakers_expected: 2,
      speech_models: ['universal-3-5-pro'],
      language_detection: true,
    })
    expect(exchange.dropped).toEqual([
      'provider.options.assemblyai.speech_models',
      'provider.options.assemblyai.webhook_url',
    ])
  })
})

describe('a transcript of AssemblyAI', () => {
  test('has seconds where its words have milliseconds, and scores as they came', () => {
    const answer = answerOf({
      status: 'completed',
      text: 'High water. At nine.',
      language_code: 'en_us',
      language_confidence: 0.97,
      confidence: 0.91,
      audio_duration: 5,
      words: [
        { text: 'High', start: 240, end: 610, confidence: 0.98, speaker: null },
        { text: 'water.', start: 640, end: 1100, confidence: 0.97, speaker: null },
        { text: 'At', start: 1130, end: 1260, confidence: 7, speaker: null },
        { text: 'nine.', start: 1300, end: 1820, speaker: null },
        { text: 'never', start: 9, end: 3, confidence: 1, speaker: null },
      ],
      utterances: null,
      entities: null,
    })
    expect(answer).toEqual({
      text: 'High water. At nine.',
      language: 'en',
      durationSeconds: 5,
      segments: [
        { id: 0, start: 0.24, end: 1.1, text: 'High water.' },
        { id: 1, start: 1.13, end: 1.82, text: 'At nine.' },
      ],
      words: [
        { word: 'High', start: 0.24, end: 0.61, confidence: 0.98 },
        { word: 'water.', start: 0.64, end: 1.1, confidence: 0.97 },
        { word: 'At', start: 1.13, end: 1.26 },
        { word: 'nine.', start: 1.3, end: 1.82 },
      ],
      confidence: 0.91,
      languageConfidence: 0.97,
      entities: null,
      tokens: null,
      upstreamId: 't1',
    })
  })

  test('has its speakers numbered by first appearance, on words and segments, and channels as numbers', () => {
    const answer = answerOf({
      status: 'completed',
      text: 'Yes. No.',
      words: [
        { text: 'Yes.', start: 0, end: 500, confidence: 1, speaker: 'B', channel: '1' },
        { text: 'No.', start: 600, end: 900, confidence: 1, speaker: 'A', channel: '2' },
      ],
      utterances: [
        { text: 'Yes.', start: 0, end: 500, confidence: 1, speaker: 'B', channel: '1', words: [] },
        { text: 'No.', start: 600, end: 900, confidence: 1, speaker: 'A', channel: '2', words: [] },
      ],
    })
    expect(
      answer.words?.map(({ speaker, speaker_label, channel }) => [speaker, speaker_label, channel]),
    ).toEqual([
      [0, 'B', 1],
      [1, 'A', 2],
    ])
    expect(answer.segments).toEqual([
      { id: 0, start: 0, end: 0.5, text: 'Yes.', speaker: 0, speaker_label: 'B', channel: 1 },
      { id: 1, start: 0.6, end: 0.9, text: 'No.', speaker: 1, speaker_label: 'A', channel: 2 },
    ])
  })

  test('has the offsets of its entities in the text, found by their times', () => {
    const answer = answerOf({
      status: 'completed',
      text: '🙂 Anna went to New York.',
      words: [
        { text: 'Anna', start: 1000, end: 1500, confidence: 1 },
        { text: 'went', start: 1500, end: 1700, confidence: 1 },
        { text: 'to', start: 1700, end: 1800, confidence: 1 },
        { text: 'New', start: 2000, end: 2400, confidence: 1 },
        { text: 'York.', start: 2400, end: 3000, confidence: 1 },
      ],
      entities: [
        { entity_type: 'person_name', text: 'Anna', start: 1000, end: 1500 },
        { entity_type: 'location', text: 'New York', start: 2000, end: 3000 },
        { entity_type: 'location', text: 'Atlantis', start: 9000, end: 9500 },
      ],
    })
    expect(answer.entities).toEqual([
      { text: 'Anna', type: 'person_name', start_char: 2, end_char: 6 },
      { text: 'New York', type: 'location', start_char: 15, end_char: 23 },
    ])
  })

  test('without a text, or in an unknown state, is a failure', () => {
    expect(() => answerOf({ status: 'completed', text: null })).toThrow('without a transcript')
    expect(() => answerOf({ status: 'paused' })).toThrow('without what its documents promise')
  })
})

describe('a failed job inside a success', () => {
  function failureOf(error: unknown, changes: Partial<TranscriptionCall> = {}) {
    try {
      answerOf({ status: 'error', error }, changes)
    } catch (thrown) {
      if (thrown instanceof AttemptFailed) return thrown.failure
      throw thrown
    }
    throw new Error('expected a failure')
  }

  test('is the provider’s failure with the job’s own reason, which another provider may not share', () => {
    const failure = failureOf('Server capacity was lost, see https://status.example/x')
    expect(failure).toMatchObject({ retryElsewhere: true, retrySame: false, credentialFault: false })
    expect(failure.error).toMatchObject({
      type: 'provider_failed',
      message: 'The provider gave the job up: "Server capacity was lost, see [removed]".',
    })
  })

  test.each([
    'Download error, unable to download https://files.example/tides.mp3. Please make sure the file exists and is accessible from the internet.',
    'Transcoding failed. File does not appear to contain audio. File type is text/plain.',
    'Audio duration is too short.',
    'language_detection cannot be performed on files with no spoken audio.',
  ])('is the caller’s fault when the reason names the sound or its address: %s', (reason) => {
    const failure = failureOf(reason)
    expect(failure).toMatchObject({ retryElsewhere: false, retrySame: false })
    expect(failure.error).toMatchObject({ type: 'invalid_request', param: 'input_audio.url' })
    expect(failure.error.message).toStartWith('The provider could not use the audio: "')
    expect(failure.error.message).not.toContain('files.example')
  })

  test('names no parameter where the sound was sent itself', () => {
    const { error } = failureOf('The file is corrupt.', { audio: testSound('mp3') })
    expect(error).toMatchObject({ type: 'invalid_request', param: null })
    expect(error.message).toEndWith('Check that the file is audio and is whole.')
  })

  test('may come without a reason', () => {
    expect(failureOf(null).error.message).toBe('The provider gave the job up.')
  })
})

describe('a resource of a job at AssemblyAI', () => {
  const { resources = {} } = adapter
  const transcripts = resources['assemblyai.transcript']
  const uploads = resources['assemblyai.upload']

  test('is deleted by its id', () => {
    expect(transcripts?.readId(reply({ id: 't1', status: 'queued' }))).toBe('t1')
    expect(transcripts?.remove?.('a/b')).toMatchObject({
      method: 'DELETE',
      path: '/v2/transcript/a%2Fb',
      body: null,
    })
  })

  test('may be an upload that no call deletes, recorded without its address', () => {
    expect(uploads?.readId(reply({ upload_url: 'https://cdn.example/upload/u1' }))).toBe('u1')
    expect([uploads?.remove, uploads?.listing]).toEqual([null, null])
  })

  test('is found in the listing by a digest of its address, because the address itself is secret', () => {
    const marker = creation().makes?.marker ?? ''
    expect(marker).toMatch(/^[0-9a-f]{64}$/)
    const listing = transcripts?.listing
    expect(listing?.request(null).path).toBe('/v2/transcript?limit=200')
    expect(listing?.request('t9').path).toBe('/v2/transcript?limit=200&before_id=t9')
    const entries = [
      { id: 't3', audio_url: 'https://files.example/other.mp3', created: '2026-11-22T10:00:02Z' },
      { id: 't2', audio_url: remote.url, created: '2026-11-22T10:00:01' },
      { id: 't1', audio_url: 'http://deleted_by_user', created: '2026-11-22T10:00:00Z' },
    ]
    expect(listing?.read(reply({ transcripts: entries }), marker)).toEqual({
      found: [{ id: 't2', createdAtMs: Date.UTC(2026, 10, 22, 10, 0, 1) }],
      oldestAtMs: Date.UTC(2026, 10, 22, 10, 0, 0),
      older: null,
    })
    const full = Array.from({ length: 200 }, (_, index) => ({
      id: `t${index}`,
      audio_url: 'https://x.example',
    }))
    expect(listing?.read(reply({ transcripts: full }), marker)).toEqual({
      found: [],
      oldestAtMs: null,
      older: 't199',
    })
    expect(() => listing?.read(reply({ error: 'no' }), marker)).toThrow('without what its documents promise')
  })
})
