import { batchWaitMs } from './bounds.ts'
import { callerKey, type Headrace } from './headrace.ts'
import { runProgram } from './program.ts'

const usualItems = 10_000

/** The batch that is made: how many items, and bytes of each. */
export interface BatchSize {
  items: number
  bytesPerItem: number
}

/** Makes a batch of chat calls; returns its id. */
export async function makeBatch(
  headrace: Headrace,
  { items, bytesPerItem, model }: BatchSize & { model: string },
): Promise<string> {
  const { id, answer } = await runProgram<{ id: string | null; answer: string }>('batch-upload.ts', {
    port: headrace.port,
    path: '/v1/batches',
    headers: { authorization: `Bearer ${callerKey}` },
    model,
    bytes: items * bytesPerItem,
    items,
  })
  if (id === null) throw new Error(`the batch was answered ${answer}`)
  return id
}

/** CPU of one item of a batch from its acceptance to the batch's end, in microseconds. Throws when it takes too long. */
export async function itemMicrosecondsOf(
  headrace: Headrace,
  { items, bytesPerItem }: BatchSize = { items: usualItems, bytesPerItem: 1000 },
  msMax = batchWaitMs,
): Promise<number> {
  const startedMs = headrace.process.cpuMs()
  const id = await makeBatch(headrace, { items, bytesPerItem, model: 'bench/json-1k' })
  const endMs = performance.now() + msMax
  while (headrace.batchStatus(id) !== 'completed') {
    if (performance.now() > endMs) throw new Error('the batch took too long')
    await Bun.sleep(100)
  }
  return ((headrace.process.cpuMs() - startedMs) * 1000) / items
}
