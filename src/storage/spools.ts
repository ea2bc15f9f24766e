import { mkdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** How long after a start the audio of dead processes is looked for again: well beyond `postgresOwnerGraceMs`. */
const spoolLookAgainMs = 30_000
import type { Database } from './database.ts'

/**
 * Creates this process's folder for uploads and removes those of dead processes: now, and again after `lookAgainMs`,
 * because on PostgreSQL no process is known to be dead at the first look.
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

/** Removes audio that dead processes left behind; each folder is named after its process's owner id. */
async function removeDeadSpools(folder: string, database: Database): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name === database.ownerId || !(await database.isOwnerDead(name))) continue
    await rm(join(folder, name), { recursive: true, force: true })
  }
}
