import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const own = join(import.meta.dir, '../..')
const checkouts = new Map<string, string>()

/**
 * The root of a checkout of a commit, made at the first call and removed when this process ends; null where the history
 * does not reach back so far, as in a shallow clone. It uses the packages that are installed here.
 */
export function checkOut(commit: string): string | null {
  const known = checkouts.get(commit)
  if (known !== undefined) return known
  if (git(['cat-file', '-e', `${commit}^{commit}`]) !== 0) return null
  const made = mkdtempSync(join(tmpdir(), 'headrace-before-'))
  const root = join(made, 'checkout')
  // A run that was killed left its entry behind, though not its folder.
  git(['worktree', 'prune'])
  if (git(['worktree', 'add', '--detach', '--quiet', root, commit]) !== 0) return null
  symlinkSync(join(own, 'node_modules'), join(root, 'node_modules'))
  process.once('exit', () => {
    if (existsSync(root)) git(['worktree', 'remove', '--force', root])
    rmSync(made, { recursive: true, force: true })
  })
  checkouts.set(commit, root)
  return root
}

/** The commit that a name means, abbreviated; null when there is none. */
export function shortCommit(name: string): string | null {
  const asked = Bun.spawnSync(['git', 'rev-parse', '--short=8', `${name}^{commit}`], {
    cwd: own,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return asked.exitCode === 0 ? asked.stdout.toString().trim() : null
}

/** Whether the working tree differs from its commit, so that a figure is not that commit's. */
export function hasChanges(): boolean {
  const asked = Bun.spawnSync(['git', 'status', '--porcelain', '--', 'src', 'bin', 'package-lock.json'], {
    cwd: own,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return asked.stdout.length > 0
}

function git(args: readonly string[]): number {
  return Bun.spawnSync(['git', ...args], { cwd: own, stdio: ['ignore', 'ignore', 'ignore'] }).exitCode
}
