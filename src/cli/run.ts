import { GatewayError } from '../core/errors.ts'
import type { CommandContext } from './context.ts'
import { CommandFailure, configProblemsOf, usageFailure } from './failure.ts'
import { helpOf } from './help.ts'
import { createPaint } from './paint.ts'
import { suggestionFor } from './suggestion.ts'

type Command = (args: readonly string[], context: CommandContext) => Promise<number>

// Each command is loaded when it runs: a start of the gateway does not need the others.
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: () => Promise.resolve(runServe),
  try: async () => (await import('./try/try.ts')).runTry,
  models: async () => (await import('./models.ts')).runModels,
  prices: async () => (await import('./prices/prices-command.ts')).runPrices,
  batch: async () => (await import('./batch/batch-command.ts')).runBatch,
  keys: async () => (await import('./rules/key-commands.ts')).runKeys,
  usage: async () => (await import('./usage/usage-command.ts')).runUsage,
  requests: async () => (await import('./requests/requests-command.ts')).runRequests,
  credits: async () => (await import('./rules/credits.ts')).runCredits,
  broadcasts: async () => (await import('./broadcasts/broadcasts-command.ts')).runBroadcasts,
  org: async () => (await import('./rules/organization-command.ts')).runOrganization,
  admin: async () => (await import('./rules/admin-command.ts')).runAdmin,
  import: async () => (await import('./import/import.ts')).runImport,
  doctor: async () => (await import('./doctor/doctor.ts')).runDoctor,
  simulator: async () => (await import('./simulator.ts')).runSimulator,
}

const usageExitCode = 2

/**
 * Runs one command line (without the program's name) and resolves with the exit code: 0 for success, 1 for failure, 2
 * for a wrong command line or configuration, 130 after a signal. An expected failure is one line on stderr; any other
 * error rejects.
 */
export async function runCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const mark = createPaint(context.isTty, context.env).red('headrace:')
  try {
    return await dispatch(argv, context)
  } catch (error) {
    const problems = configProblemsOf(error)
    if (problems) {
      for (const problem of problems) context.writeError(`${mark} ${problem}\n`)
      context.writeError(
        'Mend the configuration (docs/configuration.md), then look at it: npx headrace --print-config\n',
      )
      return usageExitCode
    }
    if (error instanceof CommandFailure) {
      context.writeError(`${mark} ${error.message}\n`)
      return error.exitCode
    }
    if (error instanceof GatewayError) {
      context.writeError(`${mark} ${error.message} Next: npx headrace doctor\n`)
      return 1
    }
    throw error
  }
}

async function dispatch(argv: readonly string[], context: CommandContext): Promise<number> {
  const [name = '--help', ...args] = argv
  if (name === '--version' || name === '-v') {
    context.write(`${await version()}\n`)
    return 0
  }
  if (name === '--print-config') {
    context.write(`${context.printConfig(context.readConfig())}\n`)
    return 0
  }
  const isHelp = name === '--help' || name === '-h' || name === 'help'
  const topic = isHelp ? (args[0] ?? '') : name
  const help = Object.hasOwn(helpOf, topic) ? helpOf[topic] : undefined
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (help === undefined || (!isHelp && !command)) {
    const meant = suggestionFor(topic, [...Object.keys(commands), '--help', '--version', '--print-config'])
    throw new CommandFailure(`There is no command "${topic}".${meant} "npx headrace --help" lists them.`, {
      exitCode: usageExitCode,
    })
  }
  if (isHelp || !command || args.includes('--help') || args.includes('-h')) {
    context.write(help)
    return 0
  }
  return (await command())(args, context)
}

async function runServe(args: readonly string[], context: CommandContext): Promise<number> {
  if (args.includes('--print-config')) {
    context.write(`${context.printConfig(context.readConfig())}\n`)
    return 0
  }
  const [first] = args
  if (first !== undefined) throw usageFailure(`"${first}" is not expected here.`, 'serve')
  return context.serve(context.readConfig())
}

async function version(): Promise<string> {
  const description: unknown = await Bun.file(new URL('../../package.json', import.meta.url)).json()
  return (description as { version: string }).version
}
