import type { WireFailure } from './protocol.ts'
import { codeOf } from '../../core/error-code.ts'

/**
 * Codes of failures of the medium or the file, not of the statement: trying again later may help. Codes without a prefix
 * are the file system's, from opening the lock file.
 */
const unavailableCodes =
  /^(SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|CANTOPEN|NOMEM|PROTOCOL|CORRUPT|NOTADB|AUTH|PERM|NOLFS)|E(ACCES|PERM|ROFS|NOSPC|IO|NOENT|NOTDIR|ISDIR|MFILE|NFILE)$)/

/** Whether another connection has the database locked for a moment. */
export function isBusy(thrown: unknown): boolean {
  return codeOf(thrown)?.startsWith('SQLITE_BUSY') ?? false
}

/** True when storage itself failed; false when the statement was wrong. */
export function isUnavailable(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return code !== null && unavailableCodes.test(code)
}

/** A thrown value as it is sent to the main thread. */
export function toWireFailure(thrown: unknown, uncertain: boolean): WireFailure {
  const code = codeOf(thrown)
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  if (isUnavailable(thrown)) return { kind: 'unavailable', code, message, uncertain }
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
    return toUnique(code, message)
  return { kind: 'statement', code, message }
}

/** From `UNIQUE constraint failed: parts.batch_id, parts.sequence` to the name PostgreSQL gives the same constraint. */
function toUnique(code: string, message: string): WireFailure {
  const columns = [...message.matchAll(/(\w+)\.(\w+)/g)]
  const table = columns[0]?.[1] ?? null
  if (table === null) return { kind: 'unique', table: null, constraint: null }
  if (code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return { kind: 'unique', table, constraint: `${table}_pkey` }
  return { kind: 'unique', table, constraint: `${table}_${columns.map((column) => column[2]).join('_')}_key` }
}
