import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/storage/open-database.ts'

/**
 * Makes a SQLite file with the schema and no rows: a copy of one that the first test file of a run makes, because every
 * migration with its syncs takes longer than most tests. Outside of a run, whose folder `HEADRACE_TEST_FOLDER` names, there is
 * none to copy, and who opens the file makes the schema.
 */
export async function copyMigratedFile(path: string): Promise<void> {
  const folder = process.env['HEADRACE_TEST_FOLDER']
  if (folder === undefined || existsSync(path)) return
  const template = join(folder, 'migrated.db')
  if (!existsSync(template)) await makeTemplate(template)
  copyFileSync(template, path)
}

/** Several tests may make it at once; the last one’s stays. */
async function makeTemplate(path: string): Promise<void> {
  const own = `${path}.${randomUUID()}`
  await (await openDatabase({ url: `sqlite:${own}` })).close()
  renameSync(own, path)
}
