import { describe, expect, test } from 'bun:test'
import { defaultPreferences } from '../../canonical/call.ts'
import {
  askedFor,
  expectNamesChecked,
  failureOf,
  remote,
  sentBy,
  walk,
} from '../../formats/transcription/polled-job.case.ts'
import { gladiaTranscription as adapter } from './transcription.ts'

describe('a job of Gladia', () => {
  test('with a name that leads elsewhere is refused', () => {
    expectNamesChecked(adapter, 'gladia')
  })

  const begun = { id: 'g/1', result_url: 'https://api.gladia.io/v2/pre-recorded/g/1' }

  test('asks for everything that the call wants, and drops the temperature', () => {
    const asked = askedFor('gladia', {
      language: 'de',
      temperature: 0,
      diarize: true,
      keyterms: ['head race'],
      preferences: {
        ...defaultPreferences,
        options: { gladia: { sentences: true, callback: true, model: 'x' } },
      },
    })
    const { request, dropped, makes } = sentBy(adapter.first(asked))
    expect([request.method, request.path]).toEqual(['POST', '/v2/pre-recorded'])
    expect(JSON.parse(String((request.body as readonly unknown[])[0]))).toEqual({
      audio_url: remote.url,
      sentences: true,
      model: asked.endpoint.upstreamModel,
      language_config: { languages: ['de'] },
      diarization: true,
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: ['head race'] },
    })
    expect(dropped).toEqual([
      'provider.options.gladia.callback',
      'provider.options.gladia.model',
      'temperature',
    ])
    expect(makes).toEqual({ kind: 'gladia.job', marker: null, takesIn: ['gladia.upload'] })
  })

  test('is polled about every second', () => {
    const looks = walk(adapter, askedFor('gladia'), [
      begun,
      { status: 'queued' },
      { status: 'processing' },
      { status: 'processing' },
    ]).slice(1)
    expect(looks.map((step) => [sentBy(step).request.path, sentBy(step).waitMs])).toEqual(
      [250, 750, 1000, 1000].map((waitMs) => ['/v2/pre-recorded/g%2F1', waitMs]),
    )
  })

  test.each([
    [422, 'invalid_request', false],
    [415, 'invalid_request', false],
    [500, 'provider_failed', true],
    [null, 'provider_failed', true],
  ])('that ends with error_code %s is %s', (code, type, elsewhere) => {
    const failure = failureOf(() =>
      walk(adapter, askedFor('gladia'), [begun, { status: 'error', error_code: code }]),
    )
    expect([failure.error.type as string, failure.retryElsewhere, failure.retrySame]).toEqual([
      type,
      elsewhere,
      false,
    ])
  })

  test('is removed with its recording; an upload without a job stays there', () => {
    const { 'gladia.job': job, 'gladia.upload': upload } = adapter.resources ?? {}
    expect(job?.remove?.('g/1')).toEqual({
      method: 'DELETE',
      path: '/v2/pre-recorded/g%2F1',
      headers: {},
      body: null,
    })
    expect(upload?.remove).toBeNull()
  })

  test('gives its words the speaker of their utterance, and finds entities by their seconds', () => {
    const word = (text: string, start: number) => ({ word: text, start, end: start + 0.4, confidence: 0.9 })
    const utterances = [
      {
        text: ' Anna left.',
        start: 0,
        end: 0.9,
        speaker: 1,
        channel: 0,
        words: [word('Anna', 0), word(' left.', 0.5)],
      },
      { text: 'Oh.', start: 1, end: 1.4, speaker: 0, channel: 0, words: [word('Oh.', 1)] },
    ]
    const done = {
      id: 'g1',
      status: 'done',
      result: {
        metadata: { audio_duration: 1.5, number_of_distinct_channels: 2, billing_time: 3 },
        transcription: { full_transcript: 'Anna left. Oh.', languages: ['en'], utterances },
        named_entity_recognition: { results: [{ entity_type: 'NAME', text: 'Anna', start: 0, end: 0.4 }] },
      },
    }
    const last = walk(adapter, askedFor('gladia'), [begun, done]).at(-1)
    if (last?.type !== 'answer') throw new Error('expected an answer')
    expect(last.answer).toMatchObject({
      text: 'Anna left. Oh.',
      language: 'en',
      durationSeconds: 1.5,
      channels: 2,
      segments: [
        { id: 0, text: 'Anna left.', speaker: 0, speaker_label: '1', channel: 0 },
        { id: 1, text: 'Oh.', speaker: 1, speaker_label: '0' },
      ],
      words: [
        { word: 'Anna', start: 0, end: 0.4, confidence: 0.9, speaker: 0 },
        { word: 'left.', speaker: 0, speaker_label: '1' },
        { word: 'Oh.', speaker: 1 },
      ],
      entities: [{ text: 'Anna', type: 'NAME', start_char: 0, end_char: 4 }],
    })
  })
})
