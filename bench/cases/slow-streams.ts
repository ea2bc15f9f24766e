import { megabytes } from '../harness/figures.ts'
import { runProgram } from '../harness/program.ts'
import { atMost, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { headraceTarget } from '../harness/target.ts'
import type { World } from '../harness/world.ts'

interface Outcome {
  answered: number
  open: number
}

/**
 * How long everybody stays, and how much of that passes before the watching begins: connecting takes its time, and the
 * buffers of two hundred flooded connections take long to fill.
 */
const stays = { slow: { seconds: 10, settleMs: 4000 }, stalled: { seconds: 40, settleMs: 28_000 } } as const

/** A thousand streams with a chunk now and then. */
export async function slowStreams(world: World, report: Report, scale: Scale): Promise<void> {
  await watch(
    `${scale.streams} slow streams`,
    { model: '500-60-500', count: scale.streams, isStalled: false },
    world,
    report,
  )
}

/** Callers that stop reading while the upstream writes as fast as it can. */
export async function stalledReaders(world: World, report: Report, scale: Scale): Promise<void> {
  const count = Math.ceil(scale.streams / 5)
  await watch(`${count} readers that stall`, { model: '0-1000000-0', count, isStalled: true }, world, report)
}

async function watch(
  what: string,
  { model, count, isStalled }: { model: string; count: number; isStalled: boolean },
  world: World,
  report: Report,
): Promise<void> {
  const { port, path, headers, body, process: gateway } = headraceTarget(world.headrace, model, 400)
  const { seconds, settleMs } = isStalled ? stays.stalled : stays.slow
  const load = runProgram<Outcome>('slow-streams.ts', {
    port,
    path,
    headers,
    body,
    count,
    seconds,
    isStalled,
  })
  await Bun.sleep(settleMs)
  const seen: number[] = []
  const endMs = performance.now() + seconds * 1000 - settleMs
  while (performance.now() < endMs) {
    seen.push(gateway.residentBytes())
    await Bun.sleep(200)
  }
  const { answered, open } = await load
  const least = Math.min(...seen)
  const most = Math.max(...seen)
  report.rows.push(
    atMost(`${what}: resident`, `${megabytes(least)} to ${megabytes(most)}`, {
      value: Math.round((most / least) * 100) / 100,
      limit: 1.1,
      unit: '×',
    }),
    {
      case: `${what}: answered`,
      figure: `${answered} of ${count}, ${open} open at the end`,
      budget: 'all',
      verdict: answered === count && open === count ? 'PASS' : 'FAIL',
    },
  )
}
