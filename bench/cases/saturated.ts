import { saturatedConnections, saturatedStreams } from '../harness/bounds.ts'
import { megabytes } from '../harness/figures.ts'
import { atMost, fact, failures, type Report } from '../harness/report.ts'
import { bareTarget, durableTarget, floorTarget, headraceTarget, type Target } from '../harness/target.ts'
import { interleave, type Saturated } from '../harness/rounds.ts'
import type { Scale } from '../harness/scale.ts'
import type { World } from '../harness/world.ts'

/** The proxy on the same runtime that keeps what each call used before it passes the usage on. */
export const durableName = 'bare Bun, durable'

/** Chat, not streamed, 1 kB each way. */
export async function saturatedJson(world: World, report: Report, scale: Scale): Promise<void> {
  const question = { reply: 'json-1k', requestBytes: 1000 } as const
  const targets = [
    floorTarget(world, question),
    bareTarget(world, question),
    durableTarget(world, question),
    headraceTarget(world.headrace, question.reply, 1000),
    headraceTarget(world.tracked, question.reply, 1000),
  ]
  const results = await runChecked('JSON 1 kB', targets, { world, report, scale })
  const own = resultOf(results, 'headrace')
  const tracked = resultOf(results, 'headrace-tracked')
  const [floor, durable] = [resultOf(results, 'nginx'), resultOf(results, durableName)]
  compare(report, { what: 'JSON 1 kB', key: 'json_1k_of_durable', limit: 1.6, of: durableName }, own, durable)
  compare(report, { what: 'JSON 1 kB', key: 'json_1k' }, own, floor)
  compare(report, { what: 'JSON 1 kB, tracked account', key: 'json_1k_tracked' }, tracked, floor)
  const { process: gateway } = world.headrace
  report.rows.push(
    atMost('resident under load', megabytes(own.residentBytes), {
      value: own.residentBytes / 1e6,
      limit: 110,
      unit: ' MB',
    }),
    fact('resident some seconds later', megabytes(gateway.largestBytes())),
    fact('resident of bare Bun, durable', megabytes(resultOf(results, durableName).residentBytes)),
    fact('resident with its launcher', megabytes(gateway.residentBytes())),
  )
}

/** Chat, streamed in 50 chunks. */
export async function saturatedStream(world: World, report: Report, scale: Scale): Promise<void> {
  const question = { reply: 'sse-50', requestBytes: 1000 } as const
  const targets = [
    floorTarget(world, question),
    bareTarget(world, question),
    durableTarget(world, question),
    headraceTarget(world.headrace, question.reply, 1000),
  ]
  const results = await runChecked('SSE 50 chunks', targets, { world, report, scale })
  const own = resultOf(results, 'headrace')
  const durable = resultOf(results, durableName)
  compare(
    report,
    { what: 'SSE 50 chunks', key: 'sse_50_of_durable', limit: 1.7, of: durableName },
    own,
    durable,
  )
  compare(report, { what: 'SSE 50 chunks', key: 'sse_50' }, own, resultOf(results, 'nginx'))
}

/**
 * Streams whose 50 chunks come one by one, as a model writes them: then copying is fifty reads and writes, and not one.
 * The pace is the upstream's, so this is CPU per stream and not throughput.
 */
export async function pacedStream(world: World, report: Report, scale: Scale): Promise<void> {
  const model = '5-50-5'
  const own = headraceTarget(world.headrace, model, 1000)
  const floor = {
    ...own,
    name: 'nginx',
    port: world.floor.port,
    path: `/${model}/v1/chat/completions`,
    process: world.floor.process,
    headrace: null,
  }
  const bare = { ...floor, name: 'bare Bun', port: world.bare.port, process: world.bare.process }
  const durable = { ...floor, name: durableName, port: world.durable.port, process: world.durable.process }
  const results = await runChecked('SSE 50 chunks one by one', [floor, bare, durable, own], {
    world,
    report,
    scale,
    connections: saturatedStreams,
  })
  const headrace = resultOf(results, 'headrace')
  const what = 'SSE 50 chunks one by one'
  compare(
    report,
    { what, key: 'sse_50_paced_of_durable', limit: 1.4, of: durableName },
    headrace,
    resultOf(results, durableName),
  )
  compare(report, { what, key: 'sse_50_paced' }, headrace, resultOf(results, 'nginx'))
}

/** Bodies of one size both ways, beside the durable floor and nginx copying them. */
export async function bodies(world: World, report: Report, scale: Scale): Promise<void> {
  const sizes = [
    { reply: 'json-100k', requestBytes: 100_000, name: '100 kB' },
    { reply: 'json-1m', requestBytes: 1_000_000, name: '1 MB' },
  ] as const
  for (const { reply, requestBytes, name } of sizes) {
    const targets = [
      floorTarget(world, { reply, requestBytes }),
      bareTarget(world, { reply, requestBytes }),
      durableTarget(world, { reply, requestBytes }),
      headraceTarget(world.headrace, reply, requestBytes),
    ]
    const results = await runChecked(`JSON ${name}`, targets, { world, report, scale })
    const what = `JSON ${name} each way`
    const key = reply.replace('-', '_')
    const own = resultOf(results, 'headrace')
    compare(
      report,
      { what, key: `${key}_of_durable`, limit: 1.5, of: durableName },
      own,
      resultOf(results, durableName),
    )
    compare(report, { what, key, limit: 3 }, own, resultOf(results, 'nginx'))
  }
}

/** Loads all targets in turn, round after round; adds a row for each target, and checks the ledger of each Headrace among them. */
export async function runChecked(
  what: string,
  targets: readonly Target[],
  {
    world,
    report,
    scale,
    connections = saturatedConnections,
  }: { world: World; report: Report; scale: Scale; connections?: number },
): Promise<Map<string, Saturated>> {
  const before = new Map(targets.map((target) => [target.name, target.headrace?.captures() ?? 0]))
  const results = await interleave(targets, {
    folder: world.folder,
    rounds: scale.rounds,
    seconds: scale.seconds,
    warmSeconds: scale.warmSeconds,
    connections,
  })
  for (const target of targets) {
    const result = resultOf(results, target.name)
    report.rows.push(
      fact(
        `${what}: ${target.name}`,
        `${result.cpuMicroseconds.toFixed(1)} µs CPU, ${Math.round(result.requestsPerSecond)}/s, p50 ${result.p50Ms.toFixed(2)} ms`,
      ),
    )
    report.rows.push(...failures(`${what}: ${target.name}`, result.failures))
    if (target.headrace)
      await checkLedger(what, target, {
        report,
        answered: result.requests,
        before: before.get(target.name) ?? 0,
      })
  }
  return results
}

/** Whoever has a whole answer has a capture. */
async function checkLedger(
  what: string,
  { name, headrace }: Target,
  { report, answered, before }: { report: Report; answered: number; before: number },
): Promise<void> {
  if (!headrace) return
  await Bun.sleep(300)
  const captures = headrace.captures() - before
  const sum = headrace.postingsSum()
  report.rows.push({
    case: `${what}: ledger of ${name}`,
    figure: `${captures} captures for ${answered} answers, postings sum to ${sum}`,
    budget: 'a capture each, sum 0',
    verdict: captures >= answered && sum === 0n ? 'PASS' : 'FAIL',
  })
}

/** What is compared, with what, and the most it may be; without a limit it is a figure. */
interface Comparison {
  what: string
  key: string
  limit?: number
  /** The yardstick's name; nginx passing bytes when left out. */
  of?: string
}

/** Adds the ratio of two targets' CPU, held against a limit where there is one. */
export function compare(
  report: Report,
  { what, key, limit, of = 'nginx' }: Comparison,
  own: Saturated,
  floor: Saturated,
): void {
  const ratio = own.cpuMicroseconds / floor.cpuMicroseconds
  report.ratios[key] = ratio
  const figure = `${ratio.toFixed(2)}× ${of}`
  report.rows.push(
    limit === undefined
      ? fact(`${what}: CPU`, figure)
      : atMost(`${what}: CPU`, figure, { value: ratio, limit, unit: `× ${of}` }),
  )
}

/** Throws for a target that did not run. */
export function resultOf(results: Map<string, Saturated>, name: string): Saturated {
  const found = results.get(name)
  if (!found) throw new Error(`There is no result of ${name}.`)
  return found
}
