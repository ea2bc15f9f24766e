import { bodyWithImage } from '../image-body.ts'
import { chatReplies } from '../../../bench/harness/replies.ts'
import { headraceTarget, type Target } from '../../../bench/harness/target.ts'
import type { Starter } from '../../../bench/harness/beside.ts'
import { runPairs } from '../paired-runs.ts'
import { notRun, type Proof } from '../proof.ts'
import { checkOut } from '../../../bench/harness/checkout.ts'
import { versionOfTwoFormats } from '../earlier-versions.ts'

/** What the issue asks: of a body with an image to copying it, and of everything else to before. */
const ratiosMax = { image: 4, before: 1.05 } as const

const replies = { 'a JSON call of 1 kB': 'json-1k', 'a stream of 50 chunks': 'sse-50' } as const

export const proof: Proof = {
  title: 'a body of 1 MB with an image to copying it; JSON and streams now to before',
  async run() {
    const before = checkOut(versionOfTwoFormats)
    if (before === null) return notRun('the history does not reach back to the version before')
    return runPairs(async (start) => {
      const old = await start.gateway('before', { root: before, replies: chatReplies })
      const current = await start.gateway('now')
      const { copied, passed, translated } = await imageTargets(
        start,
        headraceTarget(current, 'json-1k', 1000),
      )
      const image = (what: string, second: Target) => ({
        what,
        names: ['copied', 'asked'] as const,
        first: [copied],
        second: [second],
        ratioMax: ratiosMax.image,
      })
      return [
        image('a body of 1 MB with an image', passed),
        image('the same for a caller of messages', translated),
        ...Object.entries(replies).map(([what, reply]) => ({
          what,
          names: ['before', 'now'] as const,
          first: [headraceTarget(old, reply, 1000)],
          second: [headraceTarget(current, reply, 1000)],
          ratioMax: ratiosMax.before,
        })),
      ]
    })
  },
}

async function imageTargets(
  start: Starter,
  asked: Target,
): Promise<{ copied: Target; passed: Target; translated: Target }> {
  const { port, process } = await start.copy()
  const { model } = JSON.parse(asked.body) as { model: string }
  const body = bodyWithImage('chat', model)
  return {
    copied: {
      ...asked,
      name: 'bare Bun',
      port,
      process,
      path: '/json-1k/v1/chat/completions',
      body,
      headrace: null,
    },
    passed: { ...asked, body },
    translated: { ...asked, path: '/v1/messages', body: bodyWithImage('messages', model) },
  }
}
