import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandOf, isReady } from '../../bench/harness/headrace.ts'
import { median } from '../../bench/harness/figures.ts'
import { sparePort, start, untilReady, type Running } from '../../bench/harness/processes.ts'
import { probeVariable, readProbe, type LateTurn } from './loop-probe.ts'
import { combine, notRun, type ProofResult } from './proof.ts'
import { openSlowReaders } from './slow-readers.ts'
import { describeCosts, threadCosts } from './thread-costs.ts'

const key = 'sk-hr-v1-0000000000000000000000000000000000000000000000000000000000000prove'
const minuteCpuMsMax = 1_000
const streams = 200
/** Until what the runtime reads ahead of each stream, some megabytes, is filled. */
const settleMs = 15_000
/** Buffers are freed in batches, so the size goes up and down by a third within seconds. */
const watchedMs = 45_000
const endingMs = 3_000
const growthMax = 1.1
const blockMsMax = 10

/** What speech costs: a minute made mp3, and two hundred slow readers, passed and converted. */
export async function proveSpeech(): Promise<ProofResult> {
  if (process.platform !== 'linux')
    return notRun('CPU and memory of a process are read from /proc, which is Linux')
  const folder = mkdtempSync(join(tmpdir(), 'headrace-speech-'))
  const upstream = await startSpeaker()
  const stops: (() => Promise<void>)[] = []
  try {
    const bare = await startBare(folder, upstream.port)
    stops.push(() => bare.process.stop())
    const alone = await watchReaders(bare, 'pcm')
    await bare.process.stop()
    const gateway = await startGateway(folder, upstream.port)
    stops.push(() => gateway.process.stop())
    const results = [await proveMinute(gateway)]
    results.push(judge(await watchReaders(gateway, 'pcm'), 'passed', alone))
    results.push(judge(await watchReaders(gateway, 'mp3'), 'converted', alone))
    return combine(results)
  } finally {
    for (const stop of stops) await stop()
    upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A fifth of a second of two tones that come and go, over and over. */
function samplesOf(): Uint8Array {
  const samples = new Int16Array(4_800)
  for (const index of samples.keys()) {
    const time = index / 24_000
    samples[index] = 6_000 * Math.sin(2 * Math.PI * 220 * time) + 2_000 * Math.sin(2 * Math.PI * 1_800 * time)
  }
  return new Uint8Array(samples.buffer)
}

/** Speaks as long as the text says in seconds, as fast as it is read. */
async function startSpeaker() {
  const piece = samplesOf()
  const speakTo = async (request: IncomingMessage, response: ServerResponse) => {
    let asked = ''
    for await (const chunk of request) asked += String(chunk)
    let left = Number((JSON.parse(asked) as { input: string }).input) * 5
    response.writeHead(200, { 'content-type': 'audio/pcm' })
    const write = () => {
      while (left > 0) {
        left -= 1
        if (!response.write(piece)) return
      }
      response.end()
    }
    response.on('drain', write)
    write()
  }
  const server = createServer((request, response) => void speakTo(request, response))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** What speaks to callers, and where its probe writes. */
interface Measured {
  port: number
  process: Running
  probeFile: string
}

const probe = join(import.meta.dir, 'loop-probe.ts')

async function startBare(folder: string, upstreamPort: number): Promise<Measured> {
  const port = sparePort()
  const probeFile = join(folder, 'bare-turns')
  const passer = join(import.meta.dir, 'bare-passer.ts')
  const upstream = `http://127.0.0.1:${upstreamPort}/`
  const running = start({
    name: 'bare runtime',
    command: [
      'node',
      join(import.meta.dir, '../../bin/headrace.js'),
      '--bun',
      '--preload',
      probe,
      passer,
      String(port),
      upstream,
      bodyOf(spokenSeconds, 'pcm'),
    ],
    cwd: folder,
    env: { [probeVariable]: probeFile },
    logFile: join(folder, 'bare.log'),
  })
  await untilReady(running, () => isReady(port))
  return { port, process: running, probeFile }
}

async function startGateway(folder: string, upstreamPort: number): Promise<Measured> {
  const config = join(folder, 'config.json')
  mkdirSync(join(folder, 'data'))
  const model = {
    id: 'acme/voice',
    modality: 'speech',
    prices: { characters_per_million: '15' },
    audio: { speech_formats: ['pcm'], default_voice: 'any' },
  }
  const provider = {
    preset: 'custom',
    id: 'acme',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    discover: false,
    models: [model],
  }
  writeFileSync(config, JSON.stringify({ providers: [provider] }))
  const port = sparePort()
  const probeFile = join(folder, 'turns')
  const running = start({
    name: 'gateway',
    command: commandOf(['--preload', probe]),
    cwd: folder,
    env: {
      [probeVariable]: probeFile,
      HEADRACE_CONFIG: config,
      HEADRACE_DATA: join(folder, 'data'),
      HEADRACE_PORT: String(port),
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_BOOTSTRAP_CREDITS: '100000',
    },
    logFile: join(folder, 'output.log'),
  })
  await untilReady(running, () => isReady(port))
  return { port, process: running, probeFile }
}

/** Longer than anybody listens. */
const spokenSeconds = 3_600

const headers = { authorization: `Bearer ${key}` }
const bodyOf = (seconds: number, format: string) =>
  JSON.stringify({ model: 'acme/voice', input: String(seconds), response_format: format })

async function speak({ port }: Measured, seconds: number): Promise<number> {
  const init = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: bodyOf(seconds, 'mp3'),
  }
  const response = await fetch(`http://127.0.0.1:${port}/v1/audio/speech`, init)
  const { length } = await response.bytes()
  // 96 kbit/s.
  if (response.status !== 200 || Math.abs(length / (seconds * 12_000) - 1) > 0.05)
    throw new Error(`answered ${response.status} with ${length} bytes`)
  return length
}

async function proveMinute(gateway: Measured): Promise<ProofResult> {
  // The first one starts the thread.
  await speak(gateway, 5)
  const found: number[] = []
  for (let run = 0; run < 3; run += 1) {
    const before = gateway.process.cpuMs()
    await speak(gateway, 60)
    found.push(gateway.process.cpuMs() - before)
  }
  const cpuMs = median(found)
  const isWithin = cpuMs <= minuteCpuMsMax
  return {
    status: isWithin ? 'PASS' : 'FAIL',
    figures: [
      `a minute of mp3 from samples: ${cpuMs.toFixed(0)} ms of CPU, ${isWithin ? 'within' : 'OVER'} ${minuteCpuMsMax}`,
    ],
  }
}

/** What slow readers were to a program. */
interface Watched {
  answered: number
  bytes: number
  /** Medians of the first and the last third of the time. */
  residentEarly: number
  residentLate: number
  opening: LoopBlocks
  steady: LoopBlocks
  ending: LoopBlocks
  costs: string
}

/** Of some time, the turns of the loop that were the longest. */
interface LoopBlocks {
  /** By the processor time of its own thread, which is what the bound is about. */
  ran: LateTurn
  /** Without waits for a core: also when its thread waited for another one of the program, which may have had none. */
  held: LateTurn
  /** By the clock. */
  late: LateTurn
}

/**
 * The provider speaks as fast as it is read, so that passed speech waits for its readers, and converted speech for the
 * encoder.
 */
async function watchReaders(measured: Measured, format: 'pcm' | 'mp3'): Promise<Watched> {
  const { port, probeFile } = measured
  const openedMs = Date.now()
  const readers = await openSlowReaders({
    port,
    path: '/v1/audio/speech',
    headers,
    body: bodyOf(spokenSeconds, format),
    count: streams,
  })
  await Bun.sleep(settleMs)
  const settledMs = Date.now()
  const pid = measured.process.workingPid()
  const before = threadCosts(pid)
  const memory: number[] = []
  for (let watched = 0; watched < watchedMs; watched += 1_000) {
    await Bun.sleep(1_000)
    memory.push(residentOf(pid))
  }
  const third = Math.floor(memory.length / 3)
  const costs = describeCosts(before, threadCosts(pid), watchedMs / 1_000)
  const endedMs = Date.now()
  const read = readers.close()
  // What they leave behind belongs to them, and not to the next ones.
  await Bun.sleep(endingMs)
  const turns = readProbe(probeFile)
  const between = (fromMs: number, toMs: number) =>
    blocksOf(turns.filter(({ atMs }) => atMs >= fromMs && atMs < toMs))
  return {
    ...read,
    residentEarly: median(memory.slice(0, third)),
    residentLate: median(memory.slice(-third)),
    opening: between(openedMs, settledMs),
    steady: between(settledMs, endedMs),
    ending: between(endedMs, Number.POSITIVE_INFINITY),
    costs,
  }
}

const heldMs = ({ lateMs, waitedMs }: LateTurn) => lateMs - waitedMs
/** The kernel's count comes in steps, so that it may be more than the time there was. */
const ranMs = (turn: LateTurn) => Math.min(turn.ranMs, heldMs(turn))

function blocksOf(turns: readonly LateTurn[]): LoopBlocks {
  const none: LateTurn = { atMs: 0, lateMs: 0, waitedMs: 0, ranMs: 0 }
  const longest = (by: (turn: LateTurn) => number) =>
    turns.reduce((found, turn) => (by(turn) > by(found) ? turn : found), none)
  return { ran: longest(ranMs), held: longest(heldMs), late: longest(({ lateMs }) => lateMs) }
}

function judge(watched: Watched, way: 'passed' | 'converted', alone: Watched): ProofResult {
  const { answered, bytes, residentEarly, residentLate, opening, steady, costs } = watched
  const isFlat = residentLate <= residentEarly * growthMax
  const isSmooth = ranMs(steady.ran) <= blockMsMax
  const megabytes = (figure: number) => (figure / 1e6).toFixed(0)
  const ran = (blocks: LoopBlocks) => `${ranMs(blocks.ran).toFixed(1)} ms`
  const { held, late } = steady
  return {
    status: isFlat && isSmooth && answered === streams ? 'PASS' : 'FAIL',
    figures: [
      `${answered} of ${streams} slow readers of ${way} speech, ${megabytes(bytes)} MB read: resident ${megabytes(residentEarly)} MB, then ${megabytes(residentLate)}, ${isFlat ? 'flat' : 'GROWING'}; the runtime alone, passing the same speech: ${megabytes(alone.residentLate)} MB`,
      `  longest that the event loop ran in one go meanwhile: ${ran(steady)} of processor time, ${isSmooth ? 'within' : 'OVER'} ${blockMsMax}; the runtime alone ${ran(alone.steady)}`,
      `  longest that it was held, waits for a core left out: ${heldMs(held).toFixed(1)} ms; by the clock ${late.lateMs.toFixed(1)} ms, of which other programs had the core for ${late.waitedMs.toFixed(1)}`,
      `  while all ${streams} began at once: ${ran(opening)}, the runtime alone ${ran(alone.opening)}; while all of them left at once: ${ran(watched.ending)}, the runtime alone ${ran(alone.ending)}`,
      `  each second: ${costs}`,
    ],
  }
}

function residentOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
