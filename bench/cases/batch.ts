import { join } from 'node:path'
import { batchWaitMs } from '../harness/bounds.ts'
import { megabytes, median } from '../harness/figures.ts'
import { callerKey, startHeadrace, type Headrace } from '../harness/headrace.ts'
import { sparePort, start, untilReady, type Running } from '../harness/processes.ts'
import { runProgram } from '../harness/program.ts'
import { atLeast, atMost, fact, notRun, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import type { World } from '../harness/world.ts'

interface Upload {
  status: number
  ms: number
  id: string | null
  answer: string
  /** Until the first byte of the answer; null when nobody watched. */
  grownBytes: number | null
}

/** A body to send. */
interface Size {
  bytes: number
  items: number
  /** Process whose memory is watched. */
  watchedPid?: number
}

/** Bytes of the largest batch that is accepted. */
const bytesMax = 200_000_000
const model = 'bench/json-4k'

/** A batch of the largest size with its keys in the worst order: time, memory, the limit, and its results. */
export async function largeBatch(world: World, report: Report, scale: Scale): Promise<void> {
  const headrace = await startHeadrace({
    name: 'headrace-batch',
    folder: world.folder,
    upstreams: world.upstreams,
    isPrepaid: true,
  })
  world.stopLater(headrace.process)
  const bytes = scale.isQuick ? bytesMax / 10 : bytesMax
  await checkLimit(headrace, report)
  const floorMs = await floorOf(world, { bytes, items: scale.batchItems })
  const isWatched = process.platform === 'linux'
  const upload = await send(headrace, {
    bytes,
    items: scale.batchItems,
    ...(isWatched ? { watchedPid: headrace.process.workingPid() } : {}),
  })
  const grown = upload.grownBytes
  const what = `batch of ${megabytes(bytes)}, ${scale.batchItems} items`
  if (upload.status !== 202 || upload.id === null)
    throw new Error(`the batch was answered ${upload.status}: ${upload.answer}`)
  const ratio = upload.ms / floorMs
  report.ratios['batch_upload'] = ratio
  report.rows.push(
    fact(
      `${what}: time to 202`,
      `${Math.round(upload.ms)} ms; reading and writing the bytes ${Math.round(floorMs)} ms`,
    ),
    atMost(`${what}: time`, `${ratio.toFixed(2)}× the floor`, { value: ratio, limit: 3, unit: '×' }),
    grown === null
      ? notRun(`${what}: resident growth`, 'peaks of memory can be read on Linux only')
      : atMost(`${what}: resident growth`, megabytes(grown), { value: grown / 1e6, limit: 64, unit: ' MB' }),
  )
  await readResults(headrace, upload.id, report)
}

async function checkLimit(headrace: Headrace, report: Report): Promise<void> {
  const { status } = await send(headrace, { bytes: bytesMax + 1, items: 1000 })
  report.rows.push({
    case: `batch of ${bytesMax + 1} bytes`,
    figure: `answered ${status}`,
    budget: '413',
    verdict: status === 413 ? 'PASS' : 'FAIL',
  })
}

function send(target: { port: number }, size: Size): Promise<Upload> {
  const headers = { authorization: `Bearer ${callerKey}` }
  return runProgram<Upload>('batch-upload.ts', {
    port: target.port,
    path: '/v1/batches',
    headers,
    model,
    ...size,
  })
}

/** How long a program takes that only reads the body and writes it with fsync, in milliseconds. */
export async function floorOf(world: World, size: Size): Promise<number> {
  const port = sparePort()
  const sink = start({
    name: 'byte-sink',
    command: [
      process.execPath,
      join(import.meta.dir, '../byte-sink.ts'),
      String(port),
      join(world.folder, 'sink.bin'),
    ],
    cwd: world.folder,
    logFile: join(world.folder, 'byte-sink.log'),
  })
  try {
    await untilReady(sink, async () => (await fetch(`http://127.0.0.1:${port}/`)).ok)
    const times: number[] = []
    for (let round = 0; round < 3; round += 1) times.push((await send({ port }, size)).ms)
    return median(times)
  } finally {
    await sink.stop()
  }
}

/** Waits for the batch, then reads its results; the items cost what they cost, and that is printed. */
async function readResults(headrace: Headrace, batchId: string, report: Report): Promise<void> {
  const startedMs = performance.now()
  const startedCpuMs = headrace.process.cpuMs()
  const before = headrace.captures()
  while (headrace.batchStatus(batchId) !== 'completed') {
    if (performance.now() - startedMs > batchWaitMs)
      throw new Error(`the batch is ${headrace.batchStatus(batchId)} after ${batchWaitMs} ms`)
    await Bun.sleep(250)
  }
  const items = Math.max(1, headrace.captures() - before)
  const cpuMicroseconds = ((headrace.process.cpuMs() - startedCpuMs) * 1000) / items
  report.rows.push(
    fact(
      'batch: its items',
      `${((performance.now() - startedMs) / 1000).toFixed(1)} s, ${cpuMicroseconds.toFixed(0)} µs CPU each`,
    ),
  )
  const peak = watchPeak(headrace.process)
  const readMs = performance.now()
  const bytes = await download(headrace, batchId)
  const speed = bytes / 1e6 / ((performance.now() - readMs) / 1000)
  const grown = peak.stop()
  report.rows.push(
    atLeast('results', `${megabytes(bytes)} at ${speed.toFixed(0)} MB/s`, {
      value: speed,
      limit: 100,
      unit: ' MB/s',
    }),
    atMost('results: resident growth', megabytes(grown), { value: grown / 1e6, limit: 64, unit: ' MB' }),
  )
}

async function download(headrace: Headrace, batchId: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${headrace.port}/v1/batches/${batchId}/results`, {
    headers: { authorization: `Bearer ${callerKey}` },
  })
  if (!response.ok || response.body === null) throw new Error(`results were answered ${response.status}`)
  let bytes = 0
  for await (const chunk of response.body) bytes += chunk.byteLength
  return bytes
}

/** The most a program grew between now and `stop`. */
function watchPeak(running: Running): { stop(): number } {
  const before = running.residentBytes()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, running.residentBytes())
  }, 20)
  return {
    stop() {
      clearInterval(timer)
      return Math.max(most, running.residentBytes()) - before
    },
  }
}
