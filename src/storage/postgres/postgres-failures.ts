import { StorageFailure, storageUnavailable, UniqueViolation } from '../database.ts'
import { withoutPartition } from './partitions.ts'

/** What a failed statement or connection means. */
export type FailureKind =
  /** The server is gone, out of resources or not writable: other statements would fail in the same way. */
  | 'unavailable'
  /** The transaction lost against another one, or was idle too long while this process was frozen; it may be tried again. */
  | 'conflict'
  | 'unique'
  /** The statement is wrong: a bug. */
  | 'statement'

/** The class of a thrown value, from SQLSTATE or from the driver's own code. */
export function classify(thrown: unknown): FailureKind {
  const state = textOf(thrown, 'errno')
  if (state === null || !/^[0-9A-Z]{5}$/.test(state))
    return isDriverFailure(thrown) ? 'unavailable' : 'statement'
  if (state === '23505') return 'unique'
  if (/^(40001|40P01|55P03|25P03|25P04)$/.test(state)) return 'conflict'
  // The server ended the connection, whatever code it gives; managed servers and poolers use XX000.
  if (/^(FATAL|PANIC)$/.test(textOf(thrown, 'severity') ?? '')) return 'unavailable'
  // 08 connection, 28 and 3D sign-in, 53 resources, 57 stopped or cancelled, 58 input and output, 25006 a read-only standby.
  return /^(08|28|3D|53|57|58|25006)/.test(state) ? 'unavailable' : 'statement'
}

/** The caller's error for a thrown value; an error that is not the database's passes unchanged. */
export function toCallerError(thrown: unknown, unitName: string): Error {
  if (!isDatabaseError(thrown)) return thrown instanceof Error ? thrown : new Error(messageOf(thrown))
  const kind = classify(thrown)
  if (kind === 'unique') {
    const names = [textOf(thrown, 'table'), textOf(thrown, 'constraint')] as const
    return new UniqueViolation(withoutPartition(names[0]), withoutPartition(names[1]))
  }
  if (kind === 'statement') return new Error(`unit "${unitName}": ${messageOf(thrown)}`, { cause: thrown })
  return unavailable(thrown, false)
}

/** The error for a server that cannot answer. */
export function unavailable(thrown: unknown, uncertain: boolean): Error {
  const code = textOf(thrown, 'errno') ?? textOf(thrown, 'code')
  return storageUnavailable(new StorageFailure(messageOf(thrown), { code, uncertain, cause: thrown }))
}

/** False for our own errors (guards, assertions, schema), which pass unchanged. */
function isDatabaseError(thrown: unknown): boolean {
  return textOf(thrown, 'code') !== null || thrown instanceof DOMException
}

function isDriverFailure(thrown: unknown): boolean {
  const code = textOf(thrown, 'code') ?? ''
  if (thrown instanceof DOMException) return true
  return /CONN|TIMEOUT|CLOSED|LIFETIME|EPIPE|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ENOENT|TLS|SSL|AUTH|DNS/i.test(
    code,
  )
}

function textOf(thrown: unknown, property: string): string | null {
  if (typeof thrown !== 'object' || thrown === null) return null
  const value = (thrown as Record<string, unknown>)[property]
  return typeof value === 'string' ? value : null
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
