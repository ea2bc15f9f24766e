import { describe, expect, test } from 'bun:test'
import { at, readAnswer, simulatorForTests } from '../../testing.ts'
import { wave } from '../testing.ts'

const simulator = simulatorForTests()
const base = (mount: string) => `${simulator.url(mount)}/revai/speechtotext/v1/jobs`
const key = { authorization: 'Bearer key' }

async function create(
  options: object,
  { mount = 'revai', fault = 'text=we%20met%20Anna' }: { mount?: string; fault?: string } = {},
) {
  const form = new FormData()
  form.set('media', new File([wave(2)], 'audio.wav'))
  form.set('options', JSON.stringify(options))
  const headers = { ...key, 'x-simulator-fault': fault }
  return readAnswer(await fetch(base(mount), { method: 'POST', headers, body: form }))
}

const ask = async (path: string, { method = 'GET', mount = 'revai' } = {}) =>
  readAnswer(await fetch(`${base(mount)}${path}`, { method, headers: key }))

async function ended(id: string) {
  for (let looks = 0; looks < 2; looks += 1) await ask(`/${id}`)
  return ask(`/${id}`)
}

describe('Rev AI', () => {
  test('runs a job, then gives the words, marks and spaces of each speaker', async () => {
    const { status, json } = await create({ language: 'auto', metadata: 'mine' })
    expect([status, json['status'], json['type'], json['metadata']]).toEqual([
      200,
      'in_progress',
      'async',
      'mine',
    ])
    const id = String(json['id'])
    expect((await ask(`/${id}`)).json['status']).toBe('in_progress')
    const { json: done } = await ended(id)
    expect([done['status'], done['duration_seconds'], done['language']]).toEqual(['transcribed', 2, 'en'])
    const { json: read } = await ask(`/${id}/transcript`)
    expect(at(read, 'monologues.0.speaker')).toBe(0)
    const elements = at(read, 'monologues.0.elements') as { type: string; value: string }[]
    expect(elements.map(({ type, value }) => [type, value])).toEqual([
      ['text', 'We'],
      ['punct', ' '],
      ['text', 'met'],
      ['punct', ' '],
      ['text', 'Anna'],
      ['punct', '.'],
    ])
    expect(elements[0]).toMatchObject({ ts: 0, end_ts: 0.67 })
  })

  test('removes a job that has ended, and refuses to remove a running one', async () => {
    const id = String((await create({})).json['id'])
    expect((await ask(`/${id}`, { method: 'DELETE' })).status).toBe(409)
    await ended(id)
    expect((await ask(`/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(`/${id}`)).status).toBe(404)
    expect((await ask(`/${id}`, { method: 'DELETE' })).status).toBe(404)
  })

  test('lists its jobs, the newest first and page by page, without removed ones', async () => {
    const mount = 'revai-list'
    const ids: string[] = []
    for (const metadata of ['a', 'b', 'c'])
      ids.push(String((await create({ metadata }, { mount })).json['id']))
    const shown = async (query: string) => {
      const listed = JSON.parse((await ask(query, { mount })).text) as { id: string; metadata: string }[]
      return listed.map(({ metadata }) => metadata)
    }
    expect(await shown('')).toEqual(['c', 'b', 'a'])
    expect(await shown(`?limit=1&starting_after=${ids[2]}`)).toEqual(['b'])
    for (let looks = 0; looks < 3; looks += 1) await ask(`/${ids[1]}`, { mount })
    await ask(`/${ids[1]}`, { method: 'DELETE', mount })
    expect(await shown('')).toEqual(['c', 'a'])
    expect((await ask('?limit=1001', { mount })).status).toBe(400)
  })

  test.each([
    ['insufficient_balance', 'insufficient_balance', 'The account balance does not cover this job'],
    ['out%20of%20workers', 'internal_processing', 'out of workers'],
  ])('fails a job for %s', async (fault, failure, detail) => {
    const id = String((await create({}, { fault: `job_error=${fault}` })).json['id'])
    const { json } = await ended(id)
    expect([json['status'], json['failure'], json['failure_detail']]).toEqual(['failed', failure, detail])
    expect((await ask(`/${id}/transcript`)).status).toBe(409)
  })

  test.each([
    ['an option that it does not have', 'diarize', { diarize: true }],
    ['a switch that is a text', 'skip_diarization', { skip_diarization: 'true' }],
    ['another transcriber', 'transcriber', { transcriber: 'nova-3' }],
    ['a language by another code', 'language', { language: 'zh' }],
    ['long metadata', 'metadata', { metadata: 'a'.repeat(513) }],
    ['a phrase with a digit', 'custom_vocabularies', { custom_vocabularies: [{ phrases: ['GPT 4'] }] }],
    [
      'a phrase of thirteen words',
      'custom_vocabularies',
      { custom_vocabularies: [{ phrases: ['a '.repeat(13)] }] },
    ],
    ['a vocabulary without phrases', 'custom_vocabularies', { custom_vocabularies: ['a'] }],
  ])('refuses %s by its name', async (_, name, options) => {
    const { status, json } = await create(options)
    expect([status, json['title'], Object.keys(json['parameters'] as object)]).toEqual([
      400,
      "Your request parameters didn't validate",
      [name],
    ])
  })

  test('refuses a key without its scheme', async () => {
    const refused = await readAnswer(await fetch(base('revai'), { headers: { authorization: 'key' } }))
    expect(refused.json).toEqual({ title: 'Authorization has been denied for this request', status: 401 })
  })
})
