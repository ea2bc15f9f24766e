import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../../bench/harness/figures.ts'
import { commandOf, isReady } from '../../bench/harness/headrace.ts'
import { startFloor } from '../../bench/harness/nginx.ts'
import { sparePort, start, untilReady, type Running } from '../../bench/harness/processes.ts'
import { combine, notRun, type ProofResult } from './proof.ts'
import { describeCosts, threadCosts } from './thread-costs.ts'

const key = 'sk-hr-v1-0000000000000000000000000000000000000000000000000000000000000prove'
const boundary = 'a-boundary-of-the-proof'
const formType = `multipart/form-data; boundary=${boundary}`
const uploadBytes = 25_000_000
const wavHeadBytes = 44
const ratioMax = 3
/** Interleaved pairs, so that whatever else the machine does falls on both. */
const pairs = 9
/** CPU is told in steps of 10 ms; so many uploads are one measure. */
const uploadsPerMeasure = 4
const largeBytes = 990_000_000
const residentGrowthBytesMax = 64_000_000

/** What is uploaded to, by name; each passes it to the same upstream, which reads it to its end. */
interface Target {
  name: string
  url: string
  process: Running
}

/** 25 MB of a form through the gateway and through nginx, and 1 GB in flat memory. */
export async function proveUploads(): Promise<ProofResult> {
  if (process.platform !== 'linux')
    return notRun('CPU and memory of a process are read from /proc, which is Linux')
  if (Bun.which('nginx', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }) === null)
    return notRun('not installed: nginx')
  const folder = mkdtempSync(join(tmpdir(), 'headrace-uploads-'))
  const upstream = startReader()
  const stops: (() => Promise<void>)[] = [async () => upstream.stop(true)]
  try {
    const port = Number(upstream.port)
    const floor = await startFloor(folder, { staticPort: port, pacedPort: port })
    stops.push(() => floor.process.stop())
    const gateway = await startGateway(folder, port)
    stops.push(() => gateway.process.stop())
    const nginx: Target = { name: 'nginx', url: `http://127.0.0.1:${floor.port}`, process: floor.process }
    const results: ProofResult[] = []
    for (const format of ['wav', 'mp3'] as const) results.push(await compare(nginx, gateway, format))
    for (const kind of ['a form', 'JSON'] as const) results.push(await proveFlat(gateway, kind))
    return combine(results)
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Reads every body to its end and says how much it was. */
function startReader() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      let bytes = 0
      for await (const chunk of request.body ?? []) bytes += chunk.length
      return Response.json({ text: String(bytes) })
    },
  })
}

async function startGateway(folder: string, upstreamPort: number): Promise<Target> {
  const home = join(folder, 'gateway')
  mkdirSync(home)
  const config = join(home, 'config.json')
  const model = { id: 'acme/ears', modality: 'transcription', prices: { audio_per_minute: '0.006' } }
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
    cwd: home,
    env: {
      HEADRACE_CONFIG: config,
      HEADRACE_DATA: join(home, 'data'),
      HEADRACE_PORT: String(port),
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_BOOTSTRAP_CREDITS: '100000',
    },
    logFile: join(home, 'output.log'),
  })
  await untilReady(running, () => isReady(port))
  return { name: 'gateway', url: `http://127.0.0.1:${port}`, process: running }
}

/** Sound of so many bytes: quiet samples, or frames of 24 ms at 64 kbit/s. */
function soundOf(format: 'wav' | 'mp3', bytes: number): Uint8Array<ArrayBuffer> {
  const sound = new Uint8Array(bytes)
  if (format === 'wav') {
    sound.set(wavHead(bytes))
    return sound
  }
  for (let at = 0; at < bytes; at += 192) sound.set([0xff, 0xfb, 0x54, 0xc4].slice(0, bytes - at), at)
  return sound
}

function wavHead(bytes: number): Uint8Array {
  const head = Buffer.from('RIFF....WAVEfmt ................data....', 'latin1')
  const whole = Buffer.concat([head, Buffer.alloc(4)])
  whole.writeUInt32LE(bytes - 8, 4)
  whole.writeUInt32LE(16, 16)
  whole.writeUInt16LE(1, 20)
  whole.writeUInt16LE(1, 22)
  whole.writeUInt32LE(16_000, 24)
  whole.writeUInt32LE(32_000, 28)
  whole.writeUInt16LE(2, 32)
  whole.writeUInt16LE(16, 34)
  whole.write('data', 36, 'latin1')
  whole.writeUInt32LE(bytes - 44, 40)
  return whole
}

function formAround(format: string): [before: Buffer, after: Buffer] {
  const model = `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nacme/ears\r\n`
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip.${format}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  return [Buffer.from(model + file), Buffer.from(`\r\n--${boundary}--\r\n`)]
}

interface Upload {
  type: string
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  bytes: number
}

async function upload({ name, url }: Target, { type, body, bytes }: Upload): Promise<void> {
  const response = await fetch(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body,
  })
  const { text } = (await response.json()) as { text?: string }
  // The gateway writes a form of its own, of nearly the same length.
  if (response.status !== 200 || Math.abs(Number(text) - bytes) > 10_000)
    throw new Error(`${name} answered ${response.status}, and the upstream read ${text} of ${bytes} bytes`)
}

async function compare(nginx: Target, gateway: Target, format: 'wav' | 'mp3'): Promise<ProofResult> {
  const [before, after] = formAround(format)
  const body = Buffer.concat([before, soundOf(format, uploadBytes), after])
  const sent: Upload = { type: formType, body, bytes: body.length }
  const cost = async (target: Target): Promise<{ cpuMs: number; ms: number }> => {
    const startCpuMs = target.process.cpuMs()
    const startMs = performance.now()
    for (let count = 0; count < uploadsPerMeasure; count += 1) await upload(target, sent)
    const ms = (performance.now() - startMs) / uploadsPerMeasure
    // The last group of captures belongs to the calls.
    await Bun.sleep(100)
    return { cpuMs: (target.process.cpuMs() - startCpuMs) / uploadsPerMeasure, ms }
  }
  for (const target of [nginx, gateway]) await cost(target)
  const found: { first: { cpuMs: number; ms: number }; second: { cpuMs: number; ms: number } }[] = []
  for (let pair = 0; pair < pairs; pair += 1) {
    const early = pair % 2 === 0 ? await cost(nginx) : null
    const second = await cost(gateway)
    found.push({ first: early ?? (await cost(nginx)), second })
  }
  const profile = await profileOf(gateway, () => upload(gateway, sent))
  const ratio = median(found.map(({ first, second }) => second.cpuMs / first.cpuMs))
  const wait = median(found.map(({ first, second }) => second.ms / first.ms))
  const of = (which: 'first' | 'second', unit: 'cpuMs' | 'ms') =>
    median(found.map((each) => each[which][unit])).toFixed(0)
  const isWithin = ratio <= ratioMax
  return {
    status: isWithin ? 'PASS' : 'FAIL',
    figures: [
      `25 MB of ${format} in a form: ${ratio.toFixed(2)}× the CPU of nginx passing it (${of('second', 'cpuMs')} to ${of('first', 'cpuMs')} ms), ${isWithin ? 'within' : 'OVER'} ${ratioMax}; ${wait.toFixed(2)}× its time (${of('second', 'ms')} to ${of('first', 'ms')} ms)`,
      ...(isWithin ? [] : [`    ${profile}`]),
    ],
  }
}

const profiledUploads = 20

/** What an upload costs each kind of thread, in milliseconds of its own code and of the kernel's. */
async function profileOf({ process: running }: Target, uploadOnce: () => Promise<void>): Promise<string> {
  const pid = running.workingPid()
  const before = threadCosts(pid)
  for (let count = 0; count < profiledUploads; count += 1) await uploadOnce()
  return describeCosts(before, threadCosts(pid), profiledUploads)
}

/** 1 GB that nobody holds: made as it is sent. */
async function proveFlat(gateway: Target, kind: 'a form' | 'JSON'): Promise<ProofResult> {
  const pid = gateway.process.workingPid()
  const startBytes = memoryOf(pid, 'VmRSS')
  // The highest mark is that of this upload alone.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const startMs = performance.now()
  const body = kind === 'JSON' ? jsonPieces() : formPieces()
  const type = kind === 'JSON' ? 'application/json' : formType
  const stream = new ReadableStream<Uint8Array>({ pull: pullFrom(body) }, { highWaterMark: 0 })
  await upload(gateway, { type, body: stream, bytes: largeBytes })
  const seconds = (performance.now() - startMs) / 1000
  const grown = memoryOf(pid, 'VmHWM') - startBytes
  const isFlat = grown <= residentGrowthBytesMax
  return {
    status: isFlat ? 'PASS' : 'FAIL',
    figures: [
      `${(largeBytes / 1e6).toFixed(0)} MB of wav in ${kind}, kept and then sent in ${seconds.toFixed(1)} s: the gateway's memory grew by ${(grown / 1e6).toFixed(0)} MB at its peak, ${isFlat ? 'within' : 'OVER'} ${residentGrowthBytesMax / 1e6}`,
    ],
  }
}

const pieceBytes = 262_144

function* formPieces(): Generator<Uint8Array> {
  const [before, after] = formAround('wav')
  const piece = new Uint8Array(pieceBytes)
  yield before
  yield wavHead(largeBytes)
  for (let sent = wavHeadBytes; sent < largeBytes; sent += piece.length)
    yield piece.subarray(0, Math.min(piece.length, largeBytes - sent))
  yield after
}

function* jsonPieces(): Generator<Uint8Array> {
  // Of three bytes there are four letters, so that head and samples can be written one after the other.
  const head = Buffer.concat([wavHead(largeBytes), Buffer.alloc(1)])
  const piece = Buffer.alloc(pieceBytes, 'A')
  yield Buffer.from(`{"model":"acme/ears","input_audio":{"format":"wav","data":"${head.toString('base64')}`)
  const letters = Math.floor((largeBytes - head.length) / 3) * 4
  for (let sent = 0; sent < letters; sent += piece.length)
    yield piece.subarray(0, Math.min(piece.length, letters - sent))
  yield Buffer.from('"}}')
}

function pullFrom(pieces: Generator<Uint8Array>) {
  return (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const { done, value } = pieces.next()
    if (done) controller.close()
    else controller.enqueue(value)
  }
}

function memoryOf(pid: number, member: 'VmRSS' | 'VmHWM'): number {
  return (
    Number(new RegExp(`${member}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) *
    1024
  )
}
