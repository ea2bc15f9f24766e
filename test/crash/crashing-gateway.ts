/**
 * A gateway for tests that kills its own process at chosen points. Configured by the environment like the real one; what
 * to do to itself is `HEADRACE_TEST_CRASH`, a `CrashPlan`. Prints `ready <url>` and stops on SIGTERM.
 */
import { appendFileSync } from 'node:fs'
import { readConfig } from '../../src/config.ts'
import { createGateway } from '../../src/gateway.ts'
import { presets } from '../../src/providers/registry.ts'
import { keyOfPoint, parsePlan } from './crash-plan.ts'

const plan = parsePlan(process.env['HEADRACE_TEST_CRASH'])
const left = new Map(plan.armed.map((armed) => [keyOfPoint(armed), armed.skip]))

function crash(point: string, when: 'before' | 'after'): void {
  const key = keyOfPoint({ point, when })
  const skip = left.get(key)
  if (skip === undefined) return
  if (skip > 0) {
    left.set(key, skip - 1)
    return
  }
  // In the page cache, which outlives the process: the harness learns what it was that ended it.
  if (plan.report !== null) appendFileSync(plan.report, `${key}\n`)
  process.kill(process.pid, 'SIGKILL')
}

// Bytecode has no `await` at the top.
async function run(): Promise<void> {
  const gateway = await createGateway(readConfig({ env: process.env, cwd: process.cwd(), presets }), {
    crash,
    ...(plan.nowExpression === null ? {} : { nowExpression: plan.nowExpression }),
    ...(plan.fsyncDelayMs === 0 ? {} : { faults: { fsyncDelayMs: plan.fsyncDelayMs } }),
  })
  process.stdout.write(`ready ${gateway.listen().url}\n`)
  process.once('SIGTERM', () => {
    void gateway.stop().then(() => process.exit(0))
  })
}

void run()
