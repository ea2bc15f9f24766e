import { describe, expect, test } from 'bun:test'
import { at, readAnswer, simulatorForTests } from '../../testing.ts'
import { wave } from '../testing.ts'

const simulator = simulatorForTests()
let mounts = 0

/** A client with its own mount. */
function client(settings: Record<string, unknown> = {}) {
  const mount = `assemblyai-${(mounts += 1)}`
  const base = `${simulator.url(mount)}/assemblyai/v2`
  const call = async (
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) => {
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream'
    const init = { method, headers: { authorization: 'key', 'content-type': type, ...headers } }
    return readAnswer(await fetch(base + path, body === undefined ? init : { ...init, body }))
  }
  const ready = simulator.admin('settings', { mount, transcription: 'scripted', ...settings })
  return {
    call,
    async upload(bytes: Uint8Array<ArrayBuffer>, fault = ''): Promise<string> {
      await ready
      const { json } = await call('POST', '/upload', bytes, { 'x-simulator-fault': fault })
      return String(at(json, 'upload_url'))
    },
    async create(body: Record<string, unknown>, fault = '') {
      await ready
      return call('POST', '/transcript', JSON.stringify(body), { 'x-simulator-fault': fault })
    },
    look: (id: unknown, fault = '') =>
      call('GET', `/transcript/${String(id)}`, undefined, { 'x-simulator-fault': fault }),
    counts: async () => at(await simulator.admin(`counters?requests=0&mount=${mount}`), 'audio_jobs'),
  }
}

const spoken = (text: string) => `text=${encodeURIComponent(text)}`

describe('AssemblyAI', () => {
  test('takes an upload and a job, which is queued, then runs, then is done', async () => {
    const { upload, create, look } = client()
    const audio = await upload(wave(2), spoken('one two three four'))
    const { status, json } = await create({ audio_url: audio })
    expect([status, json['status'], json['text']]).toEqual([200, 'queued', null])
    const stages = []
    for (let looks = 0; looks < 3; looks += 1) stages.push((await look(json['id'])).json)
    expect(stages.map((stage) => stage['status'])).toEqual(['queued', 'processing', 'completed'])
    expect(stages[2]).toMatchObject({
      text: 'One two three four.',
      audio_duration: 2,
      language_code: 'en_us',
      utterances: null,
      entities: null,
      speech_model_used: 'universal-3-5-pro',
    })
    expect(at(stages[2], 'words.1')).toEqual({
      text: 'two',
      start: 500,
      end: 1000,
      confidence: 0.97,
      speaker: null,
    })
  })

  test('gives speakers, entities and the language when the request asks for them', async () => {
    const { upload, create, look } = client({ job_looks: 0 })
    const audio = await upload(wave(6), spoken('we met Anna in New York last week again they said no'))
    const { json } = await create({
      audio_url: audio,
      speech_models: ['universal-2'],
      speaker_labels: true,
      entity_detection: true,
      language_detection: true,
    })
    const { json: done } = await look(json['id'])
    expect(done['language_confidence']).toBe(0.9941)
    expect(at(done, 'utterances.1')).toMatchObject({ speaker: 'B', text: 'Again they said no.' })
    expect(at(done, 'words.8')).toMatchObject({ text: 'Again', speaker: 'B' })
    expect(done['entities']).toEqual([
      { entity_type: 'person_name', text: 'Anna', start: 1000, end: 1500 },
      { entity_type: 'location', text: 'New York', start: 2000, end: 3000 },
    ])
  })

  test('fails a job whose file is not audio or whose address cannot be fetched, inside an answer of status 200', async () => {
    const { upload, create, look } = client({ job_looks: 0 })
    const text = await upload(new TextEncoder().encode('just words'))
    const file = Bun.serve({ port: 0, fetch: () => new Response('gone', { status: 404 }) })
    const bad = await create({ audio_url: text })
    const lost = await create({ audio_url: `${file.url}a.wav` })
    const [first, second] = [await look(bad.json['id']), await look(lost.json['id'])]
    await file.stop(true)
    expect([first.status, first.json['status']]).toEqual([200, 'error'])
    expect(first.json['error']).toContain('does not appear to contain audio')
    expect([second.status, second.json['status']]).toEqual([200, 'error'])
    expect(second.json['error']).toContain('Download error')
  })

  test('applies the faults that exist for jobs', async () => {
    const { upload, create, look } = client({ job_looks: 0 })
    const audio = await upload(wave(2), spoken('one two three four'))
    const failing = await create({ audio_url: audio }, 'job_error=Out%20of%20luck')
    expect((await look(failing.json['id'])).json).toMatchObject({ status: 'error', error: 'Out of luck' })
    const endless = await create({ audio_url: audio }, 'job_endless')
    for (let looks = 0; looks < 5; looks += 1) await look(endless.json['id'])
    expect((await look(endless.json['id'])).json['status']).toBe('processing')
    const whole = await create({ audio_url: audio })
    const { json } = await look(whole.json['id'], 'lose_words=2')
    expect((json['words'] as { text: string }[]).map(({ text }) => text)).toEqual(['One', 'three'])
    expect(json['text']).toBe('One two three four.')
  })

  test('empties a deleted transcript, removes its upload, and counts the remaining ones', async () => {
    const { call, upload, create, look, counts } = client({ job_looks: 0 })
    const audio = await upload(wave(1), spoken('a'))
    await upload(wave(1), spoken('b'))
    const { json } = await create({ audio_url: audio })
    expect(await counts()).toEqual({ jobs_made: 1, jobs_left: 1, uploads_made: 2, uploads_left: 2 })
    const removed = await call('DELETE', `/transcript/${String(json['id'])}`)
    expect([removed.status, removed.json['audio_url']]).toEqual([200, 'http://deleted_by_user'])
    expect((await look(json['id'])).json).toMatchObject({ text: 'Deleted by user.', words: null })
    expect(await counts()).toEqual({ jobs_made: 1, jobs_left: 0, uploads_made: 2, uploads_left: 1 })
    expect((await create({ audio_url: audio })).status).toBe(403)
  })

  test('lists the newest first, page by page', async () => {
    const { call, upload, create } = client({ job_looks: 0 })
    const audio = await upload(wave(1), spoken('a'))
    const ids = []
    for (let jobs = 0; jobs < 3; jobs += 1) ids.push((await create({ audio_url: audio })).json['id'])
    const first = await call('GET', '/transcript?limit=2')
    expect(at(first.json, 'transcripts.0')).toMatchObject({ id: ids[2], audio_url: audio })
    expect(at(first.json, 'transcripts.1.id')).toBe(String(ids[1]))
    expect(at(first.json, 'page_details.prev_url')).toEndWith(`?limit=2&before_id=${String(ids[1])}`)
    const second = await call('GET', `/transcript?limit=2&before_id=${String(ids[1])}`)
    expect(at(second.json, 'page_details')).toMatchObject({ result_count: 1, prev_url: null })
    expect(at(second.json, 'transcripts.0.id')).toBe(String(ids[0]))
  })

  test.each([
    ['a word for a scheme', { authorization: 'Bearer key' }],
    ['a key that is none', { authorization: 'bad-key-1' }],
    ['no key', { authorization: '' }],
  ])('refuses %s', async (_, headers) => {
    const { status, json } = await client().call('GET', '/transcript', undefined, headers)
    expect([status, json]).toEqual([401, { error: 'Authentication error, API token missing/invalid' }])
  })

  test.each([
    ['no address', { audio_url: undefined }],
    ['a model of before', { speech_models: ['best'] }],
    ['a language beside its detection', { language_code: 'en', language_detection: true }],
    ['terms beside a prompt', { keyterms_prompt: ['a'], prompt: 'b' }],
    ['201 terms for universal-2', { speech_models: ['universal-2'], keyterms_prompt: Array(201).fill('a') }],
    ['a term of seven words', { keyterms_prompt: ['a b c d e f g'] }],
    ['a temperature for universal-2', { speech_models: ['universal-2'], temperature: 0 }],
    ['a member that it does not have', { diarize: true }],
    ['a switch that is a text', { speaker_labels: 'true' }],
  ])('refuses %s', async (_, body) => {
    const { status, json } = await client().create({ audio_url: 'https://a.example/b.wav', ...body })
    expect([status, typeof json['error']]).toEqual([400, 'string'])
  })

  test('answers 404 for an id of no job', async () => {
    expect((await client().look('nothing')).status).toBe(404)
  })

  test('applies the faults that every mount has', async () => {
    const limited = await client().create(
      { audio_url: 'https://a.example/b.wav' },
      'status=429;retry_after=7',
    )
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
  })
})
