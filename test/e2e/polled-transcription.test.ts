import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { wave } from '../../simulator/audio/testing.ts'
import { type Answer, at, startTestGateway } from '../support/gateway.ts'

// A provider whose transcripts are jobs, from the caller's request to the last thing that is left at the provider.

const mount = 'jobs'
const gateway = await startTestGateway({
  credits: '10',
  providers: (url) => [
    { preset: 'assemblyai', base_url: `${url}/p/${mount}/assemblyai`, api_key: 'key', weight: 1, models: [] },
  ],
  fetchHosts: ['127.0.0.1'],
})
afterAll(() => gateway.stop())

const model = 'assemblyai/universal-3-5-pro'
const text = 'we met Anna in New York last week again they said no'
const sound = wave(6)

const faults = (...rules: Record<string, unknown>[]) => gateway.admin('faults', { mount, rules })
const said = { fault: `text=${encodeURIComponent(text)}` }
const settings = (changes: Record<string, unknown>) =>
  gateway.admin('settings', { mount, transcription: 'scripted', ...changes })
const counters = () => gateway.admin(`counters?mount=${mount}`)
const left = async () => at(await counters(), 'audio_jobs') as Record<string, number>

/** Waits until nothing is left at the provider; what is left in the end. */
async function untilSwept(): Promise<Record<string, number>> {
  for (let look = 0; look < 200; look += 1) {
    const counts = await left()
    if (counts['jobs_left'] === 0) return counts
    await Bun.sleep(25)
  }
  return left()
}

const json = (more: Record<string, unknown> = {}) => ({
  model,
  input_audio: { data: Buffer.from(sound).toString('base64'), format: 'wav' },
  ...more,
})
const transcribe = (body: unknown): Promise<Answer> => gateway.post('/audio/transcriptions', body)
const spent = async () => {
  const { json: credits } = await gateway.get('/credits', { key: gateway.managementKey })
  return Number(at(credits, 'data.total_usage'))
}

beforeEach(async () => {
  await gateway.admin('reset', { mount })
  await settings({ job_looks: 1 })
  await faults(said)
})

describe('a transcript that is a job', () => {
  test('is uploaded, asked for, looked at, answered, charged and removed', async () => {
    const before = await spent()
    const { status, json: answer } = await transcribe(
      json({
        response_format: 'verbose_json',
        diarize: true,
        keyterms: ['New York'],
        provider: { options: { assemblyai: { entity_detection: true } } },
      }),
    )
    expect(status).toBe(200)
    expect(answer).toMatchObject({
      task: 'transcribe',
      text: 'We met Anna in New York last week. Again they said no.',
      language: 'en',
      duration: 6,
      segments: [
        { id: 0, start: 0, end: 4, speaker: 0, speaker_label: 'A' },
        { id: 1, start: 4, end: 6, speaker: 1, speaker_label: 'B', text: 'Again they said no.' },
      ],
      entities: [
        { text: 'Anna', type: 'person_name', start_char: 7, end_char: 11 },
        { text: 'New York', type: 'location', start_char: 15, end_char: 23 },
      ],
    })
    expect(at(answer, 'words.2')).toMatchObject({ word: 'Anna', start: 1, end: 1.5, speaker: 0 })
    expect(at(answer, 'usage.seconds')).toBe(6)
    // 0.21 an hour, and 0.15 for speakers, terms and entities: six seconds.
    expect(at(answer, 'usage.cost')).toBeCloseTo(0.0006, 9)
    expect((await spent()) - before).toBeCloseTo(0.0006, 9)
    expect(await untilSwept()).toEqual({ jobs_made: 1, jobs_left: 0, uploads_made: 1, uploads_left: 0 })
    const requests = (at(await counters(), 'last_requests') as { method: string; path: string }[]).map(
      ({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, 'ID')}`,
    )
    const base = '/assemblyai/v2'
    expect(requests).toEqual([
      `POST ${base}/upload`,
      `POST ${base}/transcript`,
      `GET ${base}/transcript/ID`,
      `GET ${base}/transcript/ID`,
      `DELETE ${base}/transcript/ID`,
    ])
  })

  test('is made of an address, whoever fetches it', async () => {
    const file = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(sound) })
    const { status, json: answer } = await transcribe({
      model,
      input_audio: { url: `http://127.0.0.1:${file.port}/a.wav` },
    })
    await file.stop(true)
    expect([status, answer['text']]).toEqual([200, 'We met Anna in New York last week. Again they said no.'])
    expect(await untilSwept()).toMatchObject({ jobs_made: 1, jobs_left: 0, uploads_left: 0 })
  })

  test('that fails is the provider’s failure with its own reason, costs nothing, and is removed', async () => {
    const before = await spent()
    await faults(said, { match: { path: '/v2/transcript' }, fault: 'job_error=Out%20of%20workers' })
    const { status, json: answer } = await transcribe(json())
    expect([status, at(answer, 'error.message')]).toEqual([
      502,
      'The provider gave the job up: "Out of workers".',
    ])
    expect(await spent()).toBe(before)
    expect(await untilSwept()).toMatchObject({ jobs_made: 1, jobs_left: 0 })
  })

  test('that blames the sound is the caller’s to mend', async () => {
    await faults(said, { match: { path: '/v2/transcript' }, fault: 'job_error=The%20file%20is%20corrupt' })
    const { status, json: answer } = await transcribe(json())
    expect(status).toBe(400)
    expect(at(answer, 'error.message')).toStartWith(
      'The provider could not use the audio: "The file is corrupt".',
    )
    expect(await untilSwept()).toMatchObject({ jobs_left: 0 })
  })

  test('of an address that gives nothing is refused without the address', async () => {
    const { port, close } = await silent()
    await close()
    const { status, json: answer } = await transcribe({
      model,
      input_audio: { url: `http://127.0.0.1:${port}/a.wav` },
    })
    expect(status).toBe(400)
    expect(at(answer, 'error.message')).not.toContain('127.0.0.1')
    expect(await untilSwept()).toMatchObject({ jobs_left: 0 })
  })

  test('that never ends is removed when its caller leaves, and costs nothing', async () => {
    const before = await spent()
    await faults(said, { match: { path: '/v2/transcript' }, fault: 'job_endless' })
    const base = gateway.listen()
    const leaving = new AbortController()
    const call = fetch(`${base}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(json()),
      signal: leaving.signal,
    }).catch((error: Error) => error.name)
    for (let look = 0; look < 200 && (await left())['jobs_made'] === 0; look += 1) await Bun.sleep(25)
    const leftAtMs = performance.now()
    leaving.abort()
    expect(await call).toBe('AbortError')
    expect(await untilSwept()).toMatchObject({ jobs_made: 1, jobs_left: 0, uploads_left: 0 })
    // A wait of its own would have been longer.
    expect(performance.now() - leftAtMs).toBeLessThan(3_000)
    expect(await spent()).toBe(before)
  })

  test('goes on when a look at it fails', async () => {
    await faults(said, { fault: 'status=503', after: 2, times: 1 })
    const { status } = await transcribe(json())
    expect(status).toBe(200)
    expect(await untilSwept()).toMatchObject({ jobs_made: 1, jobs_left: 0 })
  })

  test('is found by its upload when the reply to its making never came', async () => {
    await faults(said, { match: { path: '/v2/transcript' }, fault: 'cut_after=5', times: 1 })
    const { status } = await transcribe(json())
    // The second round asks once more and is answered.
    expect(status).toBe(200)
    expect(await untilSwept()).toMatchObject({ jobs_made: 2, jobs_left: 0 })
  })

  test('shows the words that a provider lost in its text alone', async () => {
    await faults({ fault: `text=${encodeURIComponent(text)},lose_words=2` })
    const { json: answer } = await transcribe(
      json({ response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] }),
    )
    expect(answer['text']).toBe('We met Anna in New York last week. Again they said no.')
    expect((answer['words'] as { word: string }[]).map(({ word }) => word)).toEqual([
      'We',
      'Anna',
      'New',
      'last',
      'Again',
      'said',
    ])
  })

  test('is refused with the provider’s own words for terms that it does not take', async () => {
    const { status, json: answer } = await transcribe(
      json({ keyterms: ['one two three four five six seven'] }),
    )
    expect(status).toBe(400)
    expect(at(answer, 'error.message')).toContain('at most 6 words in a term')
    expect(await left()).toMatchObject({ jobs_made: 0 })
  })
})

/** An address at which nobody will listen. */
async function silent(): Promise<{ port: number; close(): Promise<void> }> {
  const server: Server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, close: () => new Promise((resolve) => void server.close(() => resolve())) }
}
