import { afterAll, describe, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, toneWav } from '../support/gateway.ts'
import { heardText, type Sent, type Told, type Transcriber } from '../support/transcribers.ts'
import { rowsOf } from '../support/rows-of-providers.ts'

const transcribers = rowsOf('transcribers')

// Section 4.3 at every provider that transcribes: the request, the reading of the answer, and the errors for
// refusals.

/** What a provider may say, and what the caller is told; a key that is refused takes its deployment out, so each has its own. */
const statuses: Readonly<Record<number, number>> = {
  400: 400,
  401: 502,
  402: 502,
  413: 413,
  422: 400,
  429: 429,
  500: 502,
  503: 529,
}

const nameOf = ({ preset, variant }: Transcriber) => (variant === undefined ? preset : `${preset}-${variant}`)
/** The deployment and the mount of a provider, and the author of its model: one for all calls, one for each status. */
const deploymentOf = (row: Transcriber, status?: number) =>
  status === undefined ? nameOf(row) : `${nameOf(row)}-${status}`
const modelOf = (row: Transcriber, status?: number) => `${deploymentOf(row, status)}/model`

function providerOf(url: string, row: Transcriber, status?: number): ProviderConfig {
  const id = deploymentOf(row, status)
  return {
    preset: row.preset,
    id,
    base_url: `${url}/p/${id}${row.path}`,
    api_key: status === 401 ? 'bad-key-1' : 'a-good-key',
    weight: 1,
    discover: false,
    only_models: true,
    data_policy: { zdr: true, trains: false, stores: false },
    ...(row.query === undefined ? {} : { query: row.query }),
    models: [
      {
        id: modelOf(row, status),
        upstream: row.upstream,
        modality: 'transcription',
        ...(row.audio === undefined ? {} : { audio: row.audio }),
      },
    ],
  }
}

const sound = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(toneWav(6)) })
const gateway = await startTestGateway({
  providers: (url) =>
    transcribers.flatMap((row) => [
      providerOf(url, row),
      ...Object.keys(statuses).map((status) => providerOf(url, row, Number(status))),
    ]),
  fetchHosts: [`127.0.0.1:${sound.port}`],
})
/** A public address. No file is fetched from it: the simulated provider reports that it has none. */
const farAddress = 'http://8.8.8.8/six.wav'
for (const row of transcribers) {
  const fault = `text=${encodeURIComponent(heardText)}`
  const rules = [
    { match: { body_contains: farAddress }, fault: 'status=400' },
    { match: {}, fault },
  ]
  await gateway.admin('faults', { mount: deploymentOf(row), rules })
  // For a JSON body with the sound in it all bytes are compared.
  const settings = { job_looks: 0, recorded_body_bytes: 1_000_000 }
  await gateway.admin('settings', { mount: deploymentOf(row), ...settings })
  for (const status of Object.keys(statuses).map(Number)) {
    if (status === 401) continue
    await gateway.admin('faults', {
      mount: deploymentOf(row, status),
      rules: [{ match: {}, fault: `status=${status}` }],
    })
  }
}
afterAll(async () => {
  await gateway.stop()
  await sound.stop(true)
})

const input = { data: Buffer.from(toneWav(6)).toString('base64'), format: 'wav' }
const transcribe = (row: Transcriber, more: object = {}) =>
  gateway.post('/audio/transcriptions', { model: modelOf(row), input_audio: input, ...more })
const verbose = { response_format: 'verbose_json' }

interface Asked {
  method: string
  path: string
  body: string
  query: string
  body_bytes: number
}

async function requestsAt(row: Transcriber): Promise<Asked[]> {
  const { last_requests: requests } = await gateway.admin(`counters?mount=${deploymentOf(row)}`)
  return requests as Asked[]
}

/** Members of the last request that made a job, of a list one by one, and the upload before it. */
function sentForJob(asked: readonly Asked[], { path, upload }: NonNullable<Transcriber['job']>) {
  const made = asked.findLast((one) => one.method === 'POST' && one.path.endsWith(path))
  const uploaded = asked.findLast((one) => one.method === 'POST' && one.path.endsWith(upload))
  const members = Object.entries(JSON.parse(made?.body ?? '{}') as Record<string, unknown>)
  const fields = members.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown): Sent => {
      return [name, typeof one === 'object' ? JSON.stringify(one) : String(one)]
    }),
  )
  const body = JSON.parse(uploaded?.body ?? '{}') as {
    files?: { file_name: string; bytes: number }[]
    file?: { content_type: string; bytes: number }
  }
  return { ...body, fields, url: undefined }
}

interface SentBody {
  fields?: { name: string; value: string }[]
  files?: { file_name: string }[]
  file?: { content_type: string; bytes: number }
  url?: string
}

/** Fields and files of the last request, or the address's members where the body is the sound itself. */
async function lastSent(row: Transcriber) {
  const asked = await requestsAt(row)
  if (row.job !== undefined) return sentForJob(asked, row.job)
  // Polls and removals are other requests, so they are left out here.
  const last = asked.findLast(({ method }) => method === 'POST')
  const { query = '', body: text = '{}' } = last ?? {}
  const body = JSON.parse(text) as SentBody
  const fields: Sent[] = [
    ...(body.fields ?? []).map(({ name, value }): Sent => [name, value]),
    ...new URLSearchParams(query),
  ]
  if (row.config === undefined) return { ...body, fields }
  const [field, member] = row.config
  const config = body.fields === undefined ? text : (valuesOf(fields, field)[0] ?? '{}')
  return { ...body, ...inlineFile(text), fields: unfolded(config, member) }
}

/** The sound inside a body of JSON as Google takes it. */
function inlineFile(body: string): Pick<SentBody, 'files' | 'file'> {
  const [, contentType, data] = /"inlineData":{"mimeType":"([^"]*)","data":"([^"]*)"/.exec(body) ?? []
  if (contentType === undefined || data === undefined) return {}
  const file = { content_type: contentType, bytes: Buffer.from(data, 'base64').length }
  return { file, files: [{ file_name: '' }] }
}

/** What stands in the JSON of one field, as fields of their own; an address stands for what is fetched from it. */
function unfolded(config: string, member: string | undefined): Sent[] {
  const told = JSON.parse(config) as Record<string, unknown>
  const inner = member === undefined ? {} : told[member]
  return Object.entries({ ...told, ...(inner as object) }).flatMap(([name, value]): Sent[] => {
    if (name === member) return []
    if (typeof value !== 'object' || value === null) return [[name, String(value)]]
    return [[name, 'url' in value ? String(value.url) : JSON.stringify(value)]]
  })
}

function expectSent(fields: readonly Sent[], sent: Sent | Told): void {
  if ('within' in sent) expect(valuesOf(fields, sent.within).join()).toContain(sent.words)
  else expect(fields).toContainEqual(sent)
}

const valuesOf = (fields: readonly Sent[], name: string) =>
  fields.filter(([known]) => known === name).map(([, value]) => value)

describe.each(transcribers.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
  test('answers `json` with the text and usage alone', async () => {
    const { status, json } = await transcribe(row)
    expect([status, json['text'], Object.keys(json).toSorted()]).toEqual([200, row.text, ['text', 'usage']])
    expect(at(json, 'usage.seconds')).toBe(6)
  })

  test('answers `verbose_json` with what it knows of the language, the length and the segments', async () => {
    const { status, json } = await transcribe(row, verbose)
    expect([status, json['text'], json['task']]).toEqual([200, row.text, 'transcribe'])
    expect(json['duration']).toBe(6)
    expect<unknown>(json['language'] ?? null).toBe(row.language)
    expect<unknown>(json['language_confidence']).toBe(row.languageConfidence)
    expect<unknown>(json['words']).toBeUndefined()
    const segments = json['segments'] as { id: number; start: number; end: number; text: string }[]
    expect<unknown>(segments.map(({ start, end }) => [start, end])).toEqual(row.segments)
    expect(segments.map(({ text }) => text).join(' ')).toBe(row.text)
    expect(segments.map(({ id }) => id)).toEqual(segments.map((_segment, index) => index))
    if (row.confidence === undefined) expect(json['confidence']).toBeUndefined()
    else expect(json['confidence'] as number).toBeCloseTo(row.confidence, 6)
  })

  test(row.words ? 'times words where they are asked for' : 'refuses times of words', async () => {
    const { status, json } = await transcribe(row, { ...verbose, timestamp_granularities: ['word'] })
    if (!row.words) {
      expect([status, at(json, 'error.message')]).toEqual([
        400,
        expect.stringContaining('timestamp_granularities'),
      ])
      return
    }
    const words = json['words'] as { word: string; start: number; end: number; confidence?: number }[]
    expect(words.map(({ word }) => word)).toEqual(row.text.split(' '))
    expect(words.map(({ start, end }) => [start, end])).toEqual(
      Array.from({ length: 12 }, (_word, index) => [index / 2, (index + 1) / 2]),
    )
    for (const { confidence } of words) {
      if (row.wordConfidence === undefined) expect(confidence).toBeUndefined()
      else expect(confidence).toBeCloseTo(row.wordConfidence, 6)
    }
  })

  const tellsWords = row.speakers?.of === 'words'
  test(tellsWords ? 'tells the speaker of every word' : 'refuses diarize', async () => {
    const { status, json } = await transcribe(row, { ...verbose, diarize: true })
    if (!tellsWords) {
      expect([status, at(json, 'error.message')]).toEqual([
        400,
        expect.stringContaining('does not support diarize'),
      ])
      return
    }
    const words = json['words'] as { speaker: number; speaker_label: string }[]
    const told = Array.from({ length: 12 }, (_word, index) => (index < 8 ? 0 : 1))
    expect(words.map(({ speaker }) => speaker)).toEqual(told)
    expect(words.map(({ speaker_label: label }) => label)).toEqual(
      told.map((speaker) => row.speakers?.labels[speaker] ?? ''),
    )
    const segments = json['segments'] as { speaker: number; speaker_label: string }[]
    expect(segments.map(({ speaker }) => speaker)).toEqual([0, 1])
  })

  test(`tells ${row.speakers?.of === 'segments' ? 'the' : 'no'} speakers of segments unasked`, async () => {
    const { json } = await transcribe(row, verbose)
    const labels = (json['segments'] as { speaker_label?: string }[]).map((one) => one.speaker_label)
    const expected = row.speakers?.of === 'segments' ? row.speakers.labels : row.segments.map(() => undefined)
    expect<unknown>(labels).toEqual(expected)
  })

  test(row.keyterms === null ? 'refuses keyterms' : 'sends keyterms', async () => {
    const { status, json } = await transcribe(row, { keyterms: ['head race', ' sluice ', 'sluice'] })
    if (row.keyterms === null) {
      expect([status, at(json, 'error.message')]).toEqual([
        400,
        expect.stringContaining('does not support keyterms'),
      ])
      return
    }
    expect(status).toBe(200)
    const [name = ''] = row.keyterms[0] ?? []
    expect(valuesOf((await lastSent(row)).fields, name)).toEqual(row.keyterms.map(([, value]) => value))
  })

  test('sends language and temperature, or says that it left the temperature out', async () => {
    const { status, json } = await transcribe(row, { language: 'DE', temperature: 0.3, ...verbose })
    expect([status, typeof json['language']]).toEqual([200, 'string'])
    const { fields } = await lastSent(row)
    expectSent(fields, row.sends.language)
    const dropped = at(json, 'headrace_metadata.dropped') ?? []
    expect((dropped as string[]).includes('temperature')).toBe(row.sends.temperature === null)
    if (row.sends.temperature !== null) expect(fields).toContainEqual(row.sends.temperature)
  })

  test('hears samples without a header', async () => {
    const data = Buffer.alloc(6 * 32_000).toString('base64')
    const { status, json } = await transcribe(row, { input_audio: { data, format: 'pcm' } })
    expect([status, json['text'], at(json, 'usage.seconds')]).toEqual([200, row.text, 6])
    const { fields, files, file } = await lastSent(row)
    if (row.pcm === 'wav' && file === undefined) expect(files?.[0]?.file_name).toBe('audio.wav')
    if (row.pcm !== 'wav') for (const sent of row.pcm) expect(fields).toContainEqual(sent)
    // The header of a WAV file is 44 bytes.
    expect(file?.bytes ?? 192_000).toBe(row.pcm === 'wav' && file !== undefined ? 192_044 : 192_000)
  })

  if (row.url === null) {
    test('is given the sound of an address by the gateway', async () => {
      const url = `${sound.url}six.wav`
      const { status, json } = await transcribe(row, { input_audio: { url, format: 'wav' } })
      expect([status, json['text']]).toEqual([200, row.text])
      expect((await lastSent(row)).files).toHaveLength(1)
    })
  } else {
    const { url: name } = row
    test('is sent an address unchanged, and its report of a missing file is the caller’s fault', async () => {
      const url = farAddress
      const { status } = await transcribe(row, { input_audio: { url, format: 'wav' } })
      const { fields, url: inBody } = await lastSent(row)
      expect([...valuesOf(fields, name), inBody].filter((told) => told !== undefined)).toEqual([url])
      expect(status).toBe(400)
    })
  }

  test(row.streams ? 'streams its text as events' : 'gives its whole text as one event', async () => {
    const { status, text } = await transcribe(row, { stream: true })
    const events = text.split('\n\n').flatMap((block) => {
      return block.startsWith('data: ') ? [JSON.parse(block.slice(6)) as Record<string, unknown>] : []
    })
    const deltas = events.filter(({ type }) => type === 'transcript.text.delta')
    // Pieces that come in one read are one event.
    expect([status, row.streams === true || deltas.length === 1]).toEqual([200, true])
    expect(deltas.map(({ delta }) => delta).join('')).toBe(row.text)
    expect(events.at(-1)).toMatchObject({
      type: 'transcript.text.done',
      text: row.text,
      usage: { seconds: 6 },
    })
    const sent = (await lastSent(row)).fields
    expect(valuesOf(sent, 'stream')).toEqual(row.streams === true ? ['true'] : [])
  })

  const { privacy } = row.sends
  if (privacy !== undefined) {
    test(`asks for ${Object.keys(privacy.wish).join()}`, async () => {
      expect((await transcribe(row, { provider: privacy.wish })).status).toBe(200)
      expect((await lastSent(row)).fields).toContainEqual(privacy.sent)
      await transcribe(row)
      expect((await lastSent(row)).fields).not.toContainEqual(privacy.sent)
    })
  }

  test(
    row.entities === undefined ? 'tells no entities' : 'tells entities by offsets into the text',
    async () => {
      const options = { [row.preset]: row.entities?.options ?? {} }
      const { json } = await transcribe(row, { ...verbose, provider: { options } })
      if (row.entities === undefined) {
        expect(json['entities']).toBeUndefined()
        return
      }
      const [name, place] = row.entities.types
      expect(json['entities']).toEqual([
        { text: 'Anna', type: name, start_char: 7, end_char: 11 },
        { text: 'New York', type: place, start_char: 15, end_char: 23 },
      ])
    },
  )

  // Each status has a deployment of its own, and most are tried again after a while.
  test.concurrent.each(Object.entries({ ...statuses, ...row.statuses }))(
    'that says %s is %i',
    async (said, told) => {
      const model = modelOf(row, Number(said))
      const { status, json } = await gateway.post('/audio/transcriptions', { model, input_audio: input })
      expect([status, at(json, 'error.code')]).toEqual([told, told])
    },
  )
})
