import { median } from '../harness/figures.ts'
import { callSteadily, type LatencyRound } from '../harness/open-loop.ts'
import { atMost, fact, failures, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { directTarget, floorTarget, headraceTarget, type Target } from '../harness/target.ts'
import type { World } from '../harness/world.ts'

/** Added latency at 500 requests a second: what a caller waits longer than straight at the upstream. */
export async function openLoopJson(world: World, report: Report, scale: Scale): Promise<void> {
  const question = { reply: 'json-1k', requestBytes: 1000 } as const
  const targets = [
    directTarget(world, question),
    floorTarget(world, question),
    headraceTarget(world.headrace, 'json-1k', 1000),
  ]
  // A body that is not streamed waits for its capture as a whole, so its first byte is as late as its last.
  await added('JSON 1 kB at 500/s', targets, { report, scale, rate: 500, isWhole: true })
}

/** The same for streams of 50 chunks that come at once. */
export async function openLoopStream(world: World, report: Report, scale: Scale): Promise<void> {
  const question = { reply: 'sse-50', requestBytes: 1000 } as const
  const targets = [
    directTarget(world, question),
    floorTarget(world, question),
    headraceTarget(world.headrace, 'sse-50', 1000),
  ]
  await added('SSE 50 chunks at 500/s', targets, { report, scale, rate: 500, isWhole: false })
}

/** Streams that come at the pace of a model, 50 chunks 10 ms apart; fewer, because each lasts half a second. */
export async function openLoopPaced(world: World, report: Report, scale: Scale): Promise<void> {
  const own = headraceTarget(world.headrace, '5-50-10', 1000)
  const direct = {
    ...own,
    name: 'direct',
    port: world.paced.port,
    path: '/5-50-10/v1/chat/completions',
    process: world.paced.process,
    headrace: null,
  }
  await added('SSE paced, 50/s', [direct, own], { report, scale, rate: 50, isWhole: false })
}

async function added(
  what: string,
  targets: readonly Target[],
  { report, scale, rate, isWhole }: { report: Report; scale: Scale; rate: number; isWhole: boolean },
): Promise<void> {
  const rounds = new Map<string, LatencyRound[]>(targets.map(({ name }) => [name, []]))
  const seconds = scale.isQuick ? 2 : 3
  let failed = 0
  for (let round = 0; round < scale.rounds; round += 1) {
    for (const target of targets) {
      const found = await callSteadily(target, { rate, seconds })
      failed += found.failures
      rounds.get(target.name)?.push(found)
    }
  }
  const of = (name: string, pick: keyof LatencyRound) =>
    median((rounds.get(name) ?? []).map((round) => round[pick]))
  for (const { name } of targets) {
    const text = (['first50', 'first99', 'last50', 'last99'] as const).map((pick) =>
      of(name, pick).toFixed(2),
    )
    report.rows.push(
      fact(
        `${what}: ${name}`,
        `first byte p50 ${text[0]} p99 ${text[1]}, last p50 ${text[2]} p99 ${text[3]} ms`,
      ),
    )
  }
  const budgets = [
    ['first byte p50', 'first50', 0.5],
    ['first byte p99', 'first99', 3],
    ['last byte p50', 'last50', isWhole ? 0.5 : 3],
    ['last byte p99', 'last99', isWhole ? 3 : 8],
  ] as const
  for (const [label, pick, limit] of isWhole ? budgets.slice(2) : budgets) {
    const value = of('headrace', pick) - of('direct', pick)
    report.rows.push(
      atMost(`${what}: added to ${label}`, `${value.toFixed(2)} ms`, { value, limit, unit: ' ms' }),
    )
  }
  report.rows.push(...failures(what, failed))
}
