import { checkProviders, type PresetEnvironment } from './config-providers.ts'
import { isIP, isIPv4 } from 'node:net'
import { resolve } from 'node:path'
import {
  httpUrl,
  readConfigFile,
  secretPattern,
  type ModelPrices,
  type ProviderConfig,
  type ProviderOutline,
} from './config-file.ts'
import type { BatchLimits } from './canonical/batch.ts'
import { type BroadcastConfig, broadcastsOf } from './config-broadcasts.ts'
import { checkNames, type NameConfig } from './config-names.ts'
import { type ObjectStoreConfig, readObjectStore } from './config-payloads.ts'
import { isAmount } from './config-prices.ts'
import { parseCredits } from './core/money.ts'

/**
 * The only reader of the environment. Configuration is the environment and one optional file; it is parsed once into a
 * frozen object, and every problem is reported at once.
 */

/** The settings of the gateway. */
export interface Config {
  readonly host: string
  readonly port: number
  /** Absolute path of the data folder. */
  readonly dataFolder: string
  readonly databaseUrl: string
  /** The server with the payloads of batches; null when they are in the data folder. */
  readonly objectStore: ObjectStoreConfig | null
  /** Prefix of every path behind an ingress, without a trailing slash; empty by default. */
  readonly basePath: string
  readonly trustedProxies: readonly string[]
  /** Hosts, with a port or without, from which media is fetched although they are not public. */
  readonly fetchHosts: readonly string[]
  /** Hosts, with a port or without, to which events may be posted although they are not public. */
  readonly callbackHosts: readonly string[]
  /** Where generations are told. */
  readonly broadcasts: readonly BroadcastConfig[]
  /** How much an organization may queue. */
  readonly batchLimits: BatchLimits
  /** Seals what is stored encrypted; null for a key in the data folder, where one may be. */
  readonly masterKey: string | null
  /** Whether the database is the data folder's own, and not one that was named. */
  readonly isOwnDatabase: boolean
  /** Longest time of a transcription from when its audio is here; null for the usual one. */
  readonly transcriptionMs: number | null
  /** Calls with a surcharge of unknown amount are refused on prepaid and limited accounts. */
  readonly refusesUnknownPrices: boolean
  /** Tokens that are set aside for input that only its provider can count; null for the usual number. */
  readonly uncountedInputTokens: number | null
  /** Bytes that large bodies may take together; null for a part of the memory that there is. */
  readonly bodyMemoryBytes: number | null
  /** How long the record of a finished call may wait for others to be written with it. */
  readonly commitDelayMs: number
  /** How long the log of calls is kept; 0: none is written. */
  readonly requestLogMs: number
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  readonly role: 'all' | 'api' | 'worker'
  /** Several processes of this machine listen on one port; a port in use is then no error. */
  readonly sharePort: boolean
  readonly metrics: {
    /** Must be shown to read them; null: only programs of this machine may. */
    readonly token: string | null
    /** Of an address for the metrics alone; `port` null for none, unless the port is shared. */
    readonly host: string
    readonly port: number | null
  }
  readonly providers: readonly ProviderConfig[]
  readonly prices: Readonly<Record<string, ModelPrices>>
  /** The operator's own names of models, and what other names mean. */
  readonly names: Readonly<Record<string, NameConfig>>
  readonly aliases: Readonly<Record<string, string>>
  readonly bootstrap: {
    readonly creditsNanocredits: bigint | null
    readonly key: string | null
    readonly managementKey: string | null
  }
  /** Where the values came from, for `--print-config`. */
  readonly file: string | null
}

/** What configuration is read from: the environment, the folder of the file, and the providers there are. */
export interface ConfigSources {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  presets: readonly PresetEnvironment[]
  /** Whether the file that the environment names may be missing: a command is about to write it. */
  mayLackFile?: boolean
  /** A file's new text, which a command is about to write. A missing variable or secret in it is not a problem. */
  draft?: { path: string; value: unknown }
}

/** All that is wrong with a configuration, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

const knownVariables = [
  'HEADRACE_DATA',
  'HEADRACE_HOST',
  'HEADRACE_PORT',
  'HEADRACE_CONFIG',
  'HEADRACE_BASE_PATH',
  'HEADRACE_TRUSTED_PROXIES',
  'HEADRACE_LOG_LEVEL',
  'HEADRACE_ROLE',
  'HEADRACE_SHARE_PORT',
  'HEADRACE_METRICS_TOKEN',
  'HEADRACE_METRICS_HOST',
  'HEADRACE_METRICS_PORT',
  'HEADRACE_MASTER_KEY',
  'HEADRACE_BOOTSTRAP_CREDITS',
  'HEADRACE_BOOTSTRAP_KEY',
  'HEADRACE_BOOTSTRAP_MANAGEMENT_KEY',
  // Read by the command line and by tests, not by the server.
  'HEADRACE_URL',
  'HEADRACE_API_KEY',
  'HEADRACE_MANAGEMENT_KEY',
]

/** The process's own environment, for main.ts to hand on. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/** Reads file and environment; the environment wins. Throws ConfigError with every problem found. */
export function readConfig(sources: ConfigSources): Config {
  const problems: string[] = []
  const { env } = sources
  checkVariables(env, problems)
  const { file, path, outlines } = readConfigFile(sources, problems)
  const taken = withoutIgnored(sources, file)
  const found = providersFromEnvironment(taken, outlines, problems)
  const config: Config = {
    host: env['HEADRACE_HOST'] || file.host || '127.0.0.1',
    port: portOf('HEADRACE_PORT', env, problems) ?? file.port ?? 8787,
    dataFolder: resolve(sources.cwd, env['HEADRACE_DATA'] || file.data || './data'),
    databaseUrl: env['DATABASE_URL'] || file.database_url || '',
    objectStore: readObjectStore(env['BLOB_URL'] || file.blob_url || '', env, problems),
    basePath: basePathOf(env['HEADRACE_BASE_PATH'] ?? file.base_path ?? '', problems),
    trustedProxies: proxiesOf(env['HEADRACE_TRUSTED_PROXIES'], file.trusted_proxies, problems),
    ...outgoingOf(file),
    batchLimits: batchLimitsOf(file),
    masterKey: secretOf(env['HEADRACE_MASTER_KEY'], 'HEADRACE_MASTER_KEY', problems),
    isOwnDatabase: !(env['DATABASE_URL'] || file.database_url),
    transcriptionMs: toMilliseconds(file.transcription_timeout_seconds),
    refusesUnknownPrices: file.unknown_prices === 'refuse',
    uncountedInputTokens: file.uncounted_input_tokens ?? null,
    bodyMemoryBytes: file.body_memory_mb === undefined ? null : file.body_memory_mb * 1_000_000,
    commitDelayMs: file.commit_delay_ms ?? 0,
    requestLogMs: (file.request_log_days ?? requestLogDays) * 86_400_000,
    logLevel:
      choice(env['HEADRACE_LOG_LEVEL'], 'HEADRACE_LOG_LEVEL', logLevels, problems) ??
      file.log_level ??
      'info',
    sharePort:
      choice(env['HEADRACE_SHARE_PORT'], 'HEADRACE_SHARE_PORT', ['1', '0'], problems) === '1' ||
      (file.share_port ?? false),
    metrics: {
      token:
        secretOf(env['HEADRACE_METRICS_TOKEN'], 'HEADRACE_METRICS_TOKEN', problems) ??
        file.metrics_token ??
        null,
      host: env['HEADRACE_METRICS_HOST'] || file.metrics_host || '127.0.0.1',
      port: portOf('HEADRACE_METRICS_PORT', env, problems) ?? file.metrics_port ?? null,
    },
    role: choice(env['HEADRACE_ROLE'], 'HEADRACE_ROLE', roles, problems) ?? file.role ?? 'all',
    providers: [...file.providers.map((provider) => withKey(provider, taken)), ...found],
    prices: file.prices,
    names: file.names,
    aliases: file.aliases,
    bootstrap: {
      creditsNanocredits: creditsOf(env['HEADRACE_BOOTSTRAP_CREDITS'], problems),
      key: secretOf(env['HEADRACE_BOOTSTRAP_KEY'], 'HEADRACE_BOOTSTRAP_KEY', problems),
      managementKey: secretOf(
        env['HEADRACE_BOOTSTRAP_MANAGEMENT_KEY'],
        'HEADRACE_BOOTSTRAP_MANAGEMENT_KEY',
        problems,
      ),
    },
    file: path,
  }
  checkProviders([...outlines, ...found], taken, problems)
  problems.push(...checkNames(config).map((problem) => `${path}: ${problem}`))
  if (config.databaseUrl !== '' && !/^(postgres(ql)?:\/\/|sqlite:)./.test(config.databaseUrl))
    problems.push('DATABASE_URL: must begin with postgres:// or sqlite: and name a database')
  const { key, managementKey } = config.bootstrap
  if (key !== null && key === managementKey)
    problems.push('HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: the same as HEADRACE_BOOTSTRAP_KEY; use two keys')
  if (problems.length > 0) throw new ConfigError(problems)
  const databaseUrl = config.databaseUrl || `sqlite:${resolve(config.dataFolder, 'headrace.db')}`
  return Object.freeze({ ...config, databaseUrl })
}

/** Where the gateway itself sends something, or fetches it. */
function outgoingOf(
  file: Pick<ReturnType<typeof readConfigFile>['file'], 'fetch_hosts' | 'callback_hosts' | 'broadcasts'>,
): Pick<Config, 'fetchHosts' | 'callbackHosts' | 'broadcasts'> {
  return {
    fetchHosts: file.fetch_hosts ?? [],
    callbackHosts: file.callback_hosts ?? [],
    broadcasts: broadcastsOf(file.broadcasts),
  }
}

function batchLimitsOf(
  file: Pick<ReturnType<typeof readConfigFile>['file'], 'batch_items_max' | 'batch_queued_items_max'>,
): BatchLimits {
  return { items: file.batch_items_max ?? null, queuedItems: file.batch_queued_items_max ?? null }
}

/** A name that is misspelt would be a setting that is silently not there. */
function checkVariables(env: ConfigSources['env'], problems: string[]): void {
  for (const name of Object.keys(env)) {
    if (
      name.startsWith('HEADRACE_') &&
      !name.startsWith('HEADRACE_TEST_') &&
      !knownVariables.includes(name)
    ) {
      problems.push(`${name}: not a variable Headrace knows; the known ones are ${knownVariables.join(', ')}`)
    }
  }
}

function toMilliseconds(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * 1000
}

const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
/** Days for which the log of calls is kept. */
const requestLogDays = 30

const roles = ['all', 'api', 'worker'] as const

/** A provider of the file that names no key of its own has the one of the environment. */
function withKey(provider: ProviderConfig, { presets, env }: ConfigSources): ProviderConfig {
  const preset = presets.find(({ slug }) => slug === provider.preset)
  const placed = { ...placesOf(preset, env), ...provider }
  const key = preset?.keyVariable ? env[preset.keyVariable] : undefined
  const hasLogin = provider.api_key !== undefined || provider.identity !== undefined
  if (hasLogin || provider.base_url !== undefined || !key) return placed
  return { ...placed, api_key: key }
}

/** What the environment says of a provider's place. */
function placesOf(
  preset: PresetEnvironment | undefined,
  env: ConfigSources['env'],
): Pick<ProviderConfig, 'region' | 'project'> {
  const told = Object.entries(preset?.placeVariables ?? {}).flatMap(([place, variables]) => {
    const value = variables.map((name) => env[name]).find((each) => each)
    return value === undefined ? [] : [[place, value] as const]
  })
  return Object.fromEntries(told)
}

/** The settings without the variables that should switch no provider on, nor be the key of one that names none. */
function withoutIgnored(
  sources: ConfigSources,
  { ignored_variables: names = [] }: { ignored_variables?: readonly string[] | undefined },
): ConfigSources {
  if (names.length === 0) return sources
  const ignored = new Set(names)
  const env = Object.fromEntries(Object.entries(sources.env).filter(([name]) => !ignored.has(name)))
  return { ...sources, env }
}

function providersFromEnvironment(
  sources: ConfigSources,
  configured: readonly ProviderOutline[],
  problems: string[],
): ProviderConfig[] {
  const found: ProviderConfig[] = []
  for (const preset of sources.presets) {
    // The environment adds only providers that the file does not have.
    if (configured.some((provider) => provider.preset === preset.slug)) continue
    const apiKey = preset.keyVariable ? sources.env[preset.keyVariable] : undefined
    const baseUrl = preset.baseUrlVariable ? sources.env[preset.baseUrlVariable] : undefined
    if (!apiKey && !(preset.keyVariable === null && baseUrl)) continue
    // A key without its region or project is no deployment yet.
    const places = placesOf(preset, sources.env)
    if (!baseUrl && Object.keys(preset.placeVariables ?? {}).some((place) => !(place in places))) continue
    if (baseUrl && !httpUrl.safeParse(baseUrl).success)
      problems.push(
        `${preset.baseUrlVariable}: "${hideSecrets(baseUrl.replace(/[?#].*/s, '?…'))}" is not an address such as http://127.0.0.1:11434/v1`,
      )
    found.push({
      preset: preset.slug,
      weight: 1,
      models: [],
      ...places,
      ...(apiKey ? { api_key: apiKey } : {}),
      ...(baseUrl ? { base_url: baseUrl } : {}),
    })
  }
  return found
}

function choice<const T extends string>(
  value: string | undefined,
  name: string,
  allowed: readonly T[],
  problems: string[],
): T | undefined {
  if (value === undefined || value === '') return undefined
  const found = allowed.find((candidate) => candidate === value)
  if (!found) problems.push(`${name}: "${value}" is not one of ${allowed.join(', ')}`)
  return found
}

function portOf(name: string, env: ConfigSources['env'], problems: string[]): number | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  problems.push(`${name}: "${text}" is not a port; use a number from 0 to 65535`)
  return undefined
}

function basePathOf(text: string, problems: string[]): string {
  if (text === '' || text === '/') return ''
  if (/^(\/[A-Za-z0-9._~-]+)+\/?$/.test(text)) return text.replace(/\/$/, '')
  problems.push(`HEADRACE_BASE_PATH: "${text}" must begin with a slash, such as /ai`)
  return ''
}

function proxiesOf(
  fromEnvironment: string | undefined,
  fromFile: readonly string[] | undefined,
  problems: string[],
): string[] {
  const given = fromEnvironment?.split(',') ?? fromFile ?? []
  const proxies = given.map((part) => part.trim()).filter((part) => part !== '')
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const isKnown = bits === undefined ? isIP(address) !== 0 : isIPv4(address) && Number(bits) <= 32
    if (!isKnown)
      problems.push(
        `HEADRACE_TRUSTED_PROXIES: "${proxy}" is no address and no IPv4 network such as 10.0.0.0/8`,
      )
  }
  return proxies
}

function creditsOf(text: string | undefined, problems: string[]): bigint | null {
  if (text === undefined || text === '') return null
  if (isAmount(text)) return parseCredits(text)
  problems.push(`HEADRACE_BOOTSTRAP_CREDITS: "${text}" is not an amount of credits, such as 5 or 0.50`)
  return null
}

function secretOf(text: string | undefined, name: string, problems: string[]): string | null {
  if (text === undefined || text === '') return null
  if (secretPattern.test(text)) return text
  problems.push(`${name}: a secret has 16 to 512 printable characters and no spaces`)
  return null
}

/** An address without its user, its password, and passwords in its query; a password may itself contain an "@". */
function hideSecrets(url: string): string {
  return url
    .replace(/\/\/.*@/, '//[secret]@')
    .replace(/([?&][^=&]*(?:pass|key|secret)[^=&]*=)[^&]*/gi, '$1[secret]')
}

function hideValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, '[secret]']))
}

/** Members of an identity that are no secret: names, places and files. Another one is hidden until somebody has looked. */
const shownOfIdentity: ReadonlySet<string> = new Set([
  'access_key_id',
  'profile',
  'role_arn',
  'session_name',
  'credentials_file',
  'impersonate',
  'tenant_id',
  'client_id',
  'token_file',
  'scope',
  'account',
  'user',
  'private_key_file',
])

function hideIdentity(identity: Readonly<Record<string, string | undefined>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(identity).map(([name, value]) => [name, shownOfIdentity.has(name) ? value : '[secret]']),
  )
}

/** The configuration as it may be shown: secrets replaced. */
export function printConfig(config: Config): string {
  const shown = {
    ...config,
    databaseUrl: hideSecrets(config.databaseUrl),
    objectStore: config.objectStore && {
      ...config.objectStore,
      secretAccessKey: '[secret]',
      sessionToken: config.objectStore.sessionToken ? '[secret]' : null,
    },
    masterKey: config.masterKey ? '[secret]' : null,
    metrics: { ...config.metrics, token: config.metrics.token ? '[secret]' : null },
    broadcasts: config.broadcasts.map((destination) => ({
      ...destination,
      url: hideSecrets(destination.url),
      headers: hideValues(destination.headers),
      secret: destination.secret ? '[secret]' : null,
    })),
    providers: config.providers.map((provider) => ({
      ...provider,
      ...(provider.base_url ? { base_url: hideSecrets(provider.base_url) } : {}),
      ...(provider.api_key ? { api_key: '[secret]' } : {}),
      ...(provider.headers ? { headers: hideValues(provider.headers) } : {}),
      ...(provider.query ? { query: hideValues(provider.query) } : {}),
      ...(provider.identity ? { identity: hideIdentity(provider.identity) } : {}),
    })),
    bootstrap: {
      credits:
        config.bootstrap.creditsNanocredits === null
          ? null
          : Number(config.bootstrap.creditsNanocredits) / 1e9,
      key: config.bootstrap.key ? '[secret]' : null,
      managementKey: config.bootstrap.managementKey ? '[secret]' : null,
    },
  }
  return JSON.stringify(shown, null, 2)
}
