import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The programs that the launcher and the printed shell script need; none for sound. */
const programs = ['node', 'sh', 'curl', 'sed', 'grep', 'sleep', 'cat']

/** A folder in which no user can write. */
export const readOnlyFolder = '/proc'

/**
 * The environment of a machine without ffmpeg and similar programs, and without a writable folder for temporary files.
 */
export function bareMachine(folder: string): Record<string, string> {
  const path = join(folder, 'bare-bin')
  mkdirSync(path, { recursive: true })
  for (const name of programs) {
    const found = Bun.which(name)
    if (found !== null) symlinkSync(found, join(path, name))
  }
  return { PATH: path, TMPDIR: join(readOnlyFolder, 'tmp') }
}

/** Runs the shell script of `try --print=curl` in a folder that is not writable. */
export async function runScriptReadOnly(
  script: string,
  env: Record<string, string>,
): Promise<{ code: number; output: string }> {
  const child = Bun.spawn(['sh', '-c', script], {
    cwd: readOnlyFolder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, output: output + errors }
}
