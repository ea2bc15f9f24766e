import { constants } from 'node:os'
import { signInUrl } from '../../access/people/sign-in-url.ts'
import { timestamp } from '../amounts.ts'
import { consoleUrlOf } from '../client.ts'
import type { CommandContext, ProviderCheck } from '../context.ts'
import type { SignalListeners } from './process.ts'

/** The running gateway as the command sees it. */
export interface ServedGateway {
  listen(): { url: string; port: number; metricsUrl: string | null }
  stop(): Promise<void>
  /** Logs that the configuration is read only at the start. */
  refuseReload(): void
  checkProviders(): Promise<readonly ProviderCheck[]>
  unpricedModels(): readonly string[]
  withUnknownSurcharges(): readonly string[]
  unservedNames(): readonly string[]
  /** The token that signs the first admin in; null when there were people before. */
  makeFirstLink(): Promise<{ token: string; expiresAtMs: number } | null>
  readonly isSandbox: boolean
  readonly bootstrapped: {
    isNew: boolean
    accountMode: 'prepaid' | 'tracked'
    key: string | null
    managementKey: string | null
  }
}

/** The functions and settings that the loop needs. */
export interface ServeDependencies {
  config: { host: string; port: number; dataFolder: string; databaseUrl: string }
  /** Throws when the process cannot listen on the port; called before anything is created. */
  requirePort: () => void
  create: () => Promise<ServedGateway>
  context: Pick<CommandContext, 'write' | 'writeError'>
  /** Resolves with the signal that asks the process to end. */
  untilSignal: (listeners: SignalListeners) => Promise<NodeJS.Signals>
  /** Milliseconds since the process began. */
  uptimeMs: () => number
}

/** Starts the gateway, prints its start messages, and resolves with the exit code after a signal has stopped it. */
export async function serveUntilSignal(dependencies: ServeDependencies): Promise<number> {
  const { context } = dependencies
  // Listens from the beginning, because the first process of a container ignores signals without a listener.
  let gateway: ServedGateway | null = null
  const signal = dependencies.untilSignal({
    again: () => context.writeError('Still finishing what runs; send SIGKILL to give up on it.\n'),
    reload: () => gateway?.refuseReload(),
  })
  try {
    dependencies.requirePort()
    const started = await Promise.race([dependencies.create(), signal])
    // Nothing runs yet, and the next start repairs anything half done.
    if (typeof started === 'string') return exitCodeOf(started)
    gateway = started
  } catch (error) {
    return refuse(error, dependencies)
  }
  let url: string
  try {
    const listening = gateway.listen()
    const { metricsUrl } = listening
    url = consoleUrlOf(listening.url)
    const metrics = metricsUrl === null ? '' : `Metrics of this process: ${metricsUrl}\n`
    context.write(metrics + greeting(listening.url, gateway, dependencies.uptimeMs()))
  } catch (error) {
    await gateway.stop()
    // Another process took the port after the check. The keys exist already, and no later start shows them.
    const keys = keyLines(gateway)
    if (keys.length > 0) context.write(`${keys.slice(1).join('\n')}\n\n`)
    return refuse(error, dependencies)
  }
  void reportProviders(gateway, context)
  void showFirstLink(gateway, url, context)
  await signal
  context.writeError('Stopping: no new work, finishing what runs…\n')
  await gateway.stop()
  return 0
}

/** The number that shells use for a process ended by a signal. */
function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

function greeting(url: string, gateway: ServedGateway, uptimeMs: number): string {
  const { bootstrapped, isSandbox } = gateway
  const lines = [`Headrace is ready at ${url} (${Math.round(uptimeMs)} ms)`]
  if (isSandbox) {
    lines.push(
      'No provider is configured, so the SIMULATOR answers as provider "sandbox": nothing is real and nothing is charged by anybody.',
      "Set OPENAI_API_KEY (or another provider's key) and start again for real models.",
    )
  }
  lines.push(...keyLines(gateway))
  if (!bootstrapped.isNew)
    lines.push('The keys of the first start are still valid; lost them? npx headrace keys create')
  lines.push('', 'Try everything it does: npx headrace try', '')
  return `${lines.join('\n')}\n`
}

/** The keys that this start created, after an empty line; empty when it created none. */
function keyLines({ bootstrapped: { key, managementKey } }: ServedGateway): string[] {
  if (key === null && managementKey === null) return []
  const lines = ['', 'Shown once, so keep them:']
  if (key !== null) lines.push(`  inference key   ${key}`)
  if (managementKey !== null) lines.push(`  management key  ${managementKey}`)
  return lines
}

/**
 * One plain line on stderr, whether that is a terminal or not; the log never has it. Storage may be out of order for a
 * moment: then the operator makes a link by command.
 */
async function showFirstLink(
  gateway: ServedGateway,
  root: string,
  context: ServeDependencies['context'],
): Promise<void> {
  try {
    const link = await gateway.makeFirstLink()
    if (link !== null)
      context.writeError(
        `Open the console, once and until ${timestamp(link.expiresAtMs)} UTC: ${signInUrl(root, link.token)}\n`,
      )
  } catch {
    context.writeError('No link to the console could be made now. Make one: npx headrace admin link\n')
  }
}

async function reportProviders(gateway: ServedGateway, context: ServeDependencies['context']): Promise<void> {
  if (!gateway.isSandbox) {
    for (const { provider, ok, message } of await gateway.checkProviders()) {
      context.write(`${ok ? '✓' : '✗'} ${provider}: ${message}\n`)
    }
  }
  for (const sentence of gateway.unservedNames()) context.write(`✗ ${sentence}\n`)
  const unpriced = gateway.unpricedModels()
  if (unpriced.length > 0) {
    context.write(
      `Without a known price, served as unpriced on tracked accounts only: ${firstOf(unpriced)}. Set them under "prices".\n`,
    )
  }
  const surcharged = gateway.withUnknownSurcharges()
  if (surcharged.length === 0) return
  context.write(
    `With a surcharge that nobody tells the amount of: ${firstOf(surcharged)}. Calls that ask for it are billed without it. Set it under "prices".\n`,
  )
}

function firstOf(models: readonly string[]): string {
  const more = models.length > 5 ? ` and ${models.length - 5} more` : ''
  return `${models.slice(0, 5).join(', ')}${more}`
}

function refuse(error: unknown, { config, context }: ServeDependencies): number {
  const line = explainFailure(error, config)
  if (line === null) throw error
  context.writeError(`headrace: ${line}\n`)
  return 1
}

/**
 * The reason why a start or an opening of storage failed, in one line with the next command; null when it is a bug. The
 * doctor's own message does not recommend the doctor.
 */
export function explainFailure(
  error: unknown,
  config: ServeDependencies['config'],
  { isDoctor = false } = {},
): string | null {
  const code = codeOrCauseCode(error)
  const message = error instanceof Error ? error.message : String(error)
  if (propertyOf(error, 'syscall') === 'listen' || code === 'EADDRINUSE')
    return explainListening(code, config)
  if (code !== null && folderCodes.has(code)) {
    return `the data folder ${config.dataFolder} cannot be written. Make it writable, or name another: HEADRACE_DATA=/some/folder npx headrace serve`
  }
  if (code === 'ENOSPC' || code === 'SQLITE_FULL')
    return `the disk of ${config.dataFolder} is full. Free some space and start again: npx headrace serve`
  if (error instanceof Error && refusals.has(error.name)) return message
  if (error instanceof Error && error.name === 'GatewayError') {
    // Other errors contain their own remedy, such as two bootstrap keys that are equal.
    if (propertyOf(error, 'type') !== 'storage_unavailable') return message
    return explainStorage(error, config.databaseUrl) + (isDoctor ? '.' : ', then: npx headrace doctor')
  }
  return null
}

/** Errors that contain their own reason and remedy. */
const refusals: ReadonlySet<string> = new Set(['SchemaMismatch', 'SchemaOccupied', 'BlobStoreMismatch'])

const sqlite = 'sqlite:'

/** The failing database or payload store and the reason, without its password, and what to check; no full stop at the end. */
function explainStorage({ message, cause }: Error, databaseUrl: string): string {
  const reason = cause instanceof Error ? ` (${cause.message})` : ''
  const remedy = propertyOf(cause, 'remedy')
  // The payloads are somewhere else than the database, and their failures have a remedy of their own.
  if (typeof remedy === 'string') return `${message}${reason} Payloads: ${remedy}`
  if (!databaseUrl.startsWith(sqlite))
    return `${message}${reason} Check that PostgreSQL runs and what DATABASE_URL says`
  const file = databaseUrl.slice(sqlite.length)
  const code = propertyOf(cause, 'code')
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
    return `${file} cannot be read as a database${reason}. Put it aside and bring back a copy of the data folder`
  return `${message}${reason} Check the database ${file}`
}

const folderCodes: ReadonlySet<string> = new Set([
  'EACCES',
  'EROFS',
  'EPERM',
  'ENOTDIR',
  'EEXIST',
  'ENOENT',
  'SQLITE_READONLY',
  'SQLITE_READONLY_DIRECTORY',
  'SQLITE_CANTOPEN',
])

function explainListening(code: string | null, { host, port }: ServeDependencies['config']): string {
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is taken. Stop the other program, or choose another: HEADRACE_PORT=${port + 1} npx headrace serve`
  if (code === 'EACCES')
    return `port ${port} needs more rights. Choose one above 1023: HEADRACE_PORT=8787 npx headrace serve`
  return `there is no address ${host} on this machine. Use HEADRACE_HOST=127.0.0.1, or 0.0.0.0 for all addresses`
}

/** The code of a failure or of its cause, because storage hides the cause's code from callers. */
function codeOrCauseCode(error: unknown): string | null {
  return propertyOf(error, 'code') ?? (error instanceof Error ? propertyOf(error.cause, 'code') : null)
}

function propertyOf(value: unknown, name: 'code' | 'remedy' | 'syscall' | 'type'): string | null {
  if (typeof value !== 'object' || value === null || !(name in value)) return null
  const found: unknown = (value as Partial<Record<typeof name, unknown>>)[name]
  return typeof found === 'string' ? found : null
}
