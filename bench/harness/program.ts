import { join } from 'node:path'
import { loadWaitMs } from './bounds.ts'

/** Runs one of the bench's load programs to its end and returns the JSON it prints. Throws when it fails or hangs. */
export async function runProgram<T>(file: string, options: object): Promise<T> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, '..', file), JSON.stringify(options)], {
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: loadWaitMs,
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${file} failed or took longer than ${loadWaitMs} ms.`)
  return JSON.parse(output) as T
}
