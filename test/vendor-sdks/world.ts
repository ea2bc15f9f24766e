import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, readAnswer, startTestGateway, type TestGateway, toneWav, until } from '../support/gateway.ts'
import { compare, type Found, placeOf } from './compare.ts'
import { type Recorded, type Recorder, startRecorder } from './recorder.ts'
import { soundAddress } from './asks.ts'
import type { Ask, Vendor } from './vendor.ts'

/** What SDKs and the gateway are told alike. */
const key = 'vendor-key-0001'

/** Vendors' SDKs and the gateway before one recorder. */
export interface VendorWorld {
  /** Runs every intention of every vendor's SDK, in one process; returns what SDKs said against the replies. */
  runPrograms(command: readonly string[]): Promise<Record<string, string>>
  /** Asks the gateway for the same and compares; what it refuses is found too. */
  compareVendor(vendor: Vendor): Promise<Found[]>
  /** What the gateway sends for each of these asks of one place; nothing where it refuses. */
  askEach(slug: string, intention: string, asks: readonly Ask[]): Promise<(readonly Recorded[])[]>
  stop(): Promise<void>
}

const modalities: Readonly<Record<Ask['path'], 'speech' | 'transcription' | 'embedding' | 'language'>> = {
  '/audio/speech': 'speech',
  '/audio/transcriptions': 'transcription',
  '/embeddings': 'embedding',
  '/chat/completions': 'language',
  '/responses': 'language',
  '/messages': 'language',
}

interface Place {
  intention: string
  ask: Ask
  /** By a fake of the vendor; the others are refused, because only what is sent counts. */
  isAnswered: boolean
}

function placesOf({ asks, refusals = {}, enumerations = [] }: Vendor): Place[] {
  return [
    ...Object.entries(asks).map(([intention, ask]) => ({ intention, ask, isAnswered: true })),
    ...Object.entries(refusals).map(([intention, { ask }]) => ({ intention, ask, isAnswered: false })),
    ...enumerations.map(({ name, ask }) => ({ intention: name, ask: ask(''), isAnswered: false })),
  ]
}

function fakeOf({ simulated, simulatedText }: Vendor, { path, base }: Ask): string {
  if (base !== undefined) return base
  return path.startsWith('/audio') ? simulated : (simulatedText ?? simulated)
}

const deploymentOf = (slug: string, intention: string): string => `${slug}-${intention}`.toLowerCase()

export async function startVendorWorld(vendors: readonly Vendor[]): Promise<VendorWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-vendor-sdks-'))
  const soundFile = join(folder, 'sound.wav')
  const sound = toneWav(0.6)
  await Bun.write(soundFile, sound)
  const recorders = new Map<string, Recorder>()
  const runs: { program: string; intention: string; url: string }[] = []
  const mounts: string[] = []
  const gateway = await startTestGateway({
    providers: (simulatorUrl) =>
      vendors.flatMap((vendor) =>
        placesOf(vendor).map(({ intention, ask, isAnswered }): ProviderConfig => {
          const [bySdk, ours] = ['sdk', 'gateway'].map((side) => {
            const mount = `${side}-${deploymentOf(vendor.slug, intention)}`
            mounts.push(mount)
            const simulated = isAnswered ? `${simulatorUrl}/p/${mount}${fakeOf(vendor, ask)}` : null
            const recorder = startRecorder({ base: ask.base ?? vendor.base, simulated })
            recorders.set(mount, recorder)
            return recorder.url
          })
          if (isAnswered) runs.push({ program: vendor.program, intention, url: bySdk ?? '' })
          return providerOf(vendor, intention, ask, ours ?? '')
        }),
      ),
  })
  // What is heard does not matter, and a recogniser takes its time.
  for (const mount of mounts) {
    await gateway.admin('faults', { mount, rules: [{ match: {}, fault: 'text=hello' }] })
    await gateway.admin('settings', { mount, job_looks: 0 })
  }
  const requestsAt = (side: string, slug: string, intention: string) =>
    recorders.get(`${side}-${deploymentOf(slug, intention)}`)?.requests ?? []
  const asked: Asked = { gateway, sound, requestsAt }
  return {
    async runPrograms(command) {
      const plan = join(folder, 'plan.json')
      await Bun.write(plan, JSON.stringify({ key, soundFile, address: soundAddress, runs }))
      const child = Bun.spawn([...command, plan], { stdio: ['ignore', 'pipe', 'inherit'], timeout: 120_000 })
      const lines = (await new Response(child.stdout).text()).trim().split('\n')
      return JSON.parse(lines.at(-1) ?? '{}') as Record<string, string>
    },
    async compareVendor({ slug, asks }) {
      const found = await Promise.all(
        Object.entries(asks).map(([intention, ask]) => compareIntention({ ...asked, slug, intention, ask })),
      )
      return found.flat()
    },
    async askEach(slug, intention, asks) {
      const sent: (readonly Recorded[])[] = []
      for (const ask of asks) {
        const before = requestsAt('gateway', slug, intention).length
        await askGateway(asked, deploymentOf(slug, intention), ask)
        sent.push(requestsAt('gateway', slug, intention).slice(before))
      }
      return sent
    },
    async stop() {
      await gateway.stop()
      await Promise.all([...recorders.values()].map((recorder) => recorder.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function providerOf(vendor: Vendor, intention: string, ask: Ask, url: string): ProviderConfig {
  const { slug } = vendor
  const base = ask.base ?? vendor.base
  const id = deploymentOf(slug, intention)
  return {
    preset: slug,
    id,
    base_url: `${url}${base}`,
    api_key: key,
    weight: 1,
    discover: false,
    only_models: true,
    models: [{ id: `${id}/model`, upstream: ask.upstream, modality: modalities[ask.path], ...ask.model }],
    ...ask.provider,
  }
}

interface Asked {
  gateway: TestGateway
  sound: Uint8Array
  requestsAt(side: 'sdk' | 'gateway', slug: string, intention: string): readonly Recorded[]
}

interface Compared extends Asked {
  slug: string
  intention: string
  ask: Ask
}

async function compareIntention(compared: Compared): Promise<Found[]> {
  const { requestsAt, slug, intention, ask } = compared
  const refused = await askGateway(compared, deploymentOf(slug, intention), ask)
  const bySdk = requestsAt('sdk', slug, intention)
  const read = () => Promise.resolve(requestsAt('gateway', slug, intention))
  const wanted = new Set(bySdk.map(placeOf))
  // What it leaves at the vendor it removes when the caller has been answered.
  const ours = await until(
    read,
    (requests) => wanted.isSubsetOf(new Set(requests.map(placeOf))),
    removalMsMax,
  ).catch(read)
  if (bySdk.length === 0)
    return [{ intention, at: 'anything at all', sdk: undefined, ours: refused ?? 'sent' }]
  if (ours.length === 0)
    return [{ intention, at: 'anything at all', sdk: 'sent', ours: refused ?? 'nothing' }]
  return compare(intention, bySdk, ours)
}

const removalMsMax = 1_500

/** Asks the gateway and reads its whole answer; returns what it said where it did not answer with 200. */
async function askGateway({ gateway, sound }: Asked, id: string, ask: Ask): Promise<string | null> {
  const isTranscription = ask.path === '/audio/transcriptions'
  const input = { data: Buffer.from(sound).toString('base64'), format: 'wav' }
  const body = { model: `${id}/model`, ...(isTranscription ? { input_audio: input } : {}), ...ask.body }
  const response = await gateway.request(ask.path, { method: 'POST', body })
  const { status, json } = await readAnswer(response)
  return status === 200 ? null : `${status} ${String(at(json, 'error.message'))}`
}
