import { expect, test } from 'bun:test'
import type { PreparedCaptures } from '../../billing/billing.ts'
import { itemsAtRiskStart, partDoubtsMax, partGatherMinMs } from '../../core/limits/batches.ts'
import type { Database } from '../../storage/database.ts'
import { StorageFailure, storageUnavailable } from '../../storage/database.ts'
import { createCommitter } from '../commit-repository.ts'
import type { PartWriterParts } from './part-writer.ts'
import { PartWriter } from './part-writer.ts'
import { Ramp } from '../running/ramp.ts'

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
  const clock = { nowMs: () => 1, monotonicMs: () => 1 }
  const pause = () => new Promise<void>((resolve) => setImmediate(resolve))
  const lost = storageUnavailable(new StorageFailure('lost', { uncertain: true }))
  const database = { commit: () => Promise.reject(lost) } as unknown as Database
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
    committer: createCommitter({ database, pause, crash: null }),
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
    pause,
    clock,
    ramp: new Ramp(clock),
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

/** A writer of a process that has just started, on storage that works. */
function young() {
  const pauses: number[] = []
  const partSizes: number[] = []
  const prepared = { statements: [], committed: () => undefined, failed: () => undefined }
  const clock = { nowMs: () => 1, monotonicMs: () => 1 }
  const ramp = new Ramp(clock)
  const writer = new PartWriter({
    lease: {
      batchId: 'batch_1',
      ordinal: 0,
      itemCount: 100,
      epoch: 1,
      done: new Uint8Array(13),
      doneCount: 0,
    },
    owner: 'me',
    committer: {
      commitOnce: async (_name: string, statements: readonly { params: unknown[] }[]) => {
        partSizes.push(Number(statements[0]?.params[1]))
        return { type: 'committed', rows: [] }
      },
    },
    payloads: { compress: async (bytes: Uint8Array) => bytes },
    money: { prepareCaptures: () => prepared, release: () => undefined },
    pause: (ms: number) => {
      pauses.push(ms)
      return new Promise(() => undefined)
    },
    clock,
    ramp,
    onLost: () => undefined,
    onSettled: () => undefined,
  } as unknown as PartWriterParts)
  const add = (index: number): void =>
    writer.add({ index, item: index, line: Buffer.from('{}\n'), usage: null, isFailed: true, capture: null })
  return { writer, ramp, pauses, partSizes, add }
}

test('right after a start results gather for a moment, and not at all once they keep items from starting', async () => {
  const { writer, ramp, pauses, partSizes, add } = young()
  add(0)
  expect([pauses, partSizes]).toEqual([[partGatherMinMs], []])
  for (let index = 1; index < itemsAtRiskStart / 2; index += 1) add(index)
  await writer.flush()
  expect(partSizes).toEqual([itemsAtRiskStart / 2])
  expect([ramp.gathered, writer.doneCount]).toEqual([0, itemsAtRiskStart / 2])
})
