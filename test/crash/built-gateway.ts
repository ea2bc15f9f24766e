import { cpSync, mkdtempSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootFolder } from '../tidy/sources.ts'
import { clearAfterTheEnd } from '../support/after-the-end.ts'

let building: Promise<string> | null = null

/**
 * The program `crashing-gateway.ts` and the thread that writes its database, each as one file of bytecode, which starts in
 * a third of the time of the sources: a campaign starts thousands of them. Built once for each process.
 */
export function builtGateway(): Promise<string> {
  building ??= build()
  return building
}

async function build(): Promise<string> {
  const outdir = mkdtempSync(join(tmpdir(), 'headrace-built-'))
  await clearAfterTheEnd(outdir)
  const storage = join(rootFolder, 'src/storage')
  const entrypoints = [join(import.meta.dir, 'crashing-gateway.ts'), join(storage, 'sqlite/writer-thread.ts')]
  for (const entrypoint of entrypoints) {
    await Bun.build({ entrypoints: [entrypoint], outdir, target: 'bun', format: 'cjs', bytecode: true })
  }
  // The program finds both beside the file that it runs from.
  cpSync(join(storage, 'migrations'), join(outdir, 'migrations'), { recursive: true })
  renameSync(join(outdir, 'writer-thread.js'), join(outdir, 'writer-thread.ts'))
  return join(outdir, 'crashing-gateway.js')
}
