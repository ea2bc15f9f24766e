import { megabytes } from '../harness/figures.ts'
import { runProgram } from '../harness/program.ts'
import { atMost, fact, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { headraceTarget } from '../harness/target.ts'
import type { World } from '../harness/world.ts'

interface HangUps {
  failures: number
  leftAtMs: [mark: string, atMs: number][]
}

/** A stream of a hundred seconds: nobody who is here waits for its end. */
const model = '20-1000-100'

/** Callers that leave before, at and after the first byte: memory stays flat and upstreams are let go of. */
export async function hangUps(world: World, report: Report, scale: Scale): Promise<void> {
  const { process: gateway } = world.headrace
  const target = headraceTarget(world.headrace, model, 400)
  const load = (count: number, isMarked: boolean) =>
    runProgram<HangUps>('hang-ups.ts', {
      port: target.port,
      path: target.path,
      headers: target.headers,
      body: target.body.replace('You answer', 'mark-0. You answer'),
      count,
      concurrency: isMarked ? 8 : 64,
      isMarked,
    })
  // The first part brings heap and code to their working size; flat is measured from there.
  const warm = Math.ceil(scale.hangUps / 5)
  await load(warm, false)
  const before = await settled(gateway)
  const startedMs = performance.now()
  const { failures } = await load(scale.hangUps - warm, false)
  const seconds = (performance.now() - startedMs) / 1000
  const openAfter = await openWithinASecond(world)
  const after = await settled(gateway)
  report.rows.push(
    fact(
      `${scale.hangUps} hang-ups`,
      `${Math.round((scale.hangUps - warm) / seconds)}/s, ${failures} not connected`,
    ),
    atMost('hang-ups: resident', `${megabytes(before)} → ${megabytes(after)}`, {
      value: Math.round((after / before) * 100) / 100,
      limit: 1.1,
      unit: '×',
    }),
    atMost('hang-ups: upstream streams open 1 s later', String(openAfter), { value: openAfter, limit: 0 }),
  )
  await upstreamLag(await load(scale.isQuick ? 60 : 300, true), world, report)
}

/** Time from a caller's leaving to its upstream's end; streams that never began upstream have no end to wait for. */
async function upstreamLag({ leftAtMs }: HangUps, world: World, report: Report): Promise<void> {
  await Bun.sleep(1200)
  const closed = await world.paced.closedAtMs(leftAtMs.map(([mark]) => mark))
  const lags = leftAtMs.flatMap(([, atMs], index) => {
    const at = closed[index] ?? null
    return at === null ? [] : [at - atMs]
  })
  if (lags.length === 0) throw new Error('no marked caller reached the upstream')
  const longest = Math.max(...lags)
  report.rows.push(
    atMost('hang-ups: upstream closed after', `${longest} ms at most, of ${lags.length}`, {
      value: longest,
      limit: 1000,
      unit: ' ms',
    }),
  )
}

async function openWithinASecond(world: World): Promise<number> {
  const endMs = performance.now() + 1000
  let open = await world.paced.open()
  while (open > 0 && performance.now() < endMs) {
    await Bun.sleep(50)
    open = await world.paced.open()
  }
  return open
}

/** Resident memory once the collector had a moment. */
async function settled(gateway: { residentBytes(): number }): Promise<number> {
  await Bun.sleep(1500)
  return gateway.residentBytes()
}
