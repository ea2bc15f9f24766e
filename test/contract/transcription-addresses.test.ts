import { afterAll, describe, expect, test } from 'bun:test'
import { createPublicFetch } from '../../src/transport/public-fetch.ts'
import { at, startTestGateway, toneWav } from '../support/gateway.ts'
import { heardText } from '../support/transcribers.ts'
import { rowsOf } from '../support/rows-of-providers.ts'

const transcribers = rowsOf('transcribers')

// Sound at an address that its provider fetches itself: only the provider has seen it, so its length is the one
// that the provider reports, and the call must cost the same in every form of the answer.

const fetched: string[] = []
const sound = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    fetched.push(request.headers.get('user-agent') ?? '')
    return new Response(toneWav(6.4))
  },
})
const url = `http://127.0.0.1:${sound.port}/talk.wav`
const fetching = transcribers.filter((row) => row.url !== null)
const idOf = ({ preset, variant = '' }: (typeof fetching)[number]) => `${preset}${variant}`

/** As if the address were public. */
const fetchAny = createPublicFetch({ allowedHosts: [`127.0.0.1:${sound.port}`] })
const gateway = await startTestGateway({
  providers: (simulator) =>
    fetching.map((row) => ({
      preset: row.preset,
      id: idOf(row),
      base_url: `${simulator}/p/${idOf(row)}${row.path}`,
      api_key: 'a-good-key',
      weight: 1,
      discover: false,
      only_models: true,
      models: [
        {
          id: `${idOf(row)}/ears`,
          upstream: row.upstream,
          modality: 'transcription',
          prices: { audio_per_minute: '0.06' },
        },
      ],
    })),
  hooks: {
    writeLog: () => undefined,
    publicFetch: Object.assign(fetchAny.bind(null), {
      check: async (address: string) => ({ url: address, isConfigured: false }),
    }),
  },
})
for (const row of fetching) {
  const rules = [{ match: {}, fault: `text=${encodeURIComponent(heardText)}` }]
  await gateway.admin('faults', { mount: idOf(row), rules })
  await gateway.admin('settings', { mount: idOf(row), job_looks: 0 })
}
afterAll(async () => {
  await gateway.stop()
  await sound.stop(true)
})

/** Of 6.4 seconds, billed as seven at six cents a minute: Groq's least are ten, and AssemblyAI tells the nearest whole number. */
const costs: Readonly<Record<string, number>> = { groq: 0.01, assemblyai: 0.006 }

const verbose = { response_format: 'verbose_json' }
const forms: readonly (readonly [name: string, body: object, accept: string])[] = [
  ['json', {}, '*/*'],
  ['verbose_json', verbose, '*/*'],
  ['words', { ...verbose, timestamp_granularities: ['word'] }, '*/*'],
  ['subtitles', {}, 'text/vtt'],
  ['plain text', {}, 'text/plain'],
  ['events', { stream: true }, '*/*'],
]

describe.each(fetching.map((row) => [idOf(row), row] as const))('%s', (id, row) => {
  test.each(forms.filter(([name]) => name !== 'words' || row.words))(
    'bills the sound by the length that the provider reports: %s',
    async (_, body, accept) => {
      const before = fetched.length
      const { status, headers } = await gateway.post(
        '/audio/transcriptions',
        { model: `${id}/ears`, input_audio: { url, format: 'wav' }, ...body },
        { headers: { accept } },
      )
      expect([status, fetched.length]).toEqual([200, before + 1])
      const { json } = await gateway.get(`/generation?id=${headers.get('x-generation-id') ?? ''}`)
      expect(at(json, 'data.total_cost')).toBe(costs[id] ?? 0.007)
    },
  )
})
