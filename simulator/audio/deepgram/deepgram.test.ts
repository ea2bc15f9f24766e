import { describe, expect, test } from 'bun:test'
import { wave } from '../testing.ts'
import { at, readAnswer, simulatorForTests } from '../../testing.ts'

const simulator = simulatorForTests()
const hasProbe = Bun.which('ffprobe') !== null
if (!hasProbe) console.warn('skipped: telling sound from other bytes needs ffprobe')

async function listen(
  query: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const init = { method: 'POST', body, headers: { authorization: 'Token key', ...headers } }
  return readAnswer(await fetch(`${simulator.url('audio')}/deepgram/v1/listen?model=nova-3${query}`, init))
}
const scripted = (text: string, more: Record<string, string> = {}) => ({
  'content-type': 'audio/wav',
  'x-simulator-fault': `text=${encodeURIComponent(text)}`,
  ...more,
})

describe('Deepgram', () => {
  test('takes raw bytes and reports their true length', async () => {
    const { status, json, headers } = await listen('', wave(2), scripted('one two three four'))
    expect(status).toBe(200)
    expect(at(json, 'metadata.duration')).toBe(2)
    expect(at(json, 'results.channels.0.alternatives.0.transcript')).toBe('one two three four')
    expect(at(json, 'results.channels.0.alternatives.0.words.1')).toEqual({
      word: 'two',
      start: 0.5,
      end: 1,
      confidence: 0.97,
    })
    expect(at(json, 'results.utterances')).toBeUndefined()
    expect(headers.get('dg-request-id')).toBe(String(at(json, 'metadata.request_id')))
  })

  test('gives speakers of words, utterances, entities and the language when the request asks for them', async () => {
    const query =
      '&diarize_model=latest&utterances=true&detect_entities=true&detect_language=true&smart_format=true'
    const text = 'we met Anna in New York last week again they said no'
    const { json } = await listen(query, wave(6), scripted(text))
    const [channel] = at(json, 'results.channels') as Record<string, unknown>[]
    expect(at(channel, 'detected_language')).toBe('en')
    expect(at(channel, 'alternatives.0.transcript')).toBe(
      'We met Anna in New York last week. Again they said no.',
    )
    expect(at(channel, 'alternatives.0.words.8')).toMatchObject({ punctuated_word: 'Again', speaker: 1 })
    expect(at(json, 'results.utterances.1')).toMatchObject({ start: 4, end: 6, speaker: 1, channel: 0 })
    expect(at(channel, 'alternatives.0.entities')).toEqual([
      { label: 'NAME', value: ' Anna', confidence: 0.93, start_word: 2, end_word: 3 },
      { label: 'GPE', value: ' New York', confidence: 0.93, start_word: 4, end_word: 6 },
    ])
  })

  test('takes headerless samples whose rate is in the query', async () => {
    const samples = new Uint8Array(16_000 * 2 * 3)
    const query = '&encoding=linear16&sample_rate=16000'
    const { json } = await listen(query, samples, scripted('words', { 'content-type': 'audio/pcm' }))
    expect(at(json, 'metadata.duration')).toBe(3)
  })

  test('fetches an address, and refuses one that it cannot fetch', async () => {
    const file = Bun.serve({ port: 0, fetch: () => new Response(wave(1)) })
    const headers = scripted('from afar', { 'content-type': 'application/json' })
    const found = await listen('', JSON.stringify({ url: `${file.url}a.wav` }), headers)
    expect(at(found.json, 'metadata.duration')).toBe(1)
    await file.stop(true)
    const lost = await listen('', JSON.stringify({ url: `${file.url}a.wav` }), headers)
    expect([lost.status, at(lost.json, 'err_code')]).toEqual([400, 'REMOTE_CONTENT_ERROR'])
  })

  test.each([
    ['&diarize=yes', 400, 'INVALID_QUERY_PARAMETER'],
    ['&temperature=0', 400, 'INVALID_QUERY_PARAMETER'],
    [`&keyterm=${'a'.repeat(2001)}`, 400, 'Bad Request'],
    [Array.from({ length: 101 }, (_, index) => `&keyterm=k${index}`).join(''), 400, 'Bad Request'],
    ['&language=english!', 400, 'Bad Request'],
  ])('refuses %s', async (query, status, code) => {
    const { status: told, json } = await listen(query, wave(1), scripted('a'))
    expect([told, at(json, 'err_code')]).toEqual([status, code])
  })

  test('has a form of its own for unknown paths and for bad JSON', async () => {
    const unknown = await readAnswer(
      await fetch(`${simulator.url('audio')}/deepgram/v1/nothing`, {
        headers: { authorization: 'Token key' },
      }),
    )
    expect([unknown.status, unknown.text]).toEqual([404, 'Not Found'])
    expect(unknown.headers.get('content-type')).toContain('text/plain')
    const broken = await listen('', '{', { 'content-type': 'application/json' })
    expect([broken.status, at(broken.json, 'category')]).toEqual([400, 'INVALID_JSON'])
  })

  // Without the probe nobody knows that these bytes are no sound.
  test.skipIf(!hasProbe)('refuses what is no sound in a third form', async () => {
    const noAudio = await listen('', 'just words', { 'content-type': 'audio/wav' })
    expect([noAudio.status, at(noAudio.json, 'err_code')]).toEqual([400, 'Bad Request'])
  })

  test('takes a key with the scheme Token, and a bearer token of three parts', async () => {
    const statusWith = async (authorization: string) =>
      (await listen('', wave(1), scripted('a', { authorization }))).status
    expect(await statusWith('Token key')).toBe(200)
    expect(await statusWith('Bearer a.b.c')).toBe(200)
    expect(await statusWith('Bearer key')).toBe(401)
    expect(await statusWith('Token bad-key-1')).toBe(401)
  })

  test('applies the faults that every mount has', async () => {
    const limited = await listen('', wave(1), {
      'content-type': 'audio/wav',
      'x-simulator-fault': 'status=429;retry_after=7',
    })
    expect([limited.status, at(limited.json, 'err_code')]).toEqual([429, 'TOO_MANY_REQUESTS'])
    expect(limited.headers.get('retry-after')).toBe('7')
  })
})
