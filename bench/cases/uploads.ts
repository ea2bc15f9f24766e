import { megabytes, median } from '../harness/figures.ts'
import { callerKey, startHeadrace } from '../harness/headrace.ts'
import { runProgram } from '../harness/program.ts'
import { atMost, fact, notRun, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import type { World } from '../harness/world.ts'
import { floorOf } from './batch.ts'

interface Upload {
  status: number
  ms: number
  answer: string
  /** Null where it cannot be told. */
  grownBytes: number | null
}

/** One kind of upload; each is the first of a process, or comes after some calls. */
interface Kind {
  items: number
  isUsualOrder: boolean
  isWarm: boolean
}

const bytesMax = 200_000_000
/** In so many bytes. */
const itemsOfBudget = 50_000
const model = 'bench/json-4k'
const warmCalls = 20

/** The largest batch in the worst order of members and the usual one, of large items and of small: time and memory. */
export async function uploads(world: World, report: Report, scale: Scale): Promise<void> {
  const bytes = scale.isQuick ? bytesMax / 10 : bytesMax
  const share = bytes / bytesMax
  for (const items of [itemsOfBudget * share, 4 * itemsOfBudget * share]) {
    for (const isUsualOrder of [false, true])
      for (const isWarm of [false, true])
        await measure({ items, isUsualOrder, isWarm }, bytes, { world, report, scale })
  }
}

async function measure(
  kind: Kind,
  bytes: number,
  { world, report, scale }: { world: World; report: Report; scale: Scale },
): Promise<void> {
  const ratios: number[] = []
  const times: number[] = []
  const grown: number[] = []
  for (let round = 0; round < Math.min(scale.rounds, 3); round += 1) {
    const floorMs = await floorOf(world, { bytes, items: kind.items })
    const { ms, grownBytes } = await uploadOnce(world, kind, bytes)
    times.push(ms)
    ratios.push(ms / floorMs)
    if (grownBytes !== null) grown.push(grownBytes)
  }
  const order = kind.isUsualOrder ? 'usual order' : 'worst order'
  const what = `upload of ${megabytes(bytes)}, ${kind.items} items, ${order}, ${kind.isWarm ? 'after calls' : 'first'}`
  const ratio = median(ratios)
  report.ratios[
    `upload_${kind.items}_${kind.isUsualOrder ? 'usual' : 'worst'}_${kind.isWarm ? 'warm' : 'first'}`
  ] = ratio
  report.rows.push(
    fact(`${what}: time to 202`, `${Math.round(median(times))} ms`),
    // The budget is that of 4 kB items; four times as many are four times as much to parse in the same bytes.
    kind.items > (itemsOfBudget * bytes) / bytesMax
      ? fact(`${what}: time`, `${ratio.toFixed(2)}× the floor`)
      : atMost(`${what}: time`, `${ratio.toFixed(2)}× the floor`, { value: ratio, limit: 3, unit: '×' }),
    grown.length === 0
      ? notRun(`${what}: resident growth`, 'peaks of memory can be read on Linux only')
      : atMost(`${what}: resident growth`, megabytes(Math.max(...grown)), {
          value: Math.max(...grown) / 1e6,
          limit: 64,
          unit: ' MB',
        }),
  )
}

/** On a gateway of its own, which ends before it has worked on the batch. */
async function uploadOnce(world: World, kind: Kind, bytes: number): Promise<Upload> {
  const headrace = await startHeadrace({
    name: `headrace-upload-${Bun.nanoseconds()}`,
    folder: world.folder,
    upstreams: world.upstreams,
    isPrepaid: true,
  })
  try {
    if (kind.isWarm) await call(headrace.port)
    const upload = await runProgram<Upload>('batch-upload.ts', {
      port: headrace.port,
      path: '/v1/batches',
      headers: { authorization: `Bearer ${callerKey}` },
      model,
      bytes,
      items: kind.items,
      isUsualOrder: kind.isUsualOrder,
      ...(process.platform === 'linux' ? { watchedPid: headrace.process.workingPid() } : {}),
    })
    if (upload.status !== 202) throw new Error(`the batch was answered ${upload.status}: ${upload.answer}`)
    return upload
  } finally {
    await headrace.process.stop()
  }
}

async function call(port: number): Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] })
  const headers = { authorization: `Bearer ${callerKey}`, 'content-type': 'application/json' }
  for (let sent = 0; sent < warmCalls; sent += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
    })
    await response.arrayBuffer()
  }
}
