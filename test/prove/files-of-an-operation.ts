import { rootFolder } from '../tidy/sources.ts'
import { notRun, type ProofResult } from './proof.ts'

/** Most files that an operation may touch outside its own folder, the folders of providers, what is generated, and tests. */
const filesMax = 6

/** Which source files the commit that brought an operation touched besides its own. */
export function filesOfOperation({ subject, folder }: { subject: string; folder: string }): ProofResult {
  const log = git('log', '--format=%H', '--fixed-strings', `--grep=${subject}`)
  const commit = log?.split('\n').findLast((line) => line !== '')
  if (commit === undefined) return notRun('the history does not reach back to the commit')
  const touched = git('show', '--name-only', '--format=', commit)?.split('\n') ?? []
  const outside = touched.filter(
    (file) =>
      file.startsWith('src/') &&
      !file.startsWith(folder) &&
      !/^src\/providers\/[\w-]+\//.test(file) &&
      !/\.(?:test|case|gen)\.\w+$/.test(file) &&
      !/^src\/providers\/\w+\.case\.ts$/.test(file),
  )
  return {
    status: outside.length > 0 && outside.length <= filesMax ? 'PASS' : 'FAIL',
    figures: [`${outside.length} files outside ${folder}, at most ${filesMax}: ${outside.join(', ')}`],
  }
}

function git(...args: readonly string[]): string | null {
  const { exitCode, stdout } = Bun.spawnSync(['git', ...args], { cwd: rootFolder, stderr: 'ignore' })
  return exitCode === 0 ? stdout.toString() : null
}
