import { describe, expect, test } from 'bun:test'
import { at, readAnswer, simulatorForTests } from '../../testing.ts'
import { wave } from '../testing.ts'

const simulator = simulatorForTests()
const base = () => `${simulator.url('speechmatics')}/speechmatics/v2/jobs`
const key = { authorization: 'Bearer key' }

async function create(
  config: object,
  fault = 'text=we%20met%20Anna',
  file: Uint8Array<ArrayBuffer> | null = wave(2),
) {
  const form = new FormData()
  form.set('config', JSON.stringify(config))
  if (file !== null) form.set('data_file', new File([file], 'audio.wav'))
  const headers = { ...key, 'x-simulator-fault': fault }
  return readAnswer(await fetch(`${base()}/`, { method: 'POST', headers, body: form }))
}

const get = async (path: string) => readAnswer(await fetch(`${base()}/${path}`, { headers: key }))
const config = (more: object = {}) => ({
  type: 'transcription',
  transcription_config: { language: 'auto', ...more },
})

describe('Speechmatics', () => {
  test('runs a job, then gives its words and marks in one list', async () => {
    const { status, json } = await create(config({ diarization: 'speaker' }))
    expect(status).toBe(201)
    const id = String(json['id'])
    expect((await get(`${id}/transcript?format=json-v2`)).status).toBe(200)
    const stages = []
    for (let looks = 0; looks < 3; looks += 1) stages.push(at((await get(id)).json, 'job.status'))
    expect(stages).toEqual(['running', 'running', 'done'])
    const { json: read } = await get(`${id}/transcript?format=json-v2`)
    expect(at(read, 'job.duration')).toBe(2)
    expect(at(read, 'metadata.language_identification.results.0.alternatives.0.language')).toBe('en')
    expect(at(read, 'results.2')).toMatchObject({
      type: 'word',
      alternatives: [{ content: 'Anna', speaker: 'S1' }],
    })
    expect(at(read, 'results.3')).toMatchObject({
      type: 'punctuation',
      attaches_to: 'previous',
      is_eos: true,
    })
  })

  test('lists jobs with their references, the newest first, until they are removed', async () => {
    const ids: string[] = []
    for (const reference of ['one', 'two']) {
      const { json } = await create({ ...config(), tracking: { reference } })
      ids.push(String(json['id']))
    }
    const list = async (limit: number) =>
      (await readAnswer(await fetch(`${base()}?limit=${limit}`, { headers: key }))).json['jobs']
    expect(await list(2)).toMatchObject([
      { id: ids[1], config: { tracking: { reference: 'two' } } },
      { id: ids[0], config: { tracking: { reference: 'one' } } },
    ])
    const remove = (query: string) =>
      fetch(`${base()}/${ids[1] ?? ''}${query}`, { method: 'DELETE', headers: key })
    expect((await remove('?force=true')).status).toBe(200)
    expect((await remove('?force=true')).status).toBe(404)
    expect(await list(1)).toMatchObject([{ id: ids[0] }])
  })

  test.each([
    ['standard', 'zh', undefined],
    ['melia-1', 'auto', undefined],
    ['melia-1', 'multi', [{ content: 'head race' }]],
  ])('refuses %s for the language %s with the terms %j', async (model, language, terms) => {
    const asked = {
      type: 'transcription',
      transcription_config: { model, language, additional_vocab: terms },
    }
    expect((await create(asked)).status).toBe(400)
  })

  test('rejects a job, with its reasons', async () => {
    const { json } = await create(config(), 'job_error=no%20workers')
    const id = String(json['id'])
    for (let looks = 0; looks < 2; looks += 1) await get(id)
    const { status, json: ended } = await get(id)
    expect([status, at(ended, 'job.status'), at(ended, 'job.errors.0.message')]).toEqual([
      200,
      'rejected',
      'no workers',
    ])
    expect((await get(`${id}/transcript?format=json-v2`)).status).toBe(404)
  })

  test.each([
    ['a configuration of another kind', { type: 'alignment' }],
    ['a job without a language', { type: 'transcription', transcription_config: {} }],
    ['a member that it does not have', config({ diarize: true })],
    ['terms that are texts', config({ additional_vocab: ['a'] })],
    ['a file beside an address', { ...config(), fetch_data: { url: 'https://a.example/b.wav' } }],
  ])('refuses %s', async (_, body) => {
    const { status, json } = await create(body)
    expect([status, json['code'], json['error']]).toEqual([400, 400, 'Bad Request'])
  })

  test('answers 404 for an id of no job, and refuses a key without its scheme', async () => {
    expect((await get('nothing')).json).toEqual({ code: 404, error: 'Job not found' })
    const refused = await readAnswer(await fetch(`${base()}/x`, { headers: { authorization: 'key' } }))
    expect([refused.status, refused.json['error']]).toEqual([401, 'Permission Denied'])
  })
})
