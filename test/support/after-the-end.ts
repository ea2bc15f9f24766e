import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Waits until the process has ended, then ends every database server whose data lie in the folder or one level below, and
 * every other server whose id stands there in a file `server.pid`, and removes the folder. Other programs of the process may write there until they end, so the removal is repeated.
 */
const script = `
  trap '' INT TERM HUP
  {
    while kill -0 "$1"; do sleep 0.5; done
    for file in "$2"/data/postmaster.pid "$2"/*/data/postmaster.pid "$2"/server.pid "$2"/*/server.pid; do
      [ -f "$file" ] && kill -QUIT "$(head -n 1 "$file")"
    done
    for try in 1 2 3 4 5 6 7 8 9 10; do
      rm -rf "$2" && break
      sleep 0.5
    done
  } </dev/null >/dev/null 2>&1 &
`

/**
 * Makes sure that `folder` and the servers below it are gone once this process has ended, however it ends: a
 * killed process runs no exit handler. A separate session without a parent does it, because a signal to a process group
 * ends all its members.
 */
export async function clearAfterTheEnd(folder: string): Promise<void> {
  const shell = Bun.spawn(['sh', '-c', script, 'sh', String(process.pid), folder], {
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
    // A run that hides programs from itself must not hide `sleep` from this script, which would then spin.
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` },
  })
  // From here on the script is no longer a descendant.
  await shell.exited
}

/** Whether there is a process with this id. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The process id of the first database server whose data lie below the folder; null when there is none. */
export function serverBelow(folder: string): number | null {
  const [name] = [...new Bun.Glob('**/data/postmaster.pid').scanSync(folder)]
  return name === undefined ? null : Number(readFileSync(join(folder, name), 'utf8').split('\n')[0])
}

/** A folder for all files of one run; `remove` is for an ordinary end. */
export interface RunFolder {
  path: string
  remove(): void
}

/** Makes the folder, and uses it for temporary files of this process and of those it starts. */
export async function createRunFolder(prefix: string): Promise<RunFolder> {
  const path = mkdtempSync(join(tmpdir(), prefix))
  // A database server under another user starts below it.
  chmodSync(path, 0o755)
  await clearAfterTheEnd(path)
  process.env['TMPDIR'] = path
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
