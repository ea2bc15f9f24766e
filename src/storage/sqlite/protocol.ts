import type { Row, SqlValue, StorageFaults } from '../database.ts'

/** A statement for the writer thread: its number in the statement table, and the other members of `Statement`. */
export type WireStatement = [
  statement: number,
  params: readonly SqlValue[] | null,
  rows: readonly (readonly SqlValue[])[] | null,
  /** -1 when the statement has no guard. */
  expect: number,
]

/** A unit for the writer thread. */
export type WireUnit = WireStatement[]

/** Why a unit failed. */
export type WireFailure =
  | { kind: 'guard'; statement: number }
  | { kind: 'unique'; table: string | null; constraint: string | null }
  | { kind: 'unavailable'; code: string | null; message: string; uncertain: boolean }
  /** The statement itself is wrong: a bug. */
  | { kind: 'statement'; code: string | null; message: string }

/** The outcome of a unit: null when no rows were returned, the rows of every statement, or the reason of its failure. */
export type WireOutcome = null | Row[][] | WireFailure

/** What the writer thread needs to open the database. */
export interface WriterOptions {
  path: string
  ownerId: string
  migrate: boolean
  nowExpression: string | null
  faults: StorageFaults
}

/** Messages to the writer thread. It gets at most one `group` at a time. */
export type ToWriter =
  | { kind: 'open'; options: WriterOptions }
  /** `statements` are those that are new to the thread; `reset` makes it forget all earlier ones first. */
  | { kind: 'group'; reset: boolean; statements: [number, string][]; units: WireUnit[] }
  | { kind: 'close' }

/** Why the database could not be opened. */
export type OpenFailure =
  | WireFailure
  | { kind: 'schema'; found: number; needed: number }
  | { kind: 'occupied'; occupants: readonly string[] }

/** Messages from the writer thread. */
export type FromWriter =
  | { kind: 'opened'; failure: OpenFailure | null }
  | { kind: 'group'; outcomes: WireOutcome[] }
  | { kind: 'closed' }
