import { itemMicrosecondsOf } from '../harness/batches.ts'
import { megabytes } from '../harness/figures.ts'
import { startHeadrace } from '../harness/headrace.ts'
import { atMost, fact, notRun, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { headraceTarget } from '../harness/target.ts'
import type { World } from '../harness/world.ts'
import { runWrk } from '../harness/wrk.ts'
import { type CallWrites, quietRate, sharedDelayMs, writesOfCalls } from '../harness/writes.ts'
import { idleMs, saturatedConnections } from '../harness/bounds.ts'

/**
 * What a gateway of its own writes and keeps: bytes and writes a call at a rate at which calls do not share a group,
 * memory that is its own after load and at rest, and what an item of a batch costs of a live call.
 */
export async function footprint(world: World, report: Report, scale: Scale): Promise<void> {
  if (process.platform !== 'linux') {
    report.rows.push(notRun('writes and memory', 'they can be read on Linux only'))
    return
  }
  const { folder, upstreams } = world
  const headrace = await startHeadrace({ name: 'headrace-footprint', folder, upstreams, isPrepaid: true })
  world.stopLater(headrace.process)
  const target = headraceTarget(headrace, 'json-1k', 1000)
  const load = { folder, connections: saturatedConnections, seconds: scale.warmSeconds }
  await runWrk(target, load)
  const startedMs = headrace.process.cpuMs()
  const { requests } = await runWrk(target, load)
  const callMicroseconds = ((headrace.process.cpuMs() - startedMs) * 1000) / requests
  report.rows.push(fact('memory of its own after load', megabytes(headrace.process.anonymousBytes())))
  await Bun.sleep(idleMs)
  report.rows.push(fact('memory of its own at rest', megabytes(headrace.process.anonymousBytes())))

  const alone = await writesOfCalls(target)
  report.rows.push(
    fact(`written a call at ${quietRate}/s`, kilobytesOf(alone)),
    fact(`writes a call of the database's thread at ${quietRate}/s`, alone.calls.toFixed(1)),
  )
  await sharedWrites(world, report)
  const itemMicroseconds = await itemMicrosecondsOf(headrace)
  const ratio = itemMicroseconds / callMicroseconds
  const figure = `${itemMicroseconds.toFixed(0)} µs, ${ratio.toFixed(2)}× a live call`
  report.rows.push(atMost('CPU of a batch item', figure, { value: ratio, limit: 1.5, unit: '×' }))
}

/** The same where the operator lets calls wait for one another, which the budget is for. */
async function sharedWrites({ folder, upstreams, stopLater }: World, report: Report): Promise<void> {
  const name = 'headrace-shared-writes'
  const settings = { commit_delay_ms: sharedDelayMs }
  const headrace = await startHeadrace({ name, folder, upstreams, isPrepaid: true, settings })
  stopLater(headrace.process)
  // So that the gateway has learnt how close together they come.
  const target = headraceTarget(headrace, 'json-1k', 1000)
  await writesOfCalls(target)
  const each = await writesOfCalls(target)
  const bytes = { value: each.bytes / 1000, limit: 6, unit: ' kB' }
  const when = `at ${quietRate}/s, delay of ${sharedDelayMs} ms`
  report.rows.push(
    atMost(`written a call ${when}`, kilobytesOf(each), bytes),
    atMost(`writes a call ${when}`, each.calls.toFixed(1), { value: each.calls, limit: 4 }),
    fact(`answers ${when}, p50 and p99`, `${each.p50Ms.toFixed(1)} and ${each.p99Ms.toFixed(1)} ms`),
  )
}

function kilobytesOf({ bytes }: CallWrites): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
