import { startSimulatorProcess } from '../simulator-process.ts'
import { prepareGateway } from '../../story/real-gateway.ts'
import { pricesOf, speechProviders } from '../../support/speech-providers.ts'
import { notRun, type Proof, type ProofResult } from '../proof.ts'
import { startRelay, type Relay } from '../speech-relay.ts'
import { checkTone } from '../speech-sound.ts'

const key = 'a-key-of-at-least-thirty-two-characters'
const characters = 100
const input = 'x'.repeat(characters)
const formats = ['mp3', 'pcm'] as const
const firstByteRuns = 11
const addedMsMax = 5
/** Three frames of 576 samples. */
const convertedMsMax = addedMsMax + 3 * 24
const stopMsMax = 1_000

interface Row {
  preset: string
  /** The name of its mount, which is its own. */
  mount: string
  model: string
  voice?: string
  provider: Record<string, unknown>
  /** What the gateway makes of its other format. */
  converted: 'mp3' | 'pcm' | null
}

/** Those that have no mp3 of their own, or not as a stream. */
const convertedPresets = new Set(['google-ai-studio', 'groq', 'resemble'])

function rowsAt(url: string): Row[] {
  const own = speechProviders.map(({ preset, below, model, voice }): Row => ({
    preset,
    mount: preset,
    model,
    ...(voice === undefined ? {} : { voice }),
    provider: {
      preset,
      base_url: `${url}/p/${preset}${below}`,
      models: [{ id: model, modality: 'speech', prices: pricesOf(preset) }],
    },
    converted: convertedPresets.has(preset) ? 'mp3' : null,
  }))
  const alike = [
    { preset: 'openai', below: '/v1' },
    { preset: 'azure', below: '/openai/v1' },
    { preset: 'deepinfra', below: '/v1' },
    { preset: 'custom', below: '/v1' },
    { preset: 'groq', below: '/v1' },
    { preset: 'openrouter', below: '/openrouter/api/v1', upstream: 'mimic/all-voices' },
    { preset: 'together', below: '/together/v1', upstream: 'cartesia/sonic' },
  ].map(({ preset, below, upstream = 'tts-1' }): Row => {
    const model = `${preset}-maker/tts-1`
    return {
      preset,
      mount: preset,
      model,
      voice: 'alloy',
      provider: {
        preset,
        ...(preset === 'custom' ? { id: 'acme' } : {}),
        base_url: `${url}/p/${preset}${below}`,
        discover: false,
        models: [{ id: model, upstream, modality: 'speech', prices: { characters_per_million: '10' } }],
      },
      converted: convertedPresets.has(preset) ? 'mp3' : null,
    }
  })
  return [...own, ...alike, ...mp3Only(url)]
}

/** As if they gave mp3 alone: at 24,000 and at 44,100 Hz. */
function mp3Only(url: string): Row[] {
  return [
    { preset: 'custom', below: '/v1', voice: 'alloy', upstream: 'tts-1' },
    { preset: 'elevenlabs', below: '/elevenlabs/v1', voice: 'JBFqnCBsd6RMkjVDRZzb', upstream: 'eleven_v3' },
  ].map(({ preset, below, voice, upstream }): Row => {
    const mount = `${preset}-mp3`
    const model = `${mount}/speech`
    const audio = { speech_formats: ['mp3'] }
    const prices = { characters_per_million: '10' }
    return {
      preset: mount,
      mount,
      model,
      voice,
      provider: {
        preset,
        id: mount,
        base_url: `${url}/p/${mount}${below}`,
        // The preset's own models are asked of its own row.
        only_models: true,
        models: [{ id: model, upstream, modality: 'speech', audio, prices }],
      },
      converted: 'pcm',
    }
  })
}

export const proof: Proof = {
  title:
    'speech of every provider in mp3 and pcm: read by ffprobe, without clicks, soon, and stopped by a hang-up',
  async run() {
    if (Bun.which('ffprobe') === null || Bun.which('ffmpeg') === null)
      return notRun('ffmpeg is not installed')
    const simulator = await startSimulatorProcess()
    const relay = await startRelay(simulator.url)
    const rows = rowsAt(relay.url)
    const providers = rows.map(({ provider }) => ({ api_key: 'simulated-key', ...provider }))
    const gateway = prepareGateway({ providers })
    try {
      await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
      const found: ProofResult[] = []
      for (const row of rows) {
        for (const format of formats) {
          found.push(
            await proveRow(row, format, { baseUrl: gateway.baseUrl, simulatorUrl: simulator.url, relay }),
          )
        }
      }
      return {
        status: found.every(({ status }) => status === 'PASS') ? 'PASS' : 'FAIL',
        figures: found.flatMap(({ figures }) => figures),
      }
    } finally {
      await gateway.remove()
      relay.close()
      simulator.stop()
    }
  },
}

interface World {
  baseUrl: string
  simulatorUrl: string
  relay: Relay
}

async function proveRow(row: Row, format: 'mp3' | 'pcm', world: World): Promise<ProofResult> {
  await fault(row, 'tone', world)
  const response = await ask(row, format, world)
  if (response.status !== 200) {
    return {
      status: 'FAIL',
      figures: [`${row.preset} ${format}: ${response.status} ${await response.text()}`],
    }
  }
  const isConverted = format === row.converted
  const tone = { format, characters, isCoded: format === 'mp3' || isConverted }
  const findings = await checkTone(await response.bytes(), tone)
  const { quickMs, middleMs } = await addedToFirstByte(row, format, world)
  const boundMs = isConverted ? convertedMsMax : addedMsMax
  if (quickMs > boundMs) findings.push(`the first byte is ${quickMs.toFixed(1)} ms later`)
  const stopMs = await stopAfterHangUp(row, format, world)
  if (stopMs > stopMsMax) findings.push(`the provider went on for ${stopMs} ms`)
  const figures = `first byte +${quickMs.toFixed(1)} ms of ${boundMs} (middle ${middleMs.toFixed(1)}), stopped after ${Math.round(stopMs)} ms`
  return {
    status: findings.length === 0 ? 'PASS' : 'FAIL',
    figures: [
      `${row.preset} ${format}${isConverted ? ' (converted)' : ''}: ${[...findings, figures].join('; ')}`,
    ],
  }
}

function ask(
  { model, voice }: Row,
  format: string,
  { baseUrl }: World,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${baseUrl}/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      input,
      ...(voice === undefined ? {} : { voice }),
      response_format: format,
    }),
    ...(signal ? { signal } : {}),
  })
}

async function fault({ mount }: Row, spec: string, { simulatorUrl }: World): Promise<void> {
  const body = JSON.stringify({ mount, rules: [{ fault: spec }] })
  await fetch(`${simulatorUrl}/admin/faults`, { method: 'POST', body })
}

/**
 * Between the provider's first byte and the caller's: the quarter of some runs that was quickest, because what else runs on
 * the machine only adds to it, and the middle one.
 */
async function addedToFirstByte(
  row: Row,
  format: string,
  world: World,
): Promise<{ quickMs: number; middleMs: number }> {
  const added: number[] = []
  for (let run = 0; run < firstByteRuns; run += 1) {
    const provided = world.relay.nextFirstByte()
    const response = await ask(row, format, world)
    const reader = response.body?.getReader()
    await reader?.read()
    const nowMs = performance.now()
    for (;;) if ((await reader?.read())?.done !== false) break
    added.push(nowMs - (await provided))
  }
  const sorted = added.toSorted((left, right) => left - right)
  const at = (part: number) => sorted[Math.floor(firstByteRuns * part)] ?? Number.NaN
  return { quickMs: at(0.25), middleMs: at(0.5) }
}

/** Milliseconds from a hang-up to the end of the exchange with the provider. */
async function stopAfterHangUp(row: Row, format: string, world: World): Promise<number> {
  await fault(row, 'tone,chunk_delay=200', world)
  const before = await hangUps(row, world)
  const leaving = new AbortController()
  const response = await ask(row, format, world, leaving.signal)
  await response.body?.getReader().read()
  const leftMs = performance.now()
  leaving.abort()
  while ((await hangUps(row, world)) === before && performance.now() - leftMs < 2 * stopMsMax)
    await Bun.sleep(5)
  return performance.now() - leftMs
}

async function hangUps({ mount }: Row, { simulatorUrl }: World): Promise<number> {
  const response = await fetch(`${simulatorUrl}/admin/counters?mount=${mount}`)
  const counters = (await response.json()) as { hang_ups: { count: number } }
  return counters.hang_ups.count
}
