import { assert } from '../core/assert.ts'
import type { ProviderSettings } from '../providers/deployments.ts'
import { descriptorLimit } from '../transport/descriptors.ts'
import type { CliConfig, CliStorage, CommandContext, ConfigOptions } from './context.ts'
import { askPerson, untilSignal } from './serve/process.ts'
import { type ServedGateway, serveUntilSignal } from './serve/serve-loop.ts'

/**
 * The abilities that only the assembled process has. `Config` is the whole configuration, of which commands see a part.
 */
export interface ProcessDependencies<Config extends CliConfig> {
  env: CommandContext['env']
  readConfig(options?: ConfigOptions): Config
  printConfig(config: Config): string
  createGateway(config: Config): Promise<ServedGateway>
  openStorage(config: Config): Promise<CliStorage>
  startSimulator: CommandContext['startSimulator']
}

/** The real environment of commands: this process, its terminal and its signals. */
export function createCommandContext<
  Config extends CliConfig & { readonly providers: readonly ProviderSettings[]; readonly sharePort: boolean },
>(dependencies: ProcessDependencies<Config>): CommandContext {
  const { env } = dependencies
  const loaded = new WeakMap<CliConfig, Config>()
  const full = (config: CliConfig): Config => {
    const found = loaded.get(config)
    assert(found, 'commands pass on the configuration they were given')
    return found
  }
  const context: CommandContext = {
    env,
    cwd: process.cwd(),
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    isTty: process.stdout.isTTY,
    columns: process.stdout.columns ?? 80,
    ask: askPerson,
    readConfig(options) {
      const config = dependencies.readConfig(options)
      loaded.set(config, config)
      return config
    },
    printConfig: (config) => dependencies.printConfig(full(config)),
    serve: (config) =>
      serveUntilSignal({
        config,
        requirePort: () => requireFreePort(full(config)),
        create: () => dependencies.createGateway(full(config)),
        context,
        untilSignal,
        uptimeMs: () => performance.now(),
      }),
    openStorage: (config) => dependencies.openStorage(full(config)),
    startSimulator: (options) => dependencies.startSimulator(options),
    descriptorLimit,
    async checkProviders(config) {
      const { checkProviders } = await import('./doctor/provider-checks.ts')
      return checkProviders(full(config).providers, { env, file: config.file })
    },
  }
  return context
}

/**
 * Throws the system's error, such as EADDRINUSE, when the process cannot listen on the port. Called before a first
 * start creates keys, because users overlook keys that are printed before an error. It does not try a shared port: such
 * a port is never taken, and a client that connected to this short-lived listener would get no answer.
 */
export function requireFreePort(config: { host: string; port: number; sharePort: boolean }): void {
  if (config.port === 0 || config.sharePort) return
  const probe = Bun.serve({ hostname: config.host, port: config.port, fetch: () => new Response() })
  void probe.stop(true)
}
