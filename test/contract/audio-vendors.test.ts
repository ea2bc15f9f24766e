import { afterAll, describe, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, readAnswer, startTestGateway, toneWav } from '../support/gateway.ts'

// What single vendors of sound want besides what all want, by their own clients and documents: the simulated ones refuse
// what the real ones refuse.

const heard = 'we met Anna in New York last week again they said no'

/** Preset, path below the mount, and models by the names that the vendor knows. */
const hearing: readonly [preset: string, path: string, ...models: string[]][] = [
  ['xai', '/xai/v1', 'grok-stt'],
  ['speechmatics', '/speechmatics/v2', 'enhanced', 'melia-1'],
  ['gladia', '/gladia', 'solaria-1'],
  ['elevenlabs', '/elevenlabs/v1', 'scribe_v2'],
  ['together', '/together/v1', 'openai/whisper-large-v3'],
  ['revai', '/revai/speechtotext/v1', 'machine'],
]
const speaking: readonly [preset: string, path: string, model: string][] = [
  ['xai', '/xai/v1', 'grok-tts'],
  ['lmnt', '/lmnt/v1', 'blizzard'],
  ['resemble', '/resemble', 'chatterbox-turbo'],
  ['minimax', '/minimax/v1', 'speech-2.8-turbo'],
  ['google-ai-studio', '/v1beta', 'gemini-3.1-flash-tts-preview'],
]

const gateway = await startTestGateway({
  providers: (url) => [
    ...hearing.map(([preset, path, ...models]) =>
      deploymentOf(url, `${preset}-ears`, { preset, path, models }),
    ),
    ...speaking.map(([preset, path, model]) =>
      deploymentOf(url, `${preset}-voice`, { preset, path, models: [model] }),
    ),
  ],
})
afterAll(() => gateway.stop())

function deploymentOf(
  url: string,
  id: string,
  { preset, path, models }: { preset: string; path: string; models: readonly string[] },
): ProviderConfig {
  const modality = id.endsWith('-ears') ? 'transcription' : 'speech'
  return {
    preset,
    id,
    base_url: `${url}/p/${id}${path}`,
    api_key: 'a-good-key',
    weight: 1,
    discover: false,
    only_models: true,
    data_policy: { zdr: true, trains: false, stores: false },
    models: models.map((upstream) => ({ id: `${id}/${upstream.split('/').at(-1)}`, upstream, modality })),
  }
}

/** The vendor has nothing, and hears what is written above. */
async function prepare(mount: string): Promise<void> {
  await gateway.admin('reset', { mount })
  await gateway.admin('settings', { mount, job_looks: 0 })
  await gateway.admin('faults', { mount, rules: [{ match: {}, fault: `text=${encodeURIComponent(heard)}` }] })
}

for (const [preset] of hearing) await prepare(`${preset}-ears`)
for (const [preset] of speaking)
  await gateway.admin('faults', { mount: `${preset}-voice`, rules: [{ match: {}, fault: 'tone' }] })

const input_audio = { data: Buffer.from(toneWav(6)).toString('base64'), format: 'wav' }
const transcribe = (model: string, more: object = {}) =>
  gateway.post('/audio/transcriptions', { model, input_audio, ...more })

async function speak(model: string, more: object = {}) {
  const body = { model, input: 'The water comes in.', ...more }
  const response = await gateway.request('/audio/speech', { method: 'POST', key: gateway.key, body })
  if (response.status === 200) return { status: 200, bytes: (await response.bytes()).length, message: '' }
  const { status, json } = await readAnswer(response)
  return { status, bytes: 0, message: String(at(json, 'error.message')) }
}

/** Bodies of the requests of this kind that a mount was sent, the last one first. */
async function sentTo(mount: string, path: string): Promise<string[]> {
  const { last_requests: requests } = await gateway.admin(`counters?mount=${mount}`)
  const asked = requests as { method: string; path: string; body: string }[]
  return asked
    .filter((one) => one.method === 'POST' && one.path.endsWith(path))
    .map(({ body }) => body)
    .toReversed()
}

async function fieldsSentTo(mount: string, path: string): Promise<Record<string, string>> {
  const [body = '{}'] = await sentTo(mount, path)
  const { fields = [] } = JSON.parse(body) as { fields?: { name: string; value: string }[] }
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]))
}

describe('xAI', () => {
  const bodySpoken = async () => JSON.parse((await sentTo('xai-voice', '/tts'))[0] ?? '{}') as object

  test('xAI speaks with the language that it requires, which it finds out where nobody names one', async () => {
    expect(await speak('xai-voice/grok-tts', { voice: 'eve' })).toMatchObject({ status: 200, message: '' })
    expect(await bodySpoken()).toMatchObject({ language: 'auto' })
    const own = { provider: { options: { xai: { language: 'pt-BR' } } } }
    expect((await speak('xai-voice/grok-tts', { voice: 'eve', ...own })).status).toBe(200)
    expect(await bodySpoken()).toMatchObject({ language: 'pt-BR' })
    const none = { provider: { options: { xai: { language: null } } } }
    expect((await speak('xai-voice/grok-tts', { voice: 'eve', ...none })).status).toBe(200)
  })

  test('xAI speaks in voices that a team made for itself, and in its own in any case', async () => {
    for (const [asked, sent] of [
      ['nlbqfwie', 'nlbqfwie'],
      ['EVE', 'eve'],
    ]) {
      expect(await speak('xai-voice/grok-tts', { voice: asked })).toMatchObject({ status: 200, message: '' })
      expect(await bodySpoken()).toMatchObject({ voice_id: sent })
    }
    expect((await speak('xai-voice/grok-tts', { voice: 'missing-1' })).status).toBe(400)
  })

  test('xAI hears with the model that the caller’s own options name', async () => {
    const { status, json } = await transcribe('xai-ears/grok-stt', {
      provider: { options: { xai: { model: 'another' } } },
    })
    expect([status, at(json, 'headrace_metadata.dropped')]).toEqual([200, undefined])
    expect(await fieldsSentTo('xai-ears', '/stt')).toMatchObject({ model: 'another' })
    await transcribe('xai-ears/grok-stt')
    expect(await fieldsSentTo('xai-ears', '/stt')).not.toHaveProperty('model')
  })

  test('xAI tells the speaker of every word', async () => {
    const { status, json } = await transcribe('xai-ears/grok-stt', {
      response_format: 'verbose_json',
      diarize: true,
    })
    expect(status).toBe(200)
    const words = json['words'] as { speaker: number; speaker_label: string }[]
    expect(words.map(({ speaker }) => speaker)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
  })
})

test('LMNT is told which version of its interface is meant', async () => {
  expect(await speak('lmnt-voice/blizzard', { voice: 'leah' })).toMatchObject({ status: 200, message: '' })
})

test('a voice of Google is found whatever its case', async () => {
  const { status } = await speak('google-ai-studio-voice/gemini-3.1-flash-tts-preview', { voice: 'kore' })
  expect(status).toBe(200)
  const [body = ''] = await sentTo('google-ai-studio-voice', ':streamGenerateContent')
  expect(body).toContain('"voiceName":"Kore"')
})

describe('Speechmatics', () => {
  const configSent = async () =>
    JSON.parse((await fieldsSentTo('speechmatics-ears', '/jobs/'))['config'] ?? '{}') as Record<
      string,
      object
    >

  test('Speechmatics hears Mandarin under its own code, and the caller is told the one that was asked for', async () => {
    const asked = { language: 'zh', response_format: 'verbose_json' }
    const { status, json } = await transcribe('speechmatics-ears/enhanced', asked)
    expect([status, json['language']]).toEqual([200, 'zh'])
    expect((await configSent())['transcription_config']).toMatchObject({ language: 'cmn' })
  })

  test('Melia is asked for several languages at once, and hears the caller’s first', async () => {
    expect((await transcribe('speechmatics-ears/melia-1')).status).toBe(200)
    expect((await configSent())['transcription_config']).toMatchObject({ language: 'multi' })
    expect((await transcribe('speechmatics-ears/melia-1', { language: 'zh' })).status).toBe(200)
    expect((await configSent())['transcription_config']).toMatchObject({
      language: 'multi',
      language_hints: ['cmn'],
    })
  })

  test('Melia has no dictionary, and refuses key terms by name', async () => {
    const { status, json } = await transcribe('speechmatics-ears/melia-1', { keyterms: ['head race'] })
    expect([status, at(json, 'error.message')]).toEqual([
      400,
      expect.stringContaining('The selected model does not support keyterms'),
    ])
    expect((await transcribe('speechmatics-ears/enhanced', { keyterms: ['head race'] })).status).toBe(200)
  })
})

test('Gladia is not sent Norwegian as it is mostly written, which it has no code for', async () => {
  expect((await transcribe('gladia-ears/solaria-1', { language: 'nb' })).status).toBe(200)
  const [body = '{}'] = await sentTo('gladia-ears', '/v2/pre-recorded')
  expect(JSON.parse(body)).toMatchObject({ language_config: { languages: ['no'] } })
  const { status, json } = await transcribe('gladia-ears/solaria-1', { language: 'ga' })
  expect([status, at(json, 'error.param')]).toEqual([400, 'language'])
})

test('Together is asked for times as its clients write lists, with brackets', async () => {
  const { status, json } = await transcribe('together-ears/whisper-large-v3', {
    response_format: 'verbose_json',
    timestamp_granularities: ['word'],
  })
  expect([status, (json['words'] as unknown[] | undefined)?.length]).toEqual([200, 12])
})

describe('what a vendor refuses', () => {
  test('Resemble streams at most 2,000 characters, and is not asked for more', async () => {
    const voice = '55592656'
    expect((await speak('resemble-voice/chatterbox-turbo', { voice, input: 'x'.repeat(2_000) })).status).toBe(
      200,
    )
    const asked = (await sentTo('resemble-voice', '/stream')).length
    const longer = await speak('resemble-voice/chatterbox-turbo', { voice, input: 'x'.repeat(2_001) })
    expect(longer).toMatchObject({ status: 400, message: expect.stringContaining('more than the 2000') })
    expect((await sentTo('resemble-voice', '/stream')).length).toBe(asked)
  })

  test('MiniMax’s word for an unknown voice is the caller’s fault', async () => {
    const { status, message } = await speak('minimax-voice/speech-2.8-turbo', { voice: 'missing' })
    expect([status, message]).toEqual([400, expect.stringContaining('voice')])
  })

  test('Rev AI’s 403 for spent credit is told as that, and not as a refused credential', async () => {
    const mount = 'revai-ears'
    await gateway.admin('faults', { mount, rules: [{ match: {}, fault: 'status=402', times: 1 }] })
    const { status, json } = await transcribe('revai-ears/machine')
    await prepare(mount)
    expect([status, at(json, 'error.message')]).toEqual([
      502,
      expect.stringContaining('account with the provider has no quota left'),
    ])
  })
})

describe('what is left at a vendor', () => {
  const leftAt = async (mount: string) =>
    (await gateway.admin(`counters?mount=${mount}`))['audio_jobs'] as Record<string, number>

  test.each([
    ['Gladia', 'gladia-ears', 'gladia-ears/solaria-1'],
    ['Speechmatics', 'speechmatics-ears', 'speechmatics-ears/enhanced'],
    ['ElevenLabs', 'elevenlabs-ears', 'elevenlabs-ears/scribe_v2'],
  ])('%s is asked to remove what the call has left there', async (_, mount, model) => {
    await prepare(mount)
    expect((await transcribe(model)).status).toBe(200)
    for (let look = 0; look < 200 && (await leftAt(mount))['jobs_left'] !== 0; look += 1) await Bun.sleep(10)
    expect(await leftAt(mount)).toMatchObject({ jobs_made: 1, jobs_left: 0, uploads_left: 0 })
  })

  test('ElevenLabs keeps nothing of a call that wants no retention, so that it is asked to remove nothing', async () => {
    const mount = 'elevenlabs-ears'
    await prepare(mount)
    expect((await transcribe('elevenlabs-ears/scribe_v2', { provider: { zdr: true } })).status).toBe(200)
    await transcribe('elevenlabs-ears/scribe_v2')
    for (let look = 0; look < 200 && (await leftAt(mount))['jobs_left'] !== 0; look += 1) await Bun.sleep(10)
    const { last_requests: requests } = await gateway.admin(`counters?mount=${mount}`)
    expect((requests as { method: string }[]).map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE'])
  })
})
