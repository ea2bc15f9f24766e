import { expect, test } from 'bun:test'
import type { PreparedCaptures } from '../../billing/billing.ts'
import type { Database } from '../../storage/database.ts'
import { GuardFailed, StorageFailure, storageUnavailable } from '../../storage/database.ts'
import { createCommitter, uncertainCommitsMax } from '../committer.ts'
import { leaseGuard } from '../running/segment-repository.ts'
import type { FinishedItem, PartWriterDependencies } from './part-writer.ts'
import { PartWriter, partDoubtsMax, partInlineBytesMax } from './part-writer.ts'
import { Ramp, itemsAtRiskStart, partGatherMinMs } from '../running/ramp.ts'

const lost = storageUnavailable(new StorageFailure('lost', { uncertain: true }))

function leaseOf(itemCount: number) {
  const done = new Uint8Array(Math.ceil(itemCount / 8))
  return { batchId: 'batch_1', ordinal: 0, firstItem: 0, itemCount, epoch: 1, done, doneCount: 0 }
}

function itemOf(index: number): FinishedItem {
  return {
    index,
    item: index,
    line: Buffer.from('{}\n'),
    usage: null,
    error: { type: 'internal', message: 'Internal server error.', param: null },
    capture: null,
    move: null,
  }
}

/** A writer whose commits get no answer, and whose store answers no question until the test calls `answer`. */
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
  const database = { commit: () => Promise.reject(lost) } as unknown as Database
  const dependencies = {
    lease: leaseOf(1),
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
  } as unknown as PartWriterDependencies
  const writer = new PartWriter(dependencies)
  writer.add({ ...itemOf(0), capture: { hold: { id: 'hold_1', amount: 1n }, row: {} } as never })
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

test('a part that became real after it had been looked for is kept, with its blob', async () => {
  const told: string[] = []
  const deleted: string[] = []
  const found = [false, true]
  const answers = Array.from({ length: uncertainCommitsMax }, (): Error => lost)
  const clock = { nowMs: () => 1, monotonicMs: () => 1 }
  const pause = async () => undefined
  // The repetition finds the rows of the late commit, so its guard fails.
  const database = {
    commit: () => Promise.reject(answers.shift() ?? new GuardFailed(leaseGuard, 'part.commit')),
  }
  const writer = new PartWriter({
    lease: leaseOf(1),
    owner: 'me',
    committer: createCommitter({ database: database as unknown as Database, pause, crash: null }),
    parts: { exists: async () => found.shift() ?? true },
    payloads: {
      compress: async () => new Uint8Array(partInlineBytesMax + 1),
      putPart: async () => 'blob_1',
      delete: async (blob: string) => void deleted.push(blob),
    },
    money: {
      prepareCaptures: () => ({
        statements: [],
        committed: () => void told.push('committed'),
        failed: () => void told.push('failed'),
      }),
      release: () => undefined,
    },
    pause,
    clock,
    ramp: new Ramp(clock),
    onHeld: () => undefined,
    onLost: () => void told.push('lost'),
    onSettled: () => undefined,
  } as unknown as PartWriterDependencies)
  writer.add(itemOf(0))
  await writer.flush()
  expect(told).toEqual(['failed', 'committed'])
  expect([writer.isLost, writer.doneCount, deleted]).toEqual([false, 1, []])
})

/** A writer of a process that has just started, on storage that works. */
function young() {
  const pauses: number[] = []
  const partSizes: number[] = []
  const prepared = { statements: [], committed: () => undefined, failed: () => undefined }
  const clock = { nowMs: () => 1, monotonicMs: () => 1 }
  const ramp = new Ramp(clock)
  const writer = new PartWriter({
    lease: leaseOf(100),
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
  } as unknown as PartWriterDependencies)
  const add = (index: number): void => writer.add(itemOf(index))
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
