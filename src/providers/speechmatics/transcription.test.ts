import { describe, expect, test } from 'bun:test'
import type { Exchange } from '../../canonical/steps.ts'
import {
  askedFor,
  expectNamesChecked,
  failureOf,
  remote,
  reply,
  sentBy,
  walk,
} from '../../formats/transcription/polled-job.case.ts'
import { testContext } from '../../formats/text/testing.ts'
import { speechmaticsTranscription as adapter } from './transcription.ts'

describe('a job of Speechmatics', () => {
  test('with a name that leads elsewhere is refused', () => {
    expectNamesChecked(adapter, 'speechmatics')
  })

  async function configOf(exchange: Exchange): Promise<unknown> {
    const { body, headers } = exchange.request
    if (body === null || !('open' in body)) throw new Error('expected a form')
    const response = new Response(body.open(), { headers: { 'content-type': headers['content-type'] ?? '' } })
    return JSON.parse(String((await response.formData()).get('config')))
  }

  test('has its options in one field of the form, and an address instead of a file', async () => {
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

  test('is polled with Speechmatics’ own wait switched off, then read', () => {
    const steps = walk(adapter, askedFor('speechmatics'), [
      { id: 's1' },
      { job: { status: 'running' } },
      { job: { status: 'done' } },
    ])
    expect(steps.slice(1).map((step) => [sentBy(step).request.path, sentBy(step).waitMs])).toEqual([
      ['/jobs/s1?wait=0', 250],
      ['/jobs/s1?wait=0', 750],
      ['/jobs/s1/transcript?format=json-v2', undefined],
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

  test('is words and marks in one list: a mark attaches as it says, and the speaker UU is unknown', () => {
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
      // Sentences end where the provider says so, not at punctuation.
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
