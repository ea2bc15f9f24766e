import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { megabytes, median } from '../../bench/harness/figures.ts'
import { sparePort, start, untilReady } from '../../bench/harness/processes.ts'
import { runProgram } from '../../bench/harness/program.ts'
import { prepareGateway } from '../story/real-gateway.ts'
import { startS3 } from '../support/s3-server.ts'
import { rootFolder } from '../tidy/sources.ts'
import type { ProofResult } from './proof.ts'

const key = 'prove-inference-key-00000000000001'
/** The largest batch that is accepted. */
const size = { bytes: 200_000_000, items: 50_000 }
const rounds = 3
const timesMax = 3
const growthBytesMax = 64_000_000

interface Target {
  name: string
  port: number
  peakBytes(): number
}

/** How long the largest batch takes to its 202, beside a program that only reads and writes its bytes, and how much the gateway grows. */
export async function compareUploads(): Promise<ProofResult> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-uploads-'))
  const closers: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })]
  try {
    const server = await startS3()
    closers.push(() => server.stop())
    const floor = await startFloor(folder, closers)
    const homes: [string, Record<string, string>][] = [
      ['folder', {}],
      ['S3', server.environmentOf(server.makeBucket())],
    ]
    const targets: Target[] = []
    for (const [name, env] of homes) targets.push(await startTarget(name, env, closers))
    const times = new Map<string, number[]>()
    const note = async (name: string, port: number) =>
      times.set(name, [...(times.get(name) ?? []), await upload(port)])
    const before = targets.map((target) => target.peakBytes())
    for (let round = 0; round < rounds; round += 1) {
      await note('floor', floor)
      for (const { name, port } of targets) await note(name, port)
    }
    const floorMs = median(times.get('floor') ?? [])
    const rows = targets.map(({ name, peakBytes }, index) => {
      const ms = median(times.get(name) ?? [])
      const grown = peakBytes() - (before[index] ?? 0)
      return { name, ms, ratio: ms / floorMs, grown }
    })
    const isGood = rows.every(({ ratio, grown }) => ratio <= timesMax && grown <= growthBytesMax)
    const figures = rows.map(
      ({ name, ms, ratio, grown }) =>
        `${megabytes(size.bytes)} accepted, payloads on ${name}: ${Math.round(ms)} ms, ${ratio.toFixed(2)}× the floor of ${Math.round(floorMs)} ms, grown by ${megabytes(grown)}`,
    )
    return { status: isGood ? 'PASS' : 'FAIL', figures }
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

async function startTarget(
  name: string,
  env: Record<string, string>,
  closers: (() => Promise<unknown>)[],
): Promise<Target> {
  const gateway = prepareGateway(null)
  closers.push(() => gateway.remove())
  // It accepts and does not run: what it does next with a batch is not the upload's.
  await gateway.start({ ...env, HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_ROLE: 'api' })
  return { name, port: Number(new URL(gateway.baseUrl).port), peakBytes: () => gateway.peakBytes() }
}

async function startFloor(folder: string, closers: (() => Promise<unknown>)[]): Promise<number> {
  const port = sparePort()
  const program = join(rootFolder, 'bench/byte-sink.ts')
  const sink = start({
    name: 'byte-sink',
    command: [process.execPath, program, String(port), join(folder, 'sink.bin')],
    cwd: folder,
    logFile: join(folder, 'byte-sink.log'),
  })
  closers.push(() => sink.stop())
  await untilReady(sink, async () => (await fetch(`http://127.0.0.1:${port}/`)).ok)
  return port
}

async function upload(port: number): Promise<number> {
  const { status, ms, answer } = await runProgram<{ status: number; ms: number; answer: string }>(
    'batch-upload.ts',
    {
      port,
      path: '/v1/batches',
      headers: { authorization: `Bearer ${key}` },
      model: 'openai/gpt-4o-mini',
      ...size,
    },
  )
  if (status !== 202) throw new Error(`the batch was answered ${status}: ${answer}`)
  return ms
}
