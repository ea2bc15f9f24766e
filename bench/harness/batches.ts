import { batchWaitMs } from './bounds.ts'
import { callerKey, type Headrace } from './headrace.ts'
import { runProgram } from './program.ts'

const usualItems = 10_000

/** The batch that is made: how many items, and bytes of each. */
export interface BatchSize {
  items: number
  bytesPerItem: number
}

/** CPU of one item of a batch from its acceptance to the batch's end, in microseconds. Throws when it takes too long. */
export async function itemMicrosecondsOf(
  headrace: Headrace,
  { items, bytesPerItem }: BatchSize = { items: usualItems, bytesPerItem: 1000 },
  msMax = batchWaitMs,
): Promise<number> {
  const startedMs = headrace.process.cpuMs()
  const { id } = await runProgram<{ id: string }>('batch-upload.ts', {
    port: headrace.port,
    path: '/v1/batches',
    headers: { authorization: `Bearer ${callerKey}` },
    model: 'bench/json-1k',
    bytes: items * bytesPerItem,
    items,
  })
  const endMs = performance.now() + msMax
  while (headrace.batchStatus(id) !== 'completed') {
    if (performance.now() > endMs) throw new Error('the batch took too long')
    await Bun.sleep(100)
  }
  return ((headrace.process.cpuMs() - startedMs) * 1000) / items
}
