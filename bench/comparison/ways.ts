import { itemMicrosecondsOf } from '../harness/batches.ts'
import { saturatedConnections } from '../harness/bounds.ts'
import { loadInRounds } from '../harness/rounds.ts'
import { headraceTarget, messagesTarget, type Target } from '../harness/target.ts'
import { names } from './field.ts'
import type { Run } from './comparison.ts'

/** How a call of one format reaches a provider of another; the first is not translated. */
export const ways = ['passed through', 'chat to Anthropic', 'chat to Gemini', 'messages to OpenAI'] as const

/** CPU of translated calls and streams beside the same that passes through, and of a batch's item beside the call. */
export async function translatedCalls(run: Run): Promise<void> {
  const { own } = run.field
  const asked = {
    json: [
      headraceTarget(own, 'json-1k', 1000),
      headraceTarget(own, 'messages-1k', 1000),
      headraceTarget(own, 'gemini-1k', 1000),
      messagesTarget(own, 'json-1k', 1000),
    ],
    stream: [
      headraceTarget(own, 'sse-50', 1000),
      headraceTarget(own, 'messages-50', 1000),
      headraceTarget(own, 'gemini-50', 1000),
      messagesTarget(own, 'sse-50', 1000),
    ],
  } as const
  await costOfWays('translated JSON', asked.json, run)
  await costOfWays('translated stream', asked.stream, run)
  run.sheet.put('item', names.own, [await itemMicrosecondsOf(own)])
  // The call in the ways' own rounds, which came last before the batch.
  const call = run.sheet.valueOf('translated JSON', ways[0])
  run.sheet.put('call', names.own, call === null ? [] : [call])
}

async function costOfWays(
  column: string,
  asked: readonly Target[],
  { sheet, scale, field }: Run,
): Promise<void> {
  const targets = asked.map((target, index) => ({ ...target, name: ways[index] ?? target.name }))
  const samples = await loadInRounds(targets, {
    folder: field.folder,
    connections: saturatedConnections,
    rounds: scale.rounds,
    seconds: scale.seconds,
    warmSeconds: scale.warmSeconds,
  })
  for (const [way, rounds] of samples) {
    const failed = rounds.reduce((total, { failures }) => total + failures, 0)
    if (failed > 0 || rounds.some(({ requests }) => requests === 0))
      sheet.leaveOut(column, way, `${failed} of its calls failed`)
    else
      sheet.put(
        column,
        way,
        rounds.map(({ cpuMicroseconds }) => cpuMicroseconds),
      )
  }
}
