import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../../bench/harness/figures.ts'
import { startHeadrace, type Headrace, type Upstreams } from '../../bench/harness/headrace.ts'
import { startUpstream } from '../../bench/harness/nginx.ts'
import { headraceTarget } from '../../bench/harness/target.ts'
import { runWrk } from '../../bench/harness/wrk.ts'
import { rootFolder } from '../tidy/sources.ts'
import { combine, notRun, type Proof, type ProofResult } from './proof.ts'
import { checkOutVersionBefore } from './version-before.ts'

const pairs = 10
const secondsPerRun = 2
const warmSeconds = 8
const connections = 64
/** What a call may cost of what it cost before. */
const ratioMax = 1.05

const replies = { 'a JSON call of 1 kB': 'json-1k', 'a stream of 50 chunks': 'sse-50' } as const

export const proof: Proof = {
  title: 'CPU of a JSON call and of a stream: the median of ten interleaved pairs, now to before',
  async run() {
    const missing = ['nginx', 'wrk'].filter((name) => Bun.which(name) === null)
    if (missing.length > 0) return notRun(`not installed: ${missing.join(', ')}`)
    const before = checkOutVersionBefore()
    if (before === null) return notRun('the history does not reach back to the version before')
    const folder = mkdtempSync(join(tmpdir(), 'headrace-pairs-'))
    const stops: (() => Promise<void>)[] = []
    try {
      const upstream = await startUpstream(folder)
      stops.push(() => upstream.process.stop())
      // Nothing is asked of the paced upstream here; its models only stand in the configuration.
      const upstreams: Upstreams = { staticPort: upstream.port, pacedPort: upstream.port }
      const start = async (name: string, root: string): Promise<Headrace> => {
        const started = await startHeadrace({ name, folder, upstreams, isPrepaid: true, root })
        stops.push(() => started.process.stop())
        return started
      }
      const old = await start('before', before)
      const current = await start('now', rootFolder)
      const results: ProofResult[] = []
      for (const [what, reply] of Object.entries(replies)) {
        results.push(await compare({ what, reply, old, current, folder }))
      }
      return combine(results)
    } finally {
      for (const stop of stops.toReversed()) await stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function compare(options: {
  what: string
  reply: string
  old: Headrace
  current: Headrace
  folder: string
}): Promise<ProofResult> {
  const { what, reply, old, current, folder } = options
  const cost = async (headrace: Headrace, seconds: number): Promise<number> => {
    const startMs = headrace.process.cpuMs()
    const result = await runWrk(headraceTarget(headrace, reply, 1000), { folder, connections, seconds })
    // The last group of captures belongs to the calls.
    await Bun.sleep(100)
    return ((headrace.process.cpuMs() - startMs) * 1000) / Math.max(1, result.requests)
  }
  await cost(old, warmSeconds)
  await cost(current, warmSeconds)
  const ratios: number[] = []
  const costs = { old: [] as number[], now: [] as number[] }
  for (let pair = 0; pair < pairs; pair += 1) {
    const first = pair % 2 === 0 ? await cost(old, secondsPerRun) : null
    const now = await cost(current, secondsPerRun)
    const before = first ?? (await cost(old, secondsPerRun))
    costs.old.push(before)
    costs.now.push(now)
    ratios.push(now / before)
  }
  const ratio = median(ratios)
  const spread = `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`
  const verdict = ratio <= ratioMax ? 'within' : 'OVER'
  const figure = `${what}: ${ratio.toFixed(3)} (${spread}), ${verdict} ${ratioMax}; median µs before ${median(costs.old).toFixed(1)}, now ${median(costs.now).toFixed(1)}`
  return { status: ratio <= ratioMax ? 'PASS' : 'FAIL', figures: [figure] }
}
