import { createCommandContext } from './cli/command-context.ts'
import type { CommandContext } from './cli/context.ts'
import { flushOutput, outliveReaders } from './cli/serve/process.ts'
import { runCommand } from './cli/run.ts'
import { printConfig, processEnvironment, readConfig, type Config } from './config.ts'
import { outputWaitMs } from './core/limits/telemetry.ts'
import { presets } from './providers/registry.ts'
import { openForCommands } from './stores.ts'

function commandContext(): CommandContext {
  const env = processEnvironment()
  return createCommandContext<Config>({
    env,
    readConfig: (options) => readConfig({ env, cwd: process.cwd(), presets, ...options }),
    printConfig,
    // Loading the whole gateway takes longer than most commands do, and only `serve` runs one here.
    createGateway: async (config) => (await import('./gateway.ts')).createGateway(config),
    openStorage: openForCommands,
    startSimulator: async (options) => (await import('../simulator/server.ts')).startSimulator(options),
  })
}

const argv = Bun.argv.slice(2)
const lost = outliveReaders()
const code = await runCommand(argv, commandContext())
await flushOutput(argv[0] === 'serve' ? outputWaitMs : null, lost)
// A new key's secret that went nowhere is no success.
process.exit(code === 0 && lost.size > 0 && argv[0] !== 'serve' ? 1 : code)
