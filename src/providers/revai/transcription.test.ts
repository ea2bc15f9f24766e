import { describe, expect, test } from 'bun:test'
import { defaultPreferences } from '../../canonical/call.ts'
import type { Exchange } from '../../canonical/steps.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import {
  askedFor,
  expectNamesChecked,
  failureOf,
  remote,
  reply,
  sentBy,
  walk,
} from '../../formats/transcription/polled-job.case.ts'
import { testSound } from '../../formats/transcription/transcription-testing.ts'
import { testContext } from '../../formats/text/testing.ts'
import { revAiTranscription as adapter } from './transcription.ts'

describe('a job of Rev AI', () => {
  test('with a name that leads elsewhere is refused', () => {
    expectNamesChecked(adapter, 'revai')
  })

  const made = { id: 'r/1', status: 'in_progress', type: 'async' }

  function bodyOf({ request }: Exchange): unknown {
    return JSON.parse(String((request.body as readonly unknown[])[0]))
  }

  test('asks for everything that the call wants in one object, with the address in it', () => {
    const asked = askedFor('revai', {
      language: 'de',
      temperature: 0,
      diarize: true,
      keyterms: ['head race', 'sluice'],
      preferences: {
        ...defaultPreferences,
        options: { revai: { filter_profanity: true, delete_after_seconds: 0, speaker_channels_count: 2 } },
      },
    })
    const exchange = sentBy(adapter.first(asked))
    expect([exchange.request.method, exchange.request.path]).toEqual(['POST', '/jobs'])
    expect(bodyOf(exchange)).toEqual({
      source_config: { url: remote.url },
      filter_profanity: true,
      transcriber: asked.endpoint.upstreamModel,
      language: 'de',
      skip_diarization: false,
      custom_vocabularies: [{ phrases: ['head race', 'sluice'] }],
      metadata: testContext.generationId,
    })
    expect(exchange.dropped).toEqual([
      'provider.options.revai.delete_after_seconds',
      'provider.options.revai.speaker_channels_count',
      'temperature',
    ])
    expect(exchange.makes).toEqual({ kind: 'revai.job', marker: testContext.generationId })
  })

  test('has the same object beside the sound in a form', async () => {
    const asked = askedFor('revai', { audio: testSound('wav') })
    const { body, headers } = sentBy(adapter.first(asked)).request
    if (body === null || !('open' in body)) throw new Error('expected a form')
    const response = new Response(body.open(), { headers: { 'content-type': headers['content-type'] ?? '' } })
    const form = await response.formData()
    expect([...form.keys()]).toEqual(['options', 'media'])
    expect(JSON.parse(String(form.get('options')))).toEqual({
      transcriber: asked.endpoint.upstreamModel,
      language: 'auto',
      skip_diarization: true,
      metadata: testContext.generationId,
    })
    expect(await (form.get('media') as File).text()).toBe('RIFF and so on')
  })

  test.each([
    [null, null, 'auto'],
    [null, ['en'], 'en'],
    ['zh', null, 'cmn'],
    ['pt', null, 'pt'],
  ])('for the language %p at a model of %p names %s', (language, languages, told) => {
    const asked = askedFor('revai', { language })
    const endpoint = { ...asked.endpoint, audio: { ...leastAudio, url: true, languages } }
    expect(bodyOf(sentBy(adapter.first({ ...asked, endpoint })))).toMatchObject({ language: told })
  })

  test('is polled, then read as JSON', () => {
    const steps = walk(adapter, askedFor('revai'), [
      made,
      made,
      { ...made, status: 'transcribed', duration_seconds: 2 },
    ]).slice(1)
    expect(
      steps.map((step) => [
        sentBy(step).request.path,
        sentBy(step).waitMs,
        sentBy(step).request.headers['accept'],
      ]),
    ).toEqual([
      ['/jobs/r%2F1', 500, undefined],
      ['/jobs/r%2F1', 1000, undefined],
      ['/jobs/r%2F1/transcript', undefined, 'application/vnd.rev.transcript.v1.0+json'],
    ])
  })

  test.each([
    ['invalid_media', 'invalid_request', false, false],
    ['empty_media', 'invalid_request', false, false],
    ['duration_exceeded', 'invalid_request', false, false],
    ['download_failure', 'invalid_request', false, false],
    ['insufficient_balance', 'provider_failed', true, true],
    ['invoicing_limit_exceeded', 'provider_failed', true, true],
    ['custom_vocabulary', 'provider_failed', true, false],
    ['internal_processing', 'provider_failed', true, false],
    ['toString', 'provider_failed', true, false],
  ])('that fails for %s is %s', (failure, type, elsewhere, account) => {
    const failed = { ...made, status: 'failed', failure, failure_detail: 'No audio format was found.' }
    const told = failureOf(() => walk(adapter, askedFor('revai'), [made, failed]))
    expect([told.error.type as string, told.retryElsewhere, told.credentialFault, told.retrySame]).toEqual([
      type,
      elsewhere,
      account,
      false,
    ])
    if (!account) expect(told.error.message).toContain('No audio format was found.')
  })

  test('is a refusal that names what is wrong with each option', () => {
    const body = {
      title: "Your request parameters didn't validate",
      parameters: { language: ['The language is not supported.'] },
      status: 400,
    }
    const { error } = adapter.readError({
      status: 400,
      headers: new Headers(),
      body: new TextEncoder().encode(JSON.stringify(body)),
      requestedModel: 'revai/machine',
      parameterNames: [],
    })
    expect(error.message).toContain('validate; language: The language is not supported.')
  })

  test('is removed, and found in the listing by its call', () => {
    const { remove, listing } = adapter.resources?.['revai.job'] ?? {}
    expect(remove?.('r/1')).toMatchObject({ method: 'DELETE', path: '/jobs/r%2F1' })
    expect(listing?.request(null).path).toBe('/jobs?limit=1000')
    expect(listing?.request('r/9').path).toBe('/jobs?limit=1000&starting_after=r%2F9')
    const at = '2026-11-20T09:00:00.5Z'
    const entries = [
      { id: 'a', metadata: 'gen-1', created_on: at },
      { id: 'b', created_on: at },
      { id: 'c', metadata: 'gen-1', created_on: 'never' },
    ]
    const atMs = Date.UTC(2026, 10, 20, 9, 0, 0, 500)
    expect(listing?.read(reply(entries), 'gen-1')).toEqual({
      found: [
        { id: 'a', createdAtMs: atMs },
        { id: 'c', createdAtMs: null },
      ],
      oldestAtMs: null,
      older: null,
    })
    const full = Array.from({ length: 1000 }, (_, index) => ({
      id: `j${index}`,
      created_on: '2026-11-20T09:00:00Z',
    }))
    expect(listing?.read(reply(full), 'gen-1').older).toBe('j999')
    expect(() => listing?.read(reply({}), 'gen-1')).toThrow('without a list')
  })

  const word = (value: string, ts: number) => ({ type: 'text', value, ts, end_ts: ts + 0.4, confidence: 0.9 })
  const mark = (value: string) => ({ type: 'punct', value })
  const transcribed = { ...made, status: 'transcribed', duration_seconds: 3.2, language: 'es' }

  test('is words, marks and spaces: a mark right behind a word belongs to it', () => {
    const monologues = [
      {
        speaker: 2,
        elements: [mark('¿'), word('Qué', 0), mark(' '), word('tal', 0.5), mark('?'), mark(' ')],
      },
      {
        speaker: 0,
        elements: [word('Bien', 1), mark(','), mark(' '), { type: 'unknown', value: '<laugh>' }],
      },
    ]
    const last = walk(adapter, askedFor('revai', { diarize: true }), [made, transcribed, { monologues }]).at(
      -1,
    )
    if (last?.type !== 'answer') throw new Error('expected an answer')
    expect(last.answer).toMatchObject({
      text: '¿Qué tal? Bien, <laugh>',
      language: 'es',
      durationSeconds: 3.2,
      words: [
        { word: 'Qué', start: 0, end: 0.4, confidence: 0.9, speaker: 0, speaker_label: '2' },
        { word: 'tal?', speaker: 0 },
        { word: 'Bien,', speaker: 1, speaker_label: '0' },
      ],
      segments: [{ text: '¿Qué tal?', speaker: 0 }, { speaker: 1 }],
      upstreamId: 'r/1',
    })
  })

  test('has no speakers unless they were asked for, and spaces where it has no marks', () => {
    const monologues = [{ speaker: 0, elements: [word('so', 0), word('it', 0.5)] }]
    const last = walk(adapter, askedFor('revai'), [
      made,
      { ...transcribed, language: 'auto' },
      { monologues },
    ]).at(-1)
    if (last?.type !== 'answer') throw new Error('expected an answer')
    expect(last.answer).toMatchObject({ text: 'so it', language: null })
    const { words } = last.answer as { words: { speaker?: number }[] }
    expect(words.map(({ speaker }) => speaker)).toEqual([undefined, undefined])
  })

  test('without the list of monologues is a failure, and with an empty list is silence', () => {
    const asked = askedFor('revai')
    expect(() => walk(adapter, asked, [made, transcribed, {}])).toThrow('without a transcript')
    const last = walk(adapter, asked, [made, transcribed, { monologues: [] }]).at(-1)
    if (last?.type !== 'answer') throw new Error('expected an answer')
    expect(last.answer).toMatchObject({ text: '', words: [], segments: null })
  })
})
