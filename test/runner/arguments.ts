/** What `npm test -- …` was asked for. */
export interface RunArguments {
  /** Parts of paths; a file is run when its path contains one of them. Empty: every file. */
  filters: string[]
  /** For `bun test`, as given. */
  options: string[]
  /** Show all that the files print. */
  isVerbose: boolean
  /** Write down how long each file took, for the order of later runs. */
  keepsTimings: boolean
}

/** Options of `bun test` whose value may be the next argument. */
const takesValue = new Set(['-t', '--test-name-pattern', '--timeout', '--seed', '--rerun-each', '--bail'])

/** Splits the arguments; a value that belongs to an option stays behind it. */
export function parseArguments(given: readonly string[]): RunArguments {
  const filters: string[] = []
  const options: string[] = []
  let isVerbose = false
  let keepsTimings = false
  let expectsValue = false
  for (const argument of given) {
    if (argument === '--verbose') isVerbose = true
    else if (argument === '--keep-timings') keepsTimings = true
    else if (expectsValue || argument.startsWith('-')) options.push(argument)
    else filters.push(argument)
    expectsValue = !expectsValue && takesValue.has(argument)
  }
  return { filters, options, isVerbose, keepsTimings }
}

/** Long proofs have their own command (`npm run prove`), and benchmarks prove nothing about correctness. */
const excluded = /^(test\/sabotage|bench)\//

/** The files of a run, as `bun test` takes them: with `./`, so that none is mistaken for a pattern. */
export function selectFiles(files: readonly string[], filters: readonly string[]): string[] {
  return files
    .filter((file) => !excluded.test(file))
    .filter(
      (file) => filters.length === 0 || filters.some((part) => file.includes(part.replace(/^\.\//, ''))),
    )
    .map((file) => `./${file}`)
}
