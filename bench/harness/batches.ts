import { batchWaitMs } from './bounds.ts'
import { callerKey, type Headrace } from './headrace.ts'
import { runProgram } from './program.ts'

const itemCount = 10_000

/** CPU of one item of a batch from its acceptance to the batch's end, in microseconds. Throws when it takes too long. */
export async function itemMicrosecondsOf(headrace: Headrace): Promise<number> {
  const startedMs = headrace.process.cpuMs()
  const { id } = await runProgram<{ id: string }>('batch-upload.ts', {
    port: headrace.port,
    path: '/v1/batches',
    headers: { authorization: `Bearer ${callerKey}` },
    model: 'bench/json-1k',
    bytes: itemCount * 1000,
    items: itemCount,
  })
  const endMs = performance.now() + batchWaitMs
  while (headrace.batchStatus(id) !== 'completed') {
    if (performance.now() > endMs) throw new Error('the batch took too long')
    await Bun.sleep(100)
  }
  return ((headrace.process.cpuMs() - startedMs) * 1000) / itemCount
}
