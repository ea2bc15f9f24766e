import { parseArgs, type ParseArgsConfig } from 'node:util'
import { usageFailure } from './failure.ts'
import { suggestionFor } from './suggestion.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** A command's words and options. */
export interface Parsed {
  words: readonly string[]
  /** Names of the options that were given. */
  given: readonly string[]
  text(name: string): string | undefined
  isOn(name: string): boolean
}

/** Reads a command's arguments. Throws a usage failure for an unknown option or more words than `wordsMax`. */
export function parseArguments(
  command: string,
  args: readonly string[],
  options: Options,
  wordsMax: number,
): Parsed {
  let parsed: { values: Record<string, unknown>; positionals: string[] }
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw usageFailure(problemOf(error, Object.keys(options)), command)
  }
  const extra = parsed.positionals[wordsMax]
  if (extra !== undefined) throw usageFailure(`"${extra}" is not expected here.`, command)
  const { values, positionals } = parsed
  return {
    words: positionals,
    given: Object.keys(values),
    text: (name) => (typeof values[name] === 'string' ? values[name] : undefined),
    isOn: (name) => values[name] === true,
  }
}

/** The first sentence of the parser's message, and the option that the user probably meant. */
function problemOf(error: unknown, known: readonly string[]): string {
  const message = error instanceof Error ? error.message : ''
  const [problem = ''] = message.split(/\.?\n|\. |\.$/)
  const typed = /^Unknown option '(--[^']*)'/.exec(problem)?.[1]
  const meant =
    typed === undefined
      ? ''
      : suggestionFor(
          typed,
          [...known, 'help'].map((name) => `--${name}`),
        )
  return `${problem || 'The options cannot be read'}.${meant}`
}
