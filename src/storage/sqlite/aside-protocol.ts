import type { Row, SqlValue } from '../database.ts'

/** Messages to the thread for long reads. It answers in the order of the questions. */
export type ToAside =
  | { kind: 'open'; path: string }
  /** `sql` is SQLite's own. */
  | { kind: 'query'; number: number; sql: string; params: readonly SqlValue[] }
  | { kind: 'close' }

/** Messages from that thread. */
export type FromAside =
  | { kind: 'rows'; number: number; rows: Row[] }
  | { kind: 'failed'; number: number; code: string | null; message: string; isStorage: boolean }
  | { kind: 'closed' }
