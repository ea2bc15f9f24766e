import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Folders of the source that are no source. */
const besides: ReadonlySet<string> = new Set(['dist', 'node_modules'])

/** The files that a build is made from. */
export interface ConsoleSource {
  /** Tells whether anything may have changed, by names, sizes and times alone. */
  readSignature(): Promise<string>
  /** A hash of all contents, and of the program that builds. */
  readHash(): Promise<string>
}

/** The console's source in a folder; `lock` is the file with the versions of its packages. */
export function createConsoleSource({ folder, lock }: { folder: string; lock: string }): ConsoleSource {
  return {
    async readSignature() {
      const parts = []
      for (const path of [...(await listFiles(folder)), lock]) {
        const facts = await stat(path).catch(() => null)
        parts.push(`${path} ${facts?.size} ${facts?.mtimeMs}`)
      }
      return parts.join('\n')
    },
    async readHash() {
      const digest = createHash('sha256').update(Bun.version)
      for (const path of [...(await listFiles(folder)), lock]) {
        const bytes = await readFile(path).catch(() => new Uint8Array(0))
        digest.update(`\n${path.slice(folder.length)} ${bytes.length}\n`).update(bytes)
      }
      return digest.digest('hex').slice(0, 32)
    },
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = []
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isFile()) found.push(path)
    else if (entry.isDirectory() && !besides.has(entry.name)) found.push(...(await listFiles(path)))
  }
  return found
}
