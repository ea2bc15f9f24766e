import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandOf, isReady } from '../../bench/harness/headrace.ts'
import { sparePort, start, untilReady, type Running } from '../../bench/harness/processes.ts'
import { requestBytes } from '../../bench/harness/raw-http.ts'
import { combine, notRun, type ProofResult } from './proof.ts'

const key = 'sk-hr-v1-0000000000000000000000000000000000000000000000000000000000000prove'
const minuteCpuMsMax = 1_000
const streams = 200
/** Until what the runtime reads ahead of each stream, some megabytes, is filled. */
const settleMs = 15_000
const watchedMs = 24_000
const readEveryMs = 1_000
const growthMax = 1.1
const blockMsMax = 10

/** What speech costs: a minute made mp3, and two hundred slow readers, passed and converted. */
export async function proveSpeech(): Promise<ProofResult> {
  if (process.platform !== 'linux')
    return notRun('CPU and memory of a process are read from /proc, which is Linux')
  const folder = mkdtempSync(join(tmpdir(), 'headrace-speech-'))
  const upstream = await startSpeaker()
  const gateway = await startGateway(folder, upstream.port)
  try {
    const results = [await proveMinute(gateway)]
    for (const format of ['pcm', 'mp3'] as const) results.push(await proveSlowReaders(gateway, format))
    return combine(results)
  } finally {
    await gateway.process.stop()
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

interface Gateway {
  port: number
  process: Running
}

async function startGateway(folder: string, upstreamPort: number): Promise<Gateway> {
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
  const running = start({
    name: 'gateway',
    command: commandOf([]),
    cwd: folder,
    env: {
      HEADRACE_CONFIG: config,
      HEADRACE_DATA: join(folder, 'data'),
      HEADRACE_PORT: String(port),
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_BOOTSTRAP_CREDITS: '100000',
    },
    logFile: join(folder, 'output.log'),
  })
  await untilReady(running, () => isReady(port))
  return { port, process: running }
}

const headers = { authorization: `Bearer ${key}` }
const bodyOf = (seconds: number, format: string) =>
  JSON.stringify({ model: 'acme/voice', input: String(seconds), response_format: format })

async function speak({ port }: Gateway, seconds: number): Promise<number> {
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

async function proveMinute(gateway: Gateway): Promise<ProofResult> {
  // The first one starts the thread.
  await speak(gateway, 5)
  const found: number[] = []
  for (let run = 0; run < 3; run += 1) {
    const before = gateway.process.cpuMs()
    await speak(gateway, 60)
    found.push(gateway.process.cpuMs() - before)
  }
  const cpuMs = found.toSorted((left, right) => left - right)[1] ?? Number.NaN
  const isWithin = cpuMs <= minuteCpuMsMax
  return {
    status: isWithin ? 'PASS' : 'FAIL',
    figures: [
      `a minute of mp3 from samples: ${cpuMs.toFixed(0)} ms of CPU, ${isWithin ? 'within' : 'OVER'} ${minuteCpuMsMax}`,
    ],
  }
}

async function proveSlowReaders(gateway: Gateway, format: 'pcm' | 'mp3'): Promise<ProofResult> {
  const readers = await openReaders(gateway, format)
  await Bun.sleep(settleMs)
  await blockOf(gateway)
  const memory: number[] = []
  for (let watched = 0; watched < watchedMs; watched += 1_000) {
    await Bun.sleep(1_000)
    memory.push(residentOf(gateway.process.workingPid()))
  }
  const blockMs = await blockOf(gateway)
  const third = Math.floor(memory.length / 3)
  const early = Math.max(...memory.slice(0, third))
  const late = Math.max(...memory.slice(-third))
  const { answered, bytes } = readers.close()
  const isFlat = late <= early * growthMax
  const isSmooth = blockMs <= blockMsMax
  const isComplete = answered === streams
  const way = format === 'mp3' ? 'converted' : 'passed'
  return {
    status: isFlat && isSmooth && isComplete ? 'PASS' : 'FAIL',
    figures: [
      `${answered} of ${streams} slow readers of ${way} speech, ${(bytes / 1e6).toFixed(0)} MB read: resident ${(early / 1e6).toFixed(0)} MB, then ${(late / 1e6).toFixed(0)}, ${isFlat ? 'flat' : 'GROWING'}`,
      `  longest block of the event loop meanwhile: ${blockMs.toFixed(1)} ms, ${isSmooth ? 'within' : 'OVER'} ${blockMsMax}`,
    ],
  }
}

/**
 * Callers who take what is there, and then nothing for a moment. The provider speaks as fast as it is read, so that passed
 * speech waits for its readers, and converted speech for the encoder.
 */
async function openReaders({ port }: Gateway, format: 'pcm' | 'mp3') {
  const path = '/v1/audio/speech'
  const request = requestBytes({ port, path, headers, body: bodyOf(3_600, format) })
  const sockets: { end(): void }[] = []
  let answered = 0
  let bytes = 0
  for (let index = 0; index < streams; index += 1) {
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      data: { hasData: false },
      socket: {
        open: (opened) => void opened.write(request),
        data(reading, data) {
          if (!reading.data.hasData && data.toString('latin1', 9, 12) === '200') answered += 1
          reading.data.hasData = true
          bytes += data.length
          reading.pause()
          setTimeout(() => reading.resume(), readEveryMs)
        },
      },
    })
    sockets.push(socket)
  }
  return {
    close() {
      for (const socket of sockets) socket.end()
      return { answered, bytes }
    },
  }
}

/** The longest block since it was asked for last, in milliseconds. */
async function blockOf({ port }: Gateway): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^headrace_event_loop_block_seconds(?:\{[^}]*\})? (\S+)$/m.exec(page)?.[1]) * 1_000
}

function residentOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
