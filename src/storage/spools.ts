import { mkdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spoolLookAgainMs } from '../core/limits/audio.ts'
import type { Database } from './database.ts'

/**
 * This process's folder for uploads. Those of processes that died are removed: now, and once more after `lookAgainMs`,
 * because on PostgreSQL nobody is known to be dead at the first look.
 */
export async function openSpools(
  dataFolder: string,
  database: Database,
  lookAgainMs = spoolLookAgainMs,
): Promise<string> {
  const spools = join(dataFolder, 'spool')
  const spoolFolder = join(spools, database.ownerId)
  mkdirSync(spoolFolder, { recursive: true, mode: 0o700 })
  await removeDeadSpools(spools, database)
  const lookAgain = setTimeout(
    () => void removeDeadSpools(spools, database).catch(() => undefined),
    lookAgainMs,
  )

  lookAgain.unref()
  return spoolFolder
}

/** Audio that processes left behind when they died; each has a folder named after its owner id. */
async function removeDeadSpools(folder: string, database: Database): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name === database.ownerId || !(await database.isOwnerDead(name))) continue
    await rm(join(folder, name), { recursive: true, force: true })
  }
}
