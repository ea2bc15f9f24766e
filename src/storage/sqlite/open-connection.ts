import { Database as Sqlite } from 'bun:sqlite'
import { closeSync, existsSync, openSync } from 'node:fs'
import { sqliteBusyMs } from '../../core/limits/storage.ts'

/**
 * Opens the connection that writes, creating file and folder entries. The caller holds the file lock. A new file is its
 * owner's alone, and SQLite gives its log the same rights: short answers of batches stand in rows.
 */
export function openWriting(path: string): Sqlite {
  // Only while it is new: closing a file that SQLite has open elsewhere in the process gives its locks away.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const connection = new Sqlite(path, { create: true, readwrite: true, safeIntegers: true })
  try {
    // First of all: the very next pragma already needs the lock that others may hold.
    connection.run(`pragma busy_timeout = ${sqliteBusyMs}`)
    connection.run('pragma journal_mode = wal')
    // Grouped commits cost the same as with `normal`, and only `full` survives a power cut.
    connection.run('pragma synchronous = full')
    connection.run('pragma foreign_keys = on')
    // What savepoints would put into files of their own, which is opened and deleted again with every transaction.
    connection.run('pragma temp_store = memory')
    // After a large unit the log would otherwise stay that large for ever.
    connection.run('pragma journal_size_limit = 67108864')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opens a connection that only reads. It never waits for a lock: it lives on the thread that serves everybody. */
export function openReading(path: string): Sqlite {
  const connection = new Sqlite(path, { readonly: true, safeIntegers: true })
  connection.run('pragma busy_timeout = 0')
  return connection
}
