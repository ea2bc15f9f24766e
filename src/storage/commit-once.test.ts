import { expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { answerOf, askUntilAnswered, commitOnce, CommitUnknown } from './commit-once.ts'
import type { CommitOptions, CommitOutcome } from './commit-once.ts'
import { GuardFailed, StorageFailure, storageUnavailable, UniqueViolation } from './database.ts'
import type { Row, Unit } from './database.ts'

const unit: Unit = { name: 'one', statements: [{ sql: 'select 1' }] }
const lost = storageUnavailable(new StorageFailure('no answer', { uncertain: true }))
const outage = storageUnavailable(new StorageFailure('disk full'))
const guard = new GuardFailed('enough', 'one')
const duplicate = new UniqueViolation('parts', 'parts_pkey')
const fault = new Error('no such column')

/** A database that answers one commit after the other so: with rows, or by throwing. */
function answering(...answers: (Row[][] | Error)[]) {
  const sent: Unit[] = []
  return {
    sent,
    commit(given: Unit): Promise<Row[][]> {
      sent.push(given)
      const next = answers.shift()
      if (next === undefined) throw new Error('more commits than the test expects')
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
    },
  }
}

function patient(change: Partial<CommitOptions> = {}): CommitOptions & { waits: number[] } {
  const waits: number[] = []
  return {
    waits,
    patience: { triesMax: 4, waitMs: 50, waitMsMax: 150 },
    isSentAfterOutage: false,
    sleep: async (milliseconds) => void waits.push(milliseconds),
    ...change,
  }
}

/** The outcome in a word or two. */
function told(outcome: CommitOutcome): string {
  return outcome.type === 'refused' ? `refused by ${outcome.by}` : outcome.type
}

test('a unit that is committed brings its rows, and is sent once', async () => {
  const database = answering([[{ a: 1 }]])
  expect(await commitOnce(database, unit)).toEqual({ type: 'committed', rows: [[{ a: 1 }]] })
  expect(database.sent).toEqual([unit])
})

test('without repetitions the first try decides the outcome', async () => {
  const first = async (answer: Error) => told(await commitOnce(answering(answer), unit))
  expect(await first(guard)).toBe('refused by guard')
  expect(await first(duplicate)).toBe('refused by duplicate')
  expect(await first(outage)).toBe('refused by outage')
  expect(await first(fault)).toBe('refused by fault')
  expect(await first(lost)).toBe('unknown')
  // This error does not prove that the unit left no trace.
  expect(await first(new GatewayError('storage_unavailable', 'gone'))).toBe('unknown')
})

test('a unit without an answer is sent again, made anew each time, with waits that double to the longest', async () => {
  const database = answering(lost, lost, lost, [])
  let made = 0
  const make = (): Unit => ({ name: `try ${(made += 1)}`, statements: [] })
  const unanswered: Error[] = []
  const options = patient({ onUnanswered: (error) => void unanswered.push(error) })
  expect(told(await commitOnce(database, make, options))).toBe('committed')
  expect(database.sent.map(({ name }) => name)).toEqual(['try 1', 'try 2', 'try 3', 'try 4'])
  expect(options.waits).toEqual([50, 100, 150])
  expect(unanswered).toHaveLength(3)
})

test('a unit that stays without an answer is unknown, and the proof is not asked: the unit may still be committed', async () => {
  let asked = 0
  const proof = async () => (asked += 1) > 0
  const options = patient({ proof })
  expect(told(await commitOnce(answering(lost, lost, lost, lost), unit, options))).toBe('unknown')
  expect([asked, options.waits]).toEqual([0, [50, 100, 150]])
})

for (const [by, refusal] of [
  ['guard', guard],
  ['duplicate', duplicate],
] as const) {
  test(`a repetition refused by a ${by} was committed before when the proof finds it, and else refused`, async () => {
    const judged = async (proof: () => Promise<boolean>) =>
      told(await commitOnce(answering(lost, refusal), unit, patient({ proof })))
    expect(await judged(async () => true)).toBe('committed')
    expect(await judged(async () => false)).toBe(`refused by ${by}`)
    expect(await judged(() => Promise.reject(outage))).toBe('unknown')
  })

  test(`a first try refused by a ${by} asks no proof, unless an earlier commit is in doubt`, async () => {
    const proof = async () => true
    expect(told(await commitOnce(answering(refusal), unit, patient({ proof })))).toBe(`refused by ${by}`)
    const doubtful = patient({ proof, isInDoubt: true })
    expect(told(await commitOnce(answering(refusal), unit, doubtful))).toBe('committed')
  })
}

test('an outage or a fault proves nothing about the try before it', async () => {
  const proof = async () => false
  expect(told(await commitOnce(answering(lost, outage), unit, patient({ proof })))).toBe('unknown')
  expect(told(await commitOnce(answering(lost, fault), unit, patient({ proof })))).toBe('unknown')
  const doubtful = patient({ proof, isInDoubt: true })
  expect(told(await commitOnce(answering(outage), unit, doubtful))).toBe('unknown')
})

test('after an outage a unit is sent again only if the caller’s options say so', async () => {
  expect(told(await commitOnce(answering(outage), unit, patient()))).toBe('refused by outage')
  const enduring = patient({ isSentAfterOutage: true })
  expect(told(await commitOnce(answering(outage, outage, []), unit, enduring))).toBe('committed')
  const never = answering(outage, outage, outage, outage)
  expect(told(await commitOnce(never, unit, patient({ isSentAfterOutage: true })))).toBe('refused by outage')
})

test('a fault is never sent again', async () => {
  const database = answering(fault)
  const options = patient({ isSentAfterOutage: true })
  expect(told(await commitOnce(database, unit, options))).toBe('refused by fault')
  expect([database.sent.length, options.waits]).toEqual([1, []])
})

test('an answer is a commit or a refusal by the data; everything else is thrown', async () => {
  const answered = async (answer: Row[][] | Error) => answerOf(await commitOnce(answering(answer), unit))
  expect((await answered([])).type).toBe('committed')
  expect(await answered(guard)).toMatchObject({ by: 'guard', guard: 'enough' })
  expect(await answered(duplicate)).toMatchObject({ by: 'duplicate', guard: 'parts' })
  expect(answered(outage)).rejects.toBe(outage)
  expect(answered(fault)).rejects.toBe(fault)
  const unknown = await answered(lost).catch((thrown: unknown) => thrown)
  expect(unknown).toBeInstanceOf(CommitUnknown)
  // Code without knowledge of units treats it as unavailable storage.
  expect(unknown).toMatchObject({ type: 'storage_unavailable', retryAfterSeconds: 1, cause: lost })
})

test('a question is asked until it is answered, and no more often than it may be', async () => {
  const ask = async (failures: number) => {
    let asked = 0
    const waits: number[] = []
    const answer = await askUntilAnswered(
      () => ((asked += 1) > failures ? Promise.resolve(true) : Promise.reject(outage)),
      { triesMax: 3, waitMs: 10, waitMsMax: 15 },
      async (milliseconds) => void waits.push(milliseconds),
    )
    return { answer, asked, waits }
  }
  expect(await ask(0)).toEqual({ answer: true, asked: 1, waits: [] })
  expect(await ask(2)).toEqual({ answer: true, asked: 3, waits: [10, 15] })
  expect(await ask(9)).toEqual({ answer: null, asked: 3, waits: [10, 15] })
})
