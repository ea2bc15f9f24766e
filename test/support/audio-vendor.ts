import { afterAll, expect } from 'bun:test'
import { at, readAnswer, startTestGateway, toneWav } from './gateway.ts'

const heard = 'we met Anna in New York last week again they said no'
const input_audio = { data: Buffer.from(toneWav(6)).toString('base64'), format: 'wav' }

/**
 * One vendor of sound as the simulator plays it, behind a gateway of its own that stops when the file's tests have ended: for
 * what this vendor wants besides what all want. `path` is that of its API below the mount; `hears` and `speaks` are models by the
 * names that the vendor knows.
 */
export async function startAudioVendor(
  preset: string,
  { path, hears = [], speaks = [] }: { path: string; hears?: readonly string[]; speaks?: readonly string[] },
) {
  const idOf = (upstream: string) => `${preset}/${upstream.split('/').at(-1)}`
  const modelsOf = (names: readonly string[], modality: 'transcription' | 'speech') =>
    names.map((upstream) => ({ id: idOf(upstream), upstream, modality }))
  const gateway = await startTestGateway({
    providers: (url) => [
      {
        preset,
        base_url: `${url}/p/${preset}${path}`,
        api_key: 'a-good-key',
        weight: 1,
        discover: false,
        only_models: true,
        data_policy: { zdr: true, trains: false, stores: false },
        models: [...modelsOf(hears, 'transcription'), ...modelsOf(speaks, 'speech')],
      },
    ],
  })
  afterAll(() => gateway.stop())
  const admin = (command: string, body: object) => gateway.admin(command, { mount: preset, ...body })
  const counters = () => gateway.admin(`counters?mount=${preset}`)

  /** Resets the vendor: it hears the text above and speaks a tone; `fault` hits its next answer. */
  async function prepare(fault?: string): Promise<void> {
    await admin('reset', {})
    await admin('settings', { job_looks: 0, speech: 'tone' })
    const text = { match: {}, fault: `text=${encodeURIComponent(heard)}` }
    const once = fault === undefined ? [] : [{ match: {}, fault, times: 1 }]
    await admin('faults', { rules: hears.length > 0 ? [...once, text] : once })
  }
  await prepare()

  /** The bodies of POST requests that the vendor received at this path, the last one first. */
  async function sentTo(end: string): Promise<string[]> {
    const asked = (await counters())['last_requests'] as { method: string; path: string; body: string }[]
    return asked
      .filter((one) => one.method === 'POST' && one.path.endsWith(end))
      .map(({ body }) => body)
      .toReversed()
  }
  const leftThere = async () => (await counters())['audio_jobs'] as Record<string, number>

  return {
    prepare,
    counters,
    sentTo,
    /** The fields of the last form that the vendor received at this path. */
    async fieldsSentTo(end: string): Promise<Record<string, string>> {
      const [body = '{}'] = await sentTo(end)
      const { fields = [] } = JSON.parse(body) as { fields?: { name: string; value: string }[] }
      return Object.fromEntries(fields.map(({ name, value }) => [name, value]))
    },
    transcribe: (upstream: string, more: object = {}) =>
      gateway.post('/audio/transcriptions', { model: idOf(upstream), input_audio, ...more }),
    async speak(upstream: string, more: object = {}) {
      const body = { model: idOf(upstream), input: 'The water comes in.', ...more }
      const response = await gateway.request('/audio/speech', { method: 'POST', key: gateway.key, body })
      if (response.status === 200) return { status: 200, bytes: (await response.bytes()).length, message: '' }
      const { status, json } = await readAnswer(response)
      return { status, bytes: 0, message: String(at(json, 'error.message')) }
    },
    /** Waits until no job is left at the vendor, or for two seconds. */
    async untilRemoved(): Promise<Record<string, number>> {
      for (let look = 0; look < 200 && (await leftThere())['jobs_left'] !== 0; look += 1) await Bun.sleep(10)
      return leftThere()
    },
  }
}

/** Fails unless the gateway removed what one transcription left at the vendor. */
export async function expectRemoved(
  vendor: Awaited<ReturnType<typeof startAudioVendor>>,
  upstream: string,
): Promise<void> {
  // A job of before would be removed under the number of the new one.
  await vendor.untilRemoved()
  await vendor.prepare()
  expect((await vendor.transcribe(upstream)).status).toBe(200)
  expect(await vendor.untilRemoved()).toMatchObject({ jobs_made: 1, jobs_left: 0, uploads_left: 0 })
}
