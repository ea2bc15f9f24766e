import { chatReplies } from '../../../bench/harness/replies.ts'
import { headraceTarget } from '../../../bench/harness/target.ts'
import { runPairs } from '../paired-runs.ts'
import { notRun, type Proof } from '../proof.ts'
import { checkOut } from '../../../bench/harness/checkout.ts'
import { versionOfFirstAttack } from '../earlier-versions.ts'

/** What a call may cost of what it cost before. */
const ratioMax = 1.05

const replies = { 'a JSON call of 1 kB': 'json-1k', 'a stream of 50 chunks': 'sse-50' } as const

export const proof: Proof = {
  title: 'CPU of a JSON call and of a stream: the median of ten interleaved pairs, now to before',
  async run() {
    const before = checkOut(versionOfFirstAttack)
    if (before === null) return notRun('the history does not reach back to the version before')
    return runPairs(async (start) => {
      const old = await start.gateway('before', { root: before, replies: chatReplies })
      const current = await start.gateway('now')
      return Object.entries(replies).map(([what, reply]) => ({
        what,
        names: ['before', 'now'] as const,
        first: [headraceTarget(old, reply, 1000)],
        second: [headraceTarget(current, reply, 1000)],
        ratioMax,
      }))
    })
  },
}
