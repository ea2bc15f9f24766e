import { makeBatch } from '../harness/batches.ts'
import { median } from '../harness/figures.ts'
import { callerKey, startHeadrace, type Headrace } from '../harness/headrace.ts'
import { callSteadily } from '../harness/open-loop.ts'
import { failures, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { headraceTarget } from '../harness/target.ts'
import type { World } from '../harness/world.ts'

/** Live calls a second. */
const rate = 100
const seconds = 4
/** More items than a batch ends in while it is measured; the rest is cancelled. */
const items = 200_000
const bytesPerItem = 300
/** What a live call may wait longer at the 99th percentile: by either of them it is within. */
const allowed = { ratio: 1.25, ms: 2 } as const
/** Until a process has the full number of items at once. */
const rampMs = 32_000

/** The providers of the batch: one that takes a second an answer, as they do, and one that takes no time at all. */
const batches = [
  { what: 'whose provider takes a second', model: 'bench/20-50-20' },
  { what: 'whose provider takes no time', model: 'bench/json-1k' },
] as const

/** What a running batch adds to the wait of live calls. */
export async function besideBatch(world: World, report: Report, scale: Scale): Promise<void> {
  const { folder, upstreams } = world
  const headrace = await startHeadrace({ name: 'headrace-beside', folder, upstreams, isPrepaid: true })
  world.stopLater(headrace.process)
  await callSteadily(headraceTarget(headrace, 'json-1k', 1000), { rate, seconds: rampMs / 1000 })
  const failed: number[] = []
  for (const { what, model } of batches) {
    const alone = await last99(headrace, { scale, failed })
    const id = await makeBatch(headrace, { model, items, bytesPerItem })
    await untilRunning(headrace)
    const before = headrace.captures()
    const startedMs = performance.now()
    const beside = await last99(headrace, { scale, failed })
    const perSecond = ((headrace.captures() - before) * 1000) / (performance.now() - startedMs) - rate
    await cancel(headrace, id)
    const isKept = beside <= alone * allowed.ratio || beside <= alone + allowed.ms
    report.rows.push({
      case: `live calls beside a batch ${what}`,
      figure: `p99 ${alone.toFixed(2)} ms alone, ${beside.toFixed(2)} ms beside ${Math.round(perSecond)} items a second`,
      budget: `≤ ${allowed.ratio}× or + ${allowed.ms} ms`,
      verdict: isKept ? 'PASS' : 'MISSED',
    })
  }
  report.rows.push(
    ...failures(
      'live calls beside a batch',
      failed.reduce((sum, each) => sum + each, 0),
    ),
  )
}

async function last99(
  headrace: Headrace,
  { scale, failed }: { scale: Scale; failed: number[] },
): Promise<number> {
  const found: number[] = []
  for (let round = 0; round < scale.rounds; round += 1) {
    const { last99: ms, failures: count } = await callSteadily(headraceTarget(headrace, 'json-1k', 1000), {
      rate,
      seconds,
    })
    found.push(ms)
    failed.push(count)
  }
  return median(found)
}

/** The batch has begun and its first results are paid. */
async function untilRunning(headrace: Headrace): Promise<void> {
  const before = headrace.captures()
  const endMs = performance.now() + 60_000
  while (headrace.captures() < before + 500) {
    if (performance.now() > endMs) throw new Error('the batch did not begin within a minute')
    await Bun.sleep(100)
  }
}

/** Cancels the batch and waits for its end, so that the next one is alone. */
async function cancel(headrace: Headrace, id: string): Promise<void> {
  const path = `http://127.0.0.1:${headrace.port}/v1/batches/${id}/cancel`
  const { status } = await fetch(path, { method: 'POST', headers: { authorization: `Bearer ${callerKey}` } })
  if (status >= 300) throw new Error(`the cancellation was answered ${status}`)
  const endMs = performance.now() + 60_000
  while (headrace.batchStatus(id) !== 'cancelled') {
    if (performance.now() > endMs) throw new Error(`the batch is ${headrace.batchStatus(id)} after a minute`)
    await Bun.sleep(100)
  }
}
