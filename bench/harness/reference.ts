import { join } from 'node:path'

/** The commit that the code before the first release is held against: it was measured beside other gateways. */
const recorded = '7a5f007234ec43f214b86344bce328d68a96b3cb'

/** A commit that this version is held against, and what it is called. */
export interface Reference {
  name: string
  commit: string
}

/** The last release before this commit, else the recorded commit. */
export function referenceCommit(): Reference {
  const tag = gitLine(['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD'])
  const commit = tag === null ? null : gitLine(['rev-parse', `${tag}^{commit}`])
  if (tag !== null && commit !== null) return { name: `release ${tag}`, commit }
  return { name: 'the recorded commit', commit: recorded }
}

function gitLine(args: readonly string[]): string | null {
  const asked = Bun.spawnSync(['git', ...args], {
    cwd: join(import.meta.dir, '../..'),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return asked.exitCode === 0 ? asked.stdout.toString().trim() : null
}
