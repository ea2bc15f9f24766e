import { expect, test } from 'bun:test'
import type { PreparedCaptures } from '../billing/billing.ts'
import { partDoubtsMax } from '../core/limits.ts'
import { CommitUncertain } from './commit-repository.ts'
import type { PartWriterParts } from './part-writer.ts'
import { PartWriter } from './part-writer.ts'

/** A writer whose commits get no answer, and whose store answers no question until `answer` says what is there. */
function unanswered() {
  const told: string[] = []
  const held = new Set(['hold_1'])
  let questions = 0
  let answer: boolean | null = null
  const prepared: PreparedCaptures = {
    statements: [],
    committed: () => {
      told.push('committed')
      held.clear()
    },
    failed: () => void told.push('failed'),
  }
  const parts = {
    lease: {
      batchId: 'batch_1',
      ordinal: 0,
      firstItem: 0,
      itemCount: 1,
      blob: 'b',
      blobBytes: 1,
      epoch: 1,
      done: new Uint8Array(1),
      doneCount: 0,
    },
    owner: 'me',
    committer: { commit: () => Promise.reject(new CommitUncertain('part.commit')) },
    parts: {
      exists: async () => {
        questions += 1
        if (answer === null) throw new Error('storage is out of order')
        return answer
      },
    },
    payloads: { compress: async (bytes: Uint8Array) => bytes },
    money: {
      prepareCaptures: () => prepared,
      release: ({ id }: { id: string }) => void held.delete(id),
    },
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    clock: { nowMs: () => 1, monotonicMs: () => 1 },
    onLost: () => undefined,
    onSettled: () => undefined,
  } as unknown as PartWriterParts
  const writer = new PartWriter(parts)
  writer.add({
    index: 0,
    item: 0,
    line: Buffer.from('{}\n'),
    usage: null,
    isFailed: false,
    capture: { hold: { id: 'hold_1', amount: 1n }, row: {} } as never,
  })
  const say = async (found: boolean): Promise<void> => {
    answer = found
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { writer, told, held, say, asked: () => questions }
}

for (const [isThere, end] of [
  [true, 'committed'],
  [false, 'failed'],
] as const) {
  test(`a part of which nobody knows for long lets go of its money once it is known: ${end}`, async () => {
    const { writer, told, held, say, asked } = unanswered()
    await writer.flush()
    expect(writer.isLost).toBe(true)
    expect(asked()).toBeGreaterThanOrEqual(partDoubtsMax)
    expect([told, held.size]).toEqual([[], 1])
    await say(isThere)
    expect([told, held.size]).toEqual([[end], 0])
  })
}
