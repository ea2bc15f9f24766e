import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, toneWav, until, type TestGateway } from '../support/gateway.ts'

// What transcripts and speech of vendors cost by the shipped prices, worked out by hand for ten seconds of sound.

const providers = (url: string) =>
  (
    [
      ['deepgram', '/deepgram/v1'],
      ['elevenlabs', '/elevenlabs/v1'],
      ['assemblyai', '/assemblyai'],
      ['xai', '/xai/v1'],
    ] as const
  ).map(([preset, path]) => ({
    preset,
    base_url: `${url}${path}`,
    api_key: 'key',
    weight: 1,
    models: [],
    discover: false,
  }))

const prepaid = await startTestGateway({ credits: '10', providers })
afterAll(() => prepaid.stop())

interface Asked {
  model: string
  channels?: 1 | 2
  /** Length of the sound, ten by default. */
  seconds?: number
  fields?: Readonly<Record<string, string>>
  options?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

async function transcribe(
  gateway: TestGateway,
  { model, channels = 1, seconds = 10, fields = {}, options }: Asked,
) {
  const form = new FormData()
  form.set('model', model)
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  if (options) form.set('provider', JSON.stringify({ options }))
  form.set(
    'file',
    new File([channels === 2 ? stereo(seconds) : toneWav(seconds)], 'tone.wav', { type: 'audio/wav' }),
  )
  const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
  const json: unknown = await response.json()
  if (response.status !== 200) return { status: response.status, cost: null, isEstimated: null, json }
  const { json: row } = await until(
    () => gateway.get(`/generation?id=${response.headers.get('x-generation-id')}`),
    ({ status }) => status === 200,
  )
  return {
    status: 200,
    cost: at(row, 'data.total_cost'),
    isEstimated: at(row, 'data.headrace.is_estimated'),
    json,
  }
}

/** Sound of so many seconds in two channels. */
function stereo(seconds: number): Uint8Array<ArrayBuffer> {
  const file = Buffer.from(toneWav(seconds * 2))
  file.writeUInt16LE(2, 22)
  file.writeUInt32LE(file.readUInt32LE(24) * 4, 28)
  file.writeUInt16LE(4, 32)
  return new Uint8Array(file)
}

test('a stereo file costs once at Deepgram, and twice where each channel is asked for apart', async () => {
  // 0.0048 a minute: 0.0008 for ten seconds.
  const once = await transcribe(prepaid, { model: 'deepgram/nova-3', channels: 2 })
  expect(once.cost).toBe(0.0008)
  const options = { deepgram: { multichannel: true } }
  const twice = await transcribe(prepaid, { model: 'deepgram/nova-3', channels: 2, options })
  expect(twice.cost).toBe(0.0016)
})

test('speakers are served on a prepaid account and cost 0.002 a minute more at Deepgram', async () => {
  const fields = { response_format: 'verbose_json', diarize: 'true' }
  const { status, cost, isEstimated } = await transcribe(prepaid, { model: 'deepgram/nova-3', fields })
  expect([status, isEstimated]).toEqual([200, false])
  expect(cost).toBeCloseTo(0.0008 + 0.002 / 6, 9)
})

test('a surcharge that nobody tells the amount of is billed without it and marked as an estimate', async () => {
  const fields = { keyterms: 'tide' }
  const { status, cost, isEstimated } = await transcribe(prepaid, { model: 'deepgram/nova-3', fields })
  expect([status, cost, isEstimated]).toEqual([200, 0.0008, true])
})

test('an operator who refuses unknown prices refuses that surcharge by name', async () => {
  const strict = await startTestGateway({ credits: '10', providers, refusesUnknownPrices: true })
  const { status, json } = await transcribe(strict, {
    model: 'deepgram/nova-3',
    fields: { keyterms: 'tide' },
  })
  await strict.stop()
  expect(status).toBe(404)
  expect(at(json, 'error.message')).toContain('no known price for key terms')
})

test('the add-ons of AssemblyAI are billed by the hour of audio', async () => {
  const model = 'assemblyai/universal-3-5-pro'
  const fields = { response_format: 'verbose_json', diarize: 'true', keyterms: 'tide' }
  const options = { assemblyai: { entity_detection: true } }
  const { cost } = await transcribe(prepaid, { model, fields, options })
  // 0.21 + 0.02 + 0.05 + 0.08 an hour.
  expect(cost).toBe(0.001)
})

test('an edited transcript costs 30 percent more at ElevenLabs, and ten seconds at least', async () => {
  const model = 'elevenlabs/scribe_v2'
  const options = { elevenlabs: { transcript_edit: 'Leave out the names.' } }
  const plain = await transcribe(prepaid, { model })
  const edited = await transcribe(prepaid, { model, options })
  // 0.22 an hour.
  expect(plain.cost).toBeCloseTo(0.22 / 360, 9)
  expect(edited.cost).toBeCloseTo((0.22 * 1.3) / 360, 9)
  const short = await transcribe(prepaid, { model, options, seconds: 3 })
  expect(short.cost).toBe(edited.cost)
  expect((await transcribe(prepaid, { model, seconds: 3 })).cost).toBeCloseTo((0.22 * 3) / 3_600, 9)
})

test('speech of xAI costs 15 a million characters', async () => {
  const response = await prepaid.request('/audio/speech', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'x-ai/grok-tts', voice: 'eve', input: 'High water.' }),
  })
  await response.arrayBuffer()
  expect(response.status).toBe(200)
  const { json } = await until(
    () => prepaid.get(`/generation?id=${response.headers.get('x-generation-id')}`),
    ({ status }) => status === 200,
  )
  expect(at(json, 'data.total_cost')).toBe(0.000165)
})
