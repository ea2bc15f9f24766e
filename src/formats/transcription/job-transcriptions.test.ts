import { describe, expect, test } from 'bun:test'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { RemoteAudio, TranscriptionAdapter } from '../../canonical/audio.ts'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { CallAt, Exchange, Step } from '../../canonical/steps.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../text/testing.ts'
import { assemblyAiTranscription } from '../../providers/assemblyai/transcription.ts'
import { gladiaTranscription } from '../../providers/gladia/transcription.ts'
import { revAiTranscription } from '../../providers/revai/transcription.ts'
import { speechmaticsTranscription } from '../../providers/speechmatics/transcription.ts'
import { testSound, testTranscription } from './transcription-testing.ts'

const remote: RemoteAudio = {
  url: 'https://files.example/tides.mp3',
  field: 'input_audio.url',
  statedFormat: null,
  format: 'mp3',
  fileName: 'audio.mp3',
  contentType: 'audio/mpeg',
  sizeBytes: 0,
  open: () => {
    throw new Error('nobody fetches it here')
  },
}

function askedFor(preset: string, changes: Partial<TranscriptionCall> = {}): CallAt<TranscriptionCall> {
  const base = testEndpoint('model')
  const deployment = { ...base.deployment, id: preset, preset, provider: preset }
  const audio = { ...leastAudio, url: true }
  const endpoint: Endpoint = { ...base, deployment, modality: 'transcription', audio }
  return { call: testTranscription({ audio: remote, ...changes }), endpoint, context: testContext }
}

const reply = (value: unknown) => ({
  headers: new Headers(),
  bytes: new TextEncoder().encode(JSON.stringify(value)),
})

type AnyStep = Step<unknown, unknown, unknown>

function sentBy(step: AnyStep): Exchange {
  if (step.type !== 'send') throw new Error(`expected a request, not ${step.type}`)
  return step.exchange
}

/** Goes through an adapter's steps with these replies. */
function walk(
  adapter: TranscriptionAdapter,
  asked: CallAt<TranscriptionCall>,
  replies: readonly unknown[],
): AnyStep[] {
  const steps: AnyStep[] = [adapter.first(asked)]
  for (const told of replies) {
    const last = steps.at(-1)
    if (last?.type !== 'send') throw new Error('expected a request')
    steps.push(adapter.next(last.state, reply(told), asked))
  }
  return steps
}

function failureOf(run: () => unknown) {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof AttemptFailed) return thrown.failure
    throw thrown
  }
  throw new Error('expected a failure')
}

test.each([
  ['gladia', gladiaTranscription()],
  ['speechmatics', speechmaticsTranscription()],
  ['revai', revAiTranscription()],
  ['assemblyai', assemblyAiTranscription()],
])('a job of %s with a name that leads elsewhere is refused', (preset, adapter) => {
  expect(() => walk(adapter, askedFor(preset), [{ id: '..' }])).toThrow('without what its documents promise')
  expect(() => walk(adapter, askedFor(preset), [{ id: 'x'.repeat(257) }])).toThrow('documents promise')
})

describe('a job of Gladia', () => {
  const adapter = gladiaTranscription()
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

  test('is looked at about every second', () => {
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

describe('a job of Speechmatics', () => {
  const adapter = speechmaticsTranscription()

  async function configOf(exchange: Exchange): Promise<unknown> {
    const { body, headers } = exchange.request
    if (body === null || !('open' in body)) throw new Error('expected a form')
    const response = new Response(body.open(), { headers: { 'content-type': headers['content-type'] ?? '' } })
    return JSON.parse(String((await response.formData()).get('config')))
  }

  test('has its wishes in one member of the form, and an address instead of a file', async () => {
    const asked = askedFor('speechmatics', { diarize: true, keyterms: ['head race'], temperature: 0 })
    const exchange = sentBy(adapter.first(asked))
    expect(exchange.request.path).toBe('/jobs/')
    expect(await configOf(exchange)).toEqual({
      type: 'transcription',
      fetch_data: { url: remote.url },
      transcription_config: {
        language: 'auto',
        model: asked.endpoint.upstreamModel,
        diarization: 'speaker',
        additional_vocab: [{ content: 'head race' }],
      },
      tracking: { reference: testContext.generationId },
    })
    expect(exchange.makes).toEqual({ kind: 'speechmatics.job', marker: testContext.generationId })
    expect(exchange.dropped).toEqual(['temperature'])
  })

  test('is looked at without its own wait, then read', () => {
    const steps = walk(adapter, askedFor('speechmatics'), [
      { id: 's1' },
      { job: { status: 'running' } },
      { job: { status: 'done' } },
    ])
    expect(steps.slice(1).map((step) => [sentBy(step).request.path, sentBy(step).waitMs])).toEqual([
      ['/jobs/s1?wait=0', 250],
      ['/jobs/s1?wait=0', 750],
      ['/jobs/s1/transcript?format=json-v2', 0],
    ])
  })

  test.each([
    [{ status: 'rejected', errors: [{ message: 'unsupported audio format' }] }, 'invalid_request'],
    [{ status: 'rejected', errors: [{ message: 'no workers' }] }, 'provider_failed'],
    [{ status: 'expired' }, 'provider_failed'],
  ])('that is %j fails', (job, type) => {
    const failure = failureOf(() => walk(adapter, askedFor('speechmatics'), [{ id: 's1' }, { job }]))
    expect(failure.error.type as string).toBe(type)
  })

  test('is removed, also while it runs', () => {
    expect(adapter.resources?.['speechmatics.job']?.remove?.('s/1')).toEqual({
      method: 'DELETE',
      path: '/jobs/s%2F1?force=true',
      headers: {},
      body: null,
    })
  })

  test('is found in the listing by its call', () => {
    const listing = adapter.resources?.['speechmatics.job']?.listing
    expect(listing?.request(null).path).toBe('/jobs?limit=100')
    expect(listing?.request('2026-11-20T10:00:00.5Z').path).toBe(
      '/jobs?limit=100&created_before=2026-11-20T10%3A00%3A00.5Z',
    )
    const job = (id: string, reference: string | null, at: string) => ({
      id,
      created_at: at,
      data_name: 'audio',
      status: 'done',
      ...(reference === null
        ? {}
        : { config: { type: 'transcription', transcription_config: {}, tracking: { reference } } }),
    })
    const jobs = [
      job('a', 'gen-stt-2', '2026-11-20T10:00:01Z'),
      job('b', 'gen-stt-1', '2026-11-20T10:00:00Z'),
      job('c', null, '2026-11-20T09:00:00Z'),
    ]
    expect(listing?.read(reply({ jobs }), 'gen-stt-1')).toEqual({
      found: [{ id: 'b', createdAtMs: Date.parse('2026-11-20T10:00:00Z') }],
      oldestAtMs: Date.parse('2026-11-20T09:00:00Z'),
      older: null,
    })
    const many = Array.from({ length: 100 }, (_, at) => job(`j${at}`, null, '2026-11-20T10:00:00Z'))
    expect(listing?.read(reply({ jobs: many }), 'gen-stt-1')).toMatchObject({
      older: '2026-11-20T10:00:00Z',
    })
    expect(() => listing?.read(reply({}), 'gen-stt-1')).toThrow('documents promise')
  })

  test.each([
    ['enhanced', 'de', { language: 'de' }],
    ['enhanced', null, { language: 'auto' }],
    ['melia-1', null, { language: 'multi' }],
    ['melia-1', 'de', { language: 'multi', language_hints: ['de'] }],
  ])('of %s for the language %p says %j', async (upstreamModel, language, told) => {
    const asked = askedFor('speechmatics', { language })
    const exchange = sentBy(adapter.first({ ...asked, endpoint: { ...asked.endpoint, upstreamModel } }))
    expect(await configOf(exchange)).toMatchObject({
      transcription_config: { ...told, model: upstreamModel },
    })
    const { transcription_config: config } = (await configOf(exchange)) as Record<string, object>
    expect(Object.keys(config ?? {}).toSorted()).toEqual([...Object.keys(told), 'model'].toSorted())
  })

  test('joins each word by the delimiter of its own language', () => {
    const word = (content: string, language: string, at: number) => ({
      type: 'word',
      start_time: at,
      end_time: at + 0.4,
      alternatives: [{ content, confidence: 0.9, language, speaker: 'UU' }],
    })
    const results = [
      word('Good', 'en', 0),
      word('morning', 'en', 0.5),
      word('おはよう', 'ja', 1),
      word('ございます', 'ja', 1.5),
      word('everyone', 'en', 2),
      word('oui', 'fr', 2.5),
    ]
    const last = walk(adapter, askedFor('speechmatics'), [
      { id: 's1' },
      { job: { status: 'done' } },
      {
        job: { id: 's1', duration: 3 },
        metadata: { language_pack_info: { per_language_word_delimiters: { en: ' ', ja: '' } } },
        results,
      },
    ]).at(-1)
    if (last?.type !== 'answer') throw new Error('expected an answer')
    expect(last.answer).toMatchObject({ text: 'Good morningおはようございます everyone oui' })
    const { words } = last.answer as { words: { word: string; start: number }[] }
    expect(words.map(({ start }) => start)).toEqual([0, 0.5, 1, 1.5, 2, 2.5])
  })

  test('is words and marks in a row: a mark stands where it attaches, and nobody speaks as UU', () => {
    const row = (type: string, content: string, at: number, more: object = {}) => ({
      type,
      start_time: at,
      end_time: at + 0.4,
      alternatives: [{ content, confidence: 0.9, language: 'es', speaker: at < 1 ? 'S2' : 'UU' }],
      ...more,
    })
    const results = [
      row('punctuation', '¿', 0, { attaches_to: 'next' }),
      row('word', 'Qué', 0),
      row('word', 'tal', 0.5),
      row('punctuation', '.', 0.8, { attaches_to: 'previous', is_eos: false }),
      row('word', 'va', 0.85),
      row('punctuation', '?', 0.9, { attaches_to: 'previous', is_eos: true }),
      row('word', 'Bien', 1),
    ]
    const last = walk(adapter, askedFor('speechmatics'), [
      { id: 's1' },
      { job: { status: 'done' } },
      { job: { id: 's1', duration: 2 }, metadata: { language_pack_info: { word_delimiter: ' ' } }, results },
    ]).at(-1)
    if (last?.type !== 'answer') throw new Error('expected an answer')
    expect(last.answer).toMatchObject({
      text: '¿Qué tal. va? Bien',
      // As it says where sentences end, and not as marks would.
      segments: [
        { id: 0, text: '¿Qué tal. va?', speaker: 0 },
        { id: 1, text: 'Bien' },
      ],
      language: 'es',
      durationSeconds: 2,
      words: [
        { word: 'Qué', start: 0, end: 0.4, confidence: 0.9, speaker: 0, speaker_label: 'S2' },
        { word: 'tal.', speaker: 0 },
        { word: 'va?', speaker: 0 },
        { word: 'Bien', start: 1 },
      ],
      entities: null,
    })
    const { words } = last.answer as { words: { speaker?: number }[] }
    expect(words[3]?.speaker).toBeUndefined()
  })
})

describe('a job of Rev AI', () => {
  const adapter = revAiTranscription()
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

  test('is looked at, then read as JSON', () => {
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

  test('has no speakers where nobody asked for them, and spaces where it has no marks', () => {
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

  test('without monologues is no transcript, and with none of them nobody spoke', () => {
    const asked = askedFor('revai')
    expect(() => walk(adapter, asked, [made, transcribed, {}])).toThrow('without a transcript')
    const last = walk(adapter, asked, [made, transcribed, { monologues: [] }]).at(-1)
    if (last?.type !== 'answer') throw new Error('expected an answer')
    expect(last.answer).toMatchObject({ text: '', words: [], segments: null })
  })
})
