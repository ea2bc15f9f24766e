import { expect, test } from 'bun:test'
import { wave } from '../audio/testing.ts'
import { at, readAnswer, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const key = { 'x-goog-api-key': 'test-key' }

async function begin(bytes: number) {
  const response = await fetch(`${simulator.url('google')}/upload/v1beta/files`, {
    method: 'POST',
    headers: {
      ...key,
      'content-type': 'application/json',
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(bytes),
      'x-goog-upload-header-content-type': 'audio/wav',
    },
    body: JSON.stringify({ file: { displayName: 'mine' } }),
  })
  return response.headers.get('x-goog-upload-url') ?? ''
}

async function upload(sound: Uint8Array<ArrayBuffer>) {
  const response = await fetch(await begin(sound.length), {
    method: 'POST',
    headers: {
      ...key,
      'content-type': 'audio/wav',
      'x-goog-upload-command': 'upload, finalize',
      'x-goog-upload-offset': '0',
      'x-simulator-fault': 'text=high%20tide',
    },
    body: sound,
  })
  return readAnswer(response)
}

const ask = async (path: string, method = 'GET', body?: unknown) =>
  readAnswer(
    await fetch(`${simulator.url('google')}${path}`, {
      method,
      headers: { ...key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )

const transcribe = (fileUri: unknown) =>
  ask('/v1beta/models/gemini-2.5-flash:generateContent', 'POST', {
    contents: [{ parts: [{ fileData: { mimeType: 'audio/wav', fileUri } }, { text: 'Transcribe this.' }] }],
  })

test('a file is uploaded, processed, heard, listed and removed', async () => {
  const { json } = await upload(wave(2))
  expect(json['file']).toMatchObject({ displayName: 'mine', state: 'PROCESSING', sizeBytes: '64044' })
  const [name, uri] = [at(json, 'file.name'), at(json, 'file.uri')]
  expect((await transcribe(uri)).status).toBe(400)
  expect((await ask(`/v1beta/${String(name)}`)).json['state']).toBe('ACTIVE')
  const heard = await transcribe(uri)
  expect(at(heard.json, 'candidates.0.content.parts.0.text')).toBe('High tide.')
  expect(at(heard.json, 'usageMetadata.promptTokensDetails')).toContainEqual({
    modality: 'AUDIO',
    tokenCount: 64,
  })
  expect((await ask('/v1beta/files')).json['files']).toMatchObject([{ name }])
  expect((await ask(`/v1beta/${String(name)}`, 'DELETE')).status).toBe(200)
  expect((await ask(`/v1beta/${String(name)}`)).status).toBe(403)
  expect((await transcribe(uri)).status).toBe(403)
})

test('an upload of another length, or of an unknown one, is refused', async () => {
  const address = await begin(9)
  const headers = { ...key, 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' }
  const short = await fetch(address, { method: 'POST', headers, body: new Uint8Array(8) })
  expect(short.status).toBe(400)
  const unknown = await fetch(address.replace(/upload_id=\w+/, 'upload_id=no'), {
    method: 'POST',
    headers,
    body: 'x',
  })
  expect(unknown.status).toBe(404)
})

test('a request of more than 20 MB is refused', async () => {
  const data = 'A'.repeat(20_000_000)
  const { status, json } = await ask('/v1beta/models/gemini-2.5-flash:generateContent', 'POST', {
    contents: [{ parts: [{ inlineData: { mimeType: 'audio/wav', data } }] }],
  })
  expect([status, at(json, 'error.status')]).toEqual([400, 'INVALID_ARGUMENT'])
})
