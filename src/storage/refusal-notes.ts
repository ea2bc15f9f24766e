import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { refusedCallsShownMs } from '../core/limits/billing.ts'

/** Refused calls of one process that are noted beside the database while it is gone, and looked for there. */
const refusalNotesMax = 1_000

/**
 * A file, named by this process's owner id, of refused calls whose charge may have been written. The database is out of
 * order when such calls are refused, and this process may end before the database is back. The file exists only while
 * there are such calls.
 */
export class RefusalNotes {
  readonly #folder: string
  readonly #path: string
  readonly #open = new Set<string>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(dataFolder: string, ownerId: string) {
    this.#folder = folderOf(dataFolder)
    this.#path = join(this.#folder, ownerId)
  }

  /** Resolves when the call is in the file, or could not be written. */
  add(generationId: string): Promise<unknown> {
    if (this.#open.size >= refusalNotesMax) return this.#last
    this.#open.add(generationId)
    this.#then(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await appendFile(this.#path, `${generationId}\n`, { mode: 0o600 })
    })
    return this.#last
  }

  /** Removes a call whose outcome is in the database now. */
  settle(generationId: string): void {
    if (!this.#open.delete(generationId) || this.#open.size > 0) return
    this.#then(() => rm(this.#path, { force: true }))
  }

  /** Resolves when all calls so far are in the file, or could not be written. */
  flush(): Promise<unknown> {
    return this.#last
  }

  /** Runs writes in order and ignores failures: a full disk may be the reason why calls are refused. */
  #then(work: () => Promise<void>): void {
    this.#last = this.#last.then(work).catch(() => undefined)
  }
}

/** A bounded number of generations that processes noted in this data folder and did not settle. */
export async function listRefusalNotes(dataFolder: string): Promise<string[]> {
  const noted: string[] = []
  for (const path of await listFiles(dataFolder)) {
    const text = await readFile(path, 'utf8').catch(() => '')
    noted.push(...text.split('\n').filter((line) => line !== ''))
    if (noted.length >= refusalNotesMax) break
  }
  return noted.slice(0, refusalNotesMax)
}

/** Removes the files of processes that died too long ago to be reported any more. */
export async function removeOldRefusalNotes(dataFolder: string): Promise<void> {
  for (const path of await listFiles(dataFolder)) {
    const facts = await stat(path).catch(() => null)
    if (facts !== null && Date.now() - facts.mtimeMs > refusedCallsShownMs) await rm(path, { force: true })
  }
}

async function listFiles(dataFolder: string): Promise<string[]> {
  const folder = folderOf(dataFolder)
  const names = await readdir(folder).catch(() => [])
  return names.map((name) => join(folder, name))
}

function folderOf(dataFolder: string): string {
  return join(dataFolder, 'refused')
}
