import { describe, expect, test } from 'bun:test'
import { at, readAnswer, simulatorForTests } from '../../testing.ts'
import { wave } from '../testing.ts'

const simulator = simulatorForTests()
const base = () => `${simulator.url('gladia')}/gladia/v2`
const key = { 'x-gladia-key': 'key' }

async function post(path: string, body: FormData | object, headers: Record<string, string> = {}) {
  const isForm = body instanceof FormData
  const init = {
    method: 'POST',
    headers: { ...key, ...(isForm ? {} : { 'content-type': 'application/json' }), ...headers },
    body: isForm ? body : JSON.stringify(body),
  }
  return readAnswer(await fetch(base() + path, init))
}

const look = async (id: unknown) =>
  readAnswer(await fetch(`${base()}/pre-recorded/${String(id)}`, { headers: key }))

async function uploaded(bytes: Uint8Array<ArrayBuffer>, text = 'we met Anna') {
  const form = new FormData()
  form.set('audio', new File([bytes], 'audio.wav'))
  return post('/upload', form, { 'x-simulator-fault': `text=${encodeURIComponent(text)}` })
}

describe('Gladia', () => {
  test('takes an upload, reports its length, and finishes a job at the third poll', async () => {
    const { json: file } = await uploaded(wave(2))
    expect(at(file, 'audio_metadata.audio_duration')).toBe(2)
    const begun = await post('/pre-recorded', {
      audio_url: file['audio_url'],
      diarization: true,
      named_entity_recognition: true,
    })
    expect(begun.status).toBe(201)
    const stages = []
    for (let looks = 0; looks < 3; looks += 1) stages.push((await look(begun.json['id'])).json)
    expect(stages.map((stage) => stage['status'])).toEqual(['queued', 'processing', 'done'])
    const result = at(stages[2], 'result')
    expect(at(result, 'metadata.billing_time')).toBe(2)
    expect(at(result, 'transcription.full_transcript')).toBe('We met Anna.')
    expect(at(result, 'transcription.utterances.0')).toMatchObject({ speaker: 0, start: 0, end: 2 })
    expect(at(result, 'transcription.utterances.0.words.1')).toMatchObject({ word: ' met' })
    expect(at(result, 'named_entity_recognition.results.0')).toMatchObject({
      entity_type: 'NAME',
      text: 'Anna',
    })
  })

  test('fails a job with its own status inside an answer of status 200', async () => {
    const { json: file } = await uploaded(wave(1))
    const { json } = await post(
      '/pre-recorded',
      { audio_url: file['audio_url'] },
      { 'x-simulator-fault': 'job_error=503' },
    )
    for (let looks = 0; looks < 2; looks += 1) await look(json['id'])
    const { status, json: ended } = await look(json['id'])
    expect([status, ended['status'], ended['error_code']]).toEqual([200, 'error', 503])
  })

  test.each([
    ['no address', {}],
    ['a model that is none', { audio_url: 'https://a.example/b.wav', model: 'whisper' }],
    ['terms without their list', { audio_url: 'https://a.example/b.wav', custom_vocabulary: true }],
  ])('refuses %s', async (_, body) => {
    expect((await post('/pre-recorded', body)).status).toBe(400)
  })

  test('takes its key in Gladia’s own header', async () => {
    const refused = await post('/pre-recorded', {}, { 'x-gladia-key': '', authorization: 'Bearer key' })
    expect([refused.status, typeof refused.json['request_id']]).toEqual([401, 'string'])
    expect((await look('nothing')).status).toBe(404)
  })
})
