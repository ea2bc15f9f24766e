import { chatReplies } from '../../../bench/harness/replies.ts'
import { headraceTarget, type Target } from '../../../bench/harness/target.ts'
import { runPairs } from '../paired-runs.ts'
import { notRun, type Proof } from '../proof.ts'
import { checkOut } from '../../../bench/harness/checkout.ts'
import { versionOfOneFormat } from '../earlier-versions.ts'

/** What the issue asks of each, in one run. */
const ratiosMax = { json: 0.85, stream: 1, translated: 2.5 } as const

export const proof: Proof = {
  title: 'speed of the same format now to before, and of a translated stream to one that passes through',
  async run() {
    const before = checkOut(versionOfOneFormat)
    if (before === null) return notRun('the history does not reach back to the version before')
    return runPairs(async (start) => {
      const old = await start.gateway('before', { root: before, replies: chatReplies })
      const current = await start.gateway('now')
      const pair = (what: string, reply: string, ratioMax: number) => ({
        what,
        names: ['before', 'now'] as const,
        first: [headraceTarget(old, reply, 1000)],
        second: [headraceTarget(current, reply, 1000)],
        ratioMax,
      })
      const passed = headraceTarget(current, 'sse-50', 1000)
      const translated = (what: string, second: Target) => ({
        what,
        names: ['passed through', 'translated'] as const,
        first: [passed],
        second: [second],
        ratioMax: ratiosMax.translated,
      })
      return [
        pair('a JSON call of 1 kB', 'json-1k', ratiosMax.json),
        pair('a stream of 50 chunks', 'sse-50', ratiosMax.stream),
        translated('the same stream for a caller of messages', askedInMessages(passed)),
        translated('the same stream for a caller of responses', askedInResponses(passed)),
      ]
    })
  },
}

interface ChatBody {
  model: string
  messages: { role: string; content: string }[]
}

function askedInMessages(target: Target): Target {
  const { model, messages } = JSON.parse(target.body) as ChatBody
  const body = JSON.stringify({ model, max_tokens: 1_000, messages, stream: true })
  return { ...target, path: '/v1/messages', body }
}

function askedInResponses(target: Target): Target {
  const { model, messages } = JSON.parse(target.body) as ChatBody
  return { ...target, path: '/v1/responses', body: JSON.stringify({ model, input: messages, stream: true }) }
}
