import { isEnded, watchBatch } from '../batch/batch-client.ts'
import { CommandFailure } from '../failure.ts'
import { textOrEmpty } from '../../json/values.ts'
import { createProgress } from '../batch/progress.ts'
import { StepSkipped, type TryStep } from './try-session.ts'

const items = 12

/** A small batch from upload to its last result. */
export const batchStep: TryStep = {
  title: 'Batch',
  subject: ({ models }) => `${items} items for ${models.chat?.id ?? 'no model'}`,
  async run(session) {
    const { client, key, models, signal, nowMs } = session
    if (!models.chat) throw new StepSkipped('no configured provider offers chat')
    const startedMs = nowMs()
    const requests = Array.from({ length: items }, (_, index) => ({
      custom_id: `number-${index + 1}`,
      body: {
        messages: [{ role: 'user', content: `Say the number ${index + 1} in French.` }],
        max_tokens: 50,
      },
    }))
    const body = { endpoint: '/v1/chat/completions', model: models.chat.id, requests }
    const id = textOrEmpty((await client.json('/batches', { key, body, signal }))['id'])
    const progress = createProgress({ ...session, label: '    ', afterMs: session.isTty ? 0 : 1_000 })
    const batch = await watchBatch({
      client,
      key,
      id,
      signal,
      nowMs,
      onChange: ({ completed, failed, total, status }) => progress.update(completed + failed, total, status),
    })
    progress.end()
    if (batch === null || !isEnded(batch))
      throw new CommandFailure(`Left before its end; npx headrace batch watch ${id}`)
    if (batch.status !== 'completed')
      throw new CommandFailure(`The batch ended as ${batch.status}. ${batch.error}`)
    const lines = [`${id}: ${batch.status}, ${batch.completed} answered, ${batch.failed} failed`]
    return { lines, elapsedMs: nowMs() - startedMs, charged: { batchId: id } }
  },
}
