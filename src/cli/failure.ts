/**
 * A failure that a command reports in one line, with the next command if there is one. Exit code 1, or 2 for a wrong
 * command line.
 */
export class CommandFailure extends Error {
  readonly exitCode: number
  /** Whether the same request may succeed soon, because the gateway is unreachable or busy. */
  readonly isPassing: boolean

  constructor(message: string, options: { exitCode?: number; isPassing?: boolean } = {}) {
    super(message)
    this.name = 'CommandFailure'
    this.exitCode = options.exitCode ?? 1
    this.isPassing = options.isPassing ?? false
  }
}

/** A command line that cannot be understood. */
export function usageFailure(message: string, command: string): CommandFailure {
  return new CommandFailure(`${message} See "npx headrace ${command} --help".`, { exitCode: 2 })
}

/** The problems of the configuration, if the thrown error is about them; otherwise null. */
export function configProblemsOf(error: unknown): readonly string[] | null {
  if (!(error instanceof Error) || error.name !== 'ConfigError') return null
  const problems = 'problems' in error ? error.problems : null
  return Array.isArray(problems) ? problems.map(String) : [error.message]
}
