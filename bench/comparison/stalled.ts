import { startHeadrace } from '../harness/headrace.ts'
import { runProgram } from '../harness/program.ts'
import { headraceTarget } from '../harness/target.ts'
import type { Run } from './comparison.ts'

/** The HTTP clients to a provider. */
export const clients = { socket: 'socket client', fetch: 'fetch' } as const
/** The column of what readers that stall make a gateway keep, in MB. */
export const stalledColumn = 'kept for stalled readers'
/** A stream that is written as fast as it is read. */
const endless = '0-1000000-0'
const lookEveryMs = 250

/** What a gateway keeps of answers that callers asked for and do not read, with each HTTP client to the provider. */
export async function stalledReaders(run: Run): Promise<void> {
  await stalledBefore(clients.socket, undefined, run)
  await stalledBefore(clients.fetch, 'fetch', run)
}

async function stalledBefore(name: string, client: 'fetch' | undefined, run: Run): Promise<void> {
  const { field, scale, sheet, checks } = run
  const { folder, upstreams } = field
  const headrace = await startHeadrace({
    name: `stalled ${name}`,
    folder,
    upstreams,
    isPrepaid: true,
    ...(client === undefined ? {} : { client }),
  })
  field.stopLater(headrace.process)
  try {
    const { port, path, headers, body, process } = headraceTarget(headrace, endless, 400)
    const load = { port, path, headers, body, isStalled: true, seconds: scale.stalledSeconds }
    await runProgram('slow-streams.ts', { ...load, count: 10, seconds: 1 })
    const before = process.anonymousBytes()
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, process.anonymousBytes())
    }, lookEveryMs)
    const count = scale.stalledReaders
    const { answered, open } = await runProgram<{ answered: number; open: number }>('slow-streams.ts', {
      ...load,
      count,
    }).finally(() => clearInterval(timer))
    sheet.put(stalledColumn, name, [(most - before) / 1e6])
    checks.push({
      what: `${count} stalled readers, ${name}: all answered and still there`,
      figure: `${answered} answered, ${open} open`,
      isGood: answered === count && open === count,
    })
  } finally {
    await headrace.process.stop()
  }
}
