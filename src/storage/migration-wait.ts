import { SchemaOccupied } from './database.ts'
import type { DatabaseOptions } from './database.ts'

/** How long a migration that must have the database for itself waits for others to end: longer than a gateway's stop takes. */
const migrationWaitMs = 60_000
/** The pause between two checks for other processes on the database. */
const migrationPauseMs = 250

/**
 * Tries to open a database until no other process keeps a migration from running. Throws the `SchemaOccupied` of the
 * last try when the time is over, and any other failure at once.
 */
export async function untilUnoccupied<T>(
  open: () => Promise<T>,
  options: Pick<DatabaseOptions, 'migrationWaitMs' | 'onMigrationWait'>,
): Promise<T> {
  const endMs = performance.now() + (options.migrationWaitMs ?? migrationWaitMs)
  let isTold = false
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof SchemaOccupied) || performance.now() >= endMs) throw error
      if (!isTold && error.occupants.length > 0) {
        isTold = true
        options.onMigrationWait?.(`waiting for others to end: ${error.message}`)
      }
      await Bun.sleep(migrationPauseMs)
    }
  }
}
