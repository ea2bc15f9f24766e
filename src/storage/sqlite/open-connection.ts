import { Database as Sqlite } from 'bun:sqlite'
import { closeSync, existsSync, openSync } from 'node:fs'

/** How long a connection may wait for SQLite's own lock; the file lock makes real waits rare. */
const sqliteBusyMs = 5_000

/**
 * Opens the connection that writes, and creates the file. The caller holds the file lock. Only its owner can read a new
 * file, because it contains answers of batches; SQLite gives its log the same rights.
 */
export function openWriting(path: string): Sqlite {
  // Only for a new file: closing a file that SQLite has open elsewhere in this process would release SQLite's locks.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const connection = new Sqlite(path, { create: true, readwrite: true, safeIntegers: true })
  try {
    // Must come first: the next pragma already needs the lock, which another process may hold.
    connection.run(`pragma busy_timeout = ${sqliteBusyMs}`)
    connection.run('pragma journal_mode = wal')
    // Grouped commits cost the same as with `normal`, and only `full` survives a power cut.
    connection.run('pragma synchronous = full')
    connection.run('pragma foreign_keys = on')
    // Otherwise every transaction creates and deletes a file for its savepoints.
    connection.run('pragma temp_store = memory')
    // Otherwise the log stays as large as the largest unit.
    connection.run('pragma journal_size_limit = 67108864')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opens a connection that only reads. It never waits for a lock, because it runs on the main thread. */
export function openReading(path: string): Sqlite {
  const connection = new Sqlite(path, { readonly: true, safeIntegers: true })
  connection.run('pragma busy_timeout = 0')
  return connection
}
