import { headraceTarget } from '../../../bench/harness/target.ts'
import { runPairs } from '../paired-runs.ts'
import { notRun, type Proof } from '../proof.ts'
import { checkOut } from '../../../bench/harness/checkout.ts'
import { versionOfSecondAttack } from '../earlier-versions.ts'

/** For this issue and the next together. */
const ratioMax = 1.02

const replies = {
  'a JSON call of 1 kB': 'json-1k',
  'a stream of 50 chunks': 'sse-50',
  'a stream of messages for a caller of chat': 'messages-50',
} as const

export const proof: Proof = {
  title:
    'JSON, streams and translated streams now to before, or within the spread of two gateways of the version before',
  async run() {
    const before = checkOut(versionOfSecondAttack)
    if (before === null) return notRun('the history does not reach back to the version before')
    return runPairs(async (start) => {
      const old = await start.gateway('before', { root: before })
      const again = await start.gateway('before-again', { root: before })
      const current = await start.gateway('now')
      return Object.entries(replies).map(([what, reply]) => ({
        what,
        names: ['before', 'now'] as const,
        first: [old, again].map((gateway) => headraceTarget(gateway, reply, 1000)),
        second: [headraceTarget(current, reply, 1000)],
        ratioMax,
      }))
    })
  },
}
