import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootFolder } from '../tidy/sources.ts'

/** The version that outsiders attacked first. */
export const versionOfFirstAttack = '9f0b9d51a6fb405fcf871f0c1e6a29f234e26a84'

/** The last version that carried one text format. */
export const versionOfOneFormat = 'bf7a9f9b7853acd441a9942fe537c8d976f342bc'

/** The last version with two formats of providers. */
export const versionOfTwoFormats = '0fc2ac552700d2719740bc2936d417f85bf46484'

/** The version that outsiders attacked for the second time. */
export const versionOfSecondAttack = '7a5f007234ec43f214b86344bce328d68a96b3cb'

const checkouts = new Map<string, string>()

/**
 * The root of a checkout of a version, made at the first call and removed when this process ends; null where the
 * history does not reach back so far, as in a shallow clone.
 */
export function checkOut(version: string): string | null {
  const known = checkouts.get(version)
  if (known !== undefined) return known
  if (git(['cat-file', '-e', `${version}^{commit}`]) !== 0) return null
  const made = mkdtempSync(join(tmpdir(), 'headrace-before-'))
  const root = join(made, 'checkout')
  // A run that was killed left its entry behind, though not its folder.
  git(['worktree', 'prune'])
  if (git(['worktree', 'add', '--detach', '--quiet', root, version]) !== 0) return null
  symlinkSync(join(rootFolder, 'node_modules'), join(root, 'node_modules'))
  process.once('exit', () => {
    if (existsSync(root)) git(['worktree', 'remove', '--force', root])
    rmSync(made, { recursive: true, force: true })
  })
  checkouts.set(version, root)
  return root
}

/** Why a version cannot be started here, or null. */
export function whyNoVersion(version: string): string | null {
  return checkOut(version) === null ? 'the history does not reach back to the version before' : null
}

/** The root of a checkout of a version, of which it is known that there is one. */
export function rootOf(version: string): string {
  const root = checkOut(version)
  if (root === null) throw new Error(`there is no version ${version}`)
  return root
}

function git(args: readonly string[]): number {
  return Bun.spawnSync(['git', ...args], { cwd: rootFolder, stdio: ['ignore', 'ignore', 'ignore'] }).exitCode
}
