import { mkdtempSync, rmSync } from 'node:fs'
import { lookup } from 'node:dns/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from '../../simulator/server.ts'
import { createKeyRepository } from '../../src/access/key-repository.ts'
import { makeKey, type NewKey } from '../../src/access/keys.ts'
import { createOrganizationRepository } from '../../src/access/organization-repository.ts'
import { parsePolicy } from '../../src/access/policy.ts'
import { organizationRates } from '../../src/access/rate-rules.ts'
import { createAccountsRepository } from '../../src/billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../src/billing/ledger/accounts.ts'
import { createLedger } from '../../src/billing/ledger/ledger-repository.ts'
import type { OperatorNames } from '../../src/catalog/operator-names.ts'
import { type Config, readConfig } from '../../src/config.ts'
import type { ProviderConfig } from '../../src/config-file.ts'
import { newId } from '../../src/core/ids.ts'
import { parseCredits } from '../../src/core/money.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { GatewayHooks } from '../../src/gateway-core.ts'
import { presets } from '../../src/providers/registry.ts'
import { openDatabase } from '../../src/storage/open-database.ts'
import { createPublicFetch } from '../../src/transport/public-fetch.ts'
import { copyMigratedFile } from './sqlite-template.ts'

/** How a test's gateway differs from a first start. */
export interface TestGatewayOptions {
  /** Credits of the first organization, which is then prepaid; by default its account is tracked. */
  credits?: string
  /** Makes the providers from the simulator's URL; by default one sandbox. */
  providers?: (simulatorUrl: string) => readonly ProviderConfig[]
  /** The operator's own model names. */
  names?: OperatorNames
  hooks?: GatewayHooks
  /** `api` accepts batches but runs none. */
  role?: Config['role']
  /** The level of logs for `hooks.writeLog`; only errors by default. */
  logLevel?: Config['logLevel']
  /** Proxies whose forwarded addresses are believed. */
  trustedProxies?: readonly string[]
  /** Hosts that may be fetched although they are not public. */
  fetchHosts?: readonly string[]
  /** Whether the data folder may have a master key; by default it may, as for a database of its own. */
  isOwnDatabase?: boolean
  /** Hosts to which events of batches may be posted although they are not public. */
  callbackHosts?: readonly string[]
  /** Where generations are told. */
  broadcasts?: Config['broadcasts']
  /** The time limit of a transcription. */
  transcriptionMs?: number
  /** Whether surcharges of unknown amount are refused. */
  refusesUnknownPrices?: boolean
  /** The tokens held for input that only its provider can count. */
  uncountedInputTokens?: number
  /** The prefix of every path; requests include it themselves. */
  basePath?: string
  /** The folder of an earlier gateway, to continue with; it is not removed at the end. */
  folder?: string
  /**
   * Whether programs of this machine hear and speak behind the simulator, which takes seconds per clip; by default a
   * script and a tone do.
   */
  hasRealSound?: boolean
  /** Further options of the simulator's recogniser. */
  recogniserOptions?: readonly string[]
}

/** Another organization with its own keys. */
export interface TestOrganization {
  organizationId: string
  key: string
  managementKey: string
}

/** The settings of another organization. */
export interface NewTestOrganization {
  /** Makes the account prepaid with this balance. */
  credits?: string
  /** In the stored form: `allowed_providers`, `enforce_zdr` and so on. */
  policy?: Record<string, unknown>
  batchesPerMinute?: number | null
  requestsPerMinute?: number | null
}

/** The whole gateway in this process, with its own folder and a simulator on loopback as its providers. */
export interface TestGateway {
  readonly gateway: Gateway
  readonly simulator: Simulator
  readonly key: string
  readonly managementKey: string
  readonly organizationId: string
  /** Listens on a free port; returns the base URL including `/v1`. */
  listen(): string
  /** Sends a request through the gateway; `path` is below `/v1`, or below the root when it begins with `//`. */
  request(path: string, init?: TestRequest): Promise<Response>
  /** Posts JSON with the inference key. */
  post(path: string, body: unknown, init?: TestRequest): Promise<Answer>
  get(path: string, init?: TestRequest): Promise<Answer>
  addOrganization(options?: NewTestOrganization): Promise<TestOrganization>
  /** Adds a key to the first organization and returns its secret. */
  addKey(options?: Partial<NewKey>): Promise<string>
  /** Whose a usage is and how its call ended, as the ledger has it. */
  readUsage(generationId: string): Promise<Record<string, unknown> | undefined>
  /** The hash by which a key is stored. */
  keyHashOf(keyId: string): Promise<string>
  /** Deletes the organization; caches of its keys expire within seconds. */
  deleteOrganization(organizationId: string): Promise<void>
  /** Reads the simulator's requests, and sets its faults. */
  admin(path: string, body?: unknown): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

/** A request's options; `key` null sends no Authorization header. */
export interface TestRequest {
  method?: string
  key?: string | null
  headers?: Record<string, string>
  body?: unknown
}

/** A whole answer, with its body as text and, if it is JSON, as a value. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  json: Record<string, unknown>
}

const inferenceKey = 'test-inference-key-0001'
const managementKey = 'test-management-key-0001'
const origin = 'http://gateway.test'

/** Starts the simulator and the gateway; `stop` ends both. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'headrace-contract-'))
  const { recogniserOptions = [], hasRealSound = false } = options
  const simulator = await startSimulator({ port: 0, quiet: true, seed: 7, recogniserOptions, hasRealSound })
  const config = configOf(folder, simulator.url, options)
  if (options.folder === undefined) await copyMigratedFile(join(folder, 'headrace.db'))
  const publicFetch = createPublicFetch({ allowedHosts: config.fetchHosts, resolve: resolveInTests })
  const gateway = await createGateway(config, {
    publicFetch,
    // The checks of a gateway of its own read the configuration of the machine.
    diagnose: () => Promise.resolve([]),
    ...(options.hooks ?? { writeLog: () => undefined }),
  })
  const setUp = await createSetUp(config.databaseUrl, gateway.bootstrapped.organizationId)

  const request = (path: string, init: TestRequest = {}) => gateway.fetch(toRequest(path, init))
  return {
    gateway,
    simulator,
    key: inferenceKey,
    managementKey,
    organizationId: gateway.bootstrapped.organizationId,
    listen: () => gateway.listen().url,
    request,
    post: async (path, body, init = {}) => readAnswer(await request(path, { method: 'POST', body, ...init })),
    get: async (path, init = {}) => readAnswer(await request(path, init)),
    ...setUp,
    async admin(path, body) {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const response = await fetch(`${simulator.url}/admin/${path}`, init)
      return (await response.json()) as Record<string, unknown>
    },
    async stop() {
      await setUp.close()
      await gateway.stop()
      await simulator.stop()
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Names that only documentation uses resolve to a public address; no test asks a resolver beyond this machine. */
async function resolveInTests(hostname: string): Promise<readonly string[]> {
  if (/(?:^|\.)(?:test|example(?:\.(?:com|org|net))?)$/.test(hostname)) return ['93.184.215.14']
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

/** Reads a whole answer. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: objectOf(text) }
}

/** The member at a path such as `error.message` or `data.0.id`. */
export function at(value: unknown, path: string): unknown {
  let found = value
  for (const step of path.split('.')) {
    if (Array.isArray(found)) found = found[Number(step)]
    else found = isObject(found) ? found[step] : undefined
  }
  return found
}

/** Repeats the read until the result is as wanted; bounded. */
export async function until<T>(
  read: () => Promise<T>,
  isIt: (value: T) => boolean,
  msMax = 20_000,
): Promise<T> {
  const endMs = performance.now() + msMax
  for (;;) {
    const value = await read()
    if (isIt(value)) return value
    if (performance.now() > endMs) throw new Error(`never came: ${JSON.stringify(value)?.slice(0, 2_000)}`)
    await Bun.sleep(20)
  }
}

/** Mono 16-bit WAV at 16,000 Hz with a tone of a known duration. */
export function toneWav(seconds: number): Uint8Array<ArrayBuffer> {
  const rate = 16_000
  const samples = Math.round(seconds * rate)
  const bytes = new Uint8Array(44 + samples * 2)
  const view = new DataView(bytes.buffer)
  const text = (offset: number, value: string) => bytes.set(new TextEncoder().encode(value), offset)
  text(0, 'RIFF')
  view.setUint32(4, bytes.length - 8, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, rate, true)
  view.setUint32(28, rate * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, samples * 2, true)
  for (let index = 0; index < samples; index += 1) {
    view.setInt16(44 + index * 2, Math.round(8_000 * Math.sin((index * 440 * 2 * Math.PI) / rate)), true)
  }
  return bytes
}

/** A sandbox provider with its own mount and the given models, or all known ones. */
export function sandboxProvider(simulatorUrl: string, more: Partial<ProviderConfig> = {}): ProviderConfig {
  return {
    preset: 'sandbox',
    base_url: `${simulatorUrl}/v1`,
    api_key: 'sandbox',
    weight: 1,
    models: [],
    ...more,
  }
}

/** A custom provider at this URL with exactly these models. */
export function customProvider(url: string, models: ProviderConfig['models']): ProviderConfig {
  return { preset: 'custom', id: 'acme', base_url: url, weight: 1, discover: false, models }
}

function configOf(folder: string, simulatorUrl: string, options: TestGatewayOptions) {
  const config = readConfig({
    env: {
      HEADRACE_DATA: folder,
      HEADRACE_PORT: '0',
      HEADRACE_LOG_LEVEL: 'error',
      HEADRACE_BOOTSTRAP_KEY: inferenceKey,
      HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
      ...(options.credits === undefined ? {} : { HEADRACE_BOOTSTRAP_CREDITS: options.credits }),
    },
    cwd: folder,
    presets,
  })
  const providers = options.providers ?? ((url: string) => [sandboxProvider(url)])
  return {
    ...config,
    role: options.role ?? config.role,
    logLevel: options.logLevel ?? config.logLevel,
    trustedProxies: options.trustedProxies ?? config.trustedProxies,
    fetchHosts: options.fetchHosts ?? config.fetchHosts,
    callbackHosts: options.callbackHosts ?? config.callbackHosts,
    broadcasts: options.broadcasts ?? config.broadcasts,
    isOwnDatabase: options.isOwnDatabase ?? config.isOwnDatabase,
    transcriptionMs: options.transcriptionMs ?? config.transcriptionMs,
    refusesUnknownPrices: options.refusesUnknownPrices ?? config.refusesUnknownPrices,
    uncountedInputTokens: options.uncountedInputTokens ?? config.uncountedInputTokens,
    basePath: options.basePath ?? config.basePath,
    providers: providers(simulatorUrl),
    ...options.names,
  }
}

/** The operator's commands: organizations, keys and credits, beside the running gateway. */
async function createSetUp(databaseUrl: string, firstOrganizationId: string) {
  const database = await openDatabase({ url: databaseUrl })
  const organizations = createOrganizationRepository(database)
  const keys = createKeyRepository(database)
  const accounts = createAccounts(createLedger(database), createAccountsRepository(database))
  return {
    async addOrganization(options: NewTestOrganization = {}): Promise<TestOrganization> {
      const nowMs = Date.now()
      const organizationId = newId('org', nowMs)
      const made = (['inference', 'management'] as const).map((kind) =>
        makeKey({ organizationId, kind, name: kind }, nowMs),
      )
      await organizations.insertWithKeys(
        {
          organizationId,
          name: 'Another',
          accountMode: options.credits === undefined ? 'tracked' : 'prepaid',
          isFilteredModelCatalogEnabled: false,
          policy: parsePolicy(options.policy ?? {}),
          rates: {
            batchesPerMinute: organizationRates.batchesPerMinute,
            requestsPerMinute: null,
            tokensPerMinute: null,
            ...(options.batchesPerMinute === undefined ? {} : { batchesPerMinute: options.batchesPerMinute }),
            ...(options.requestsPerMinute === undefined
              ? {}
              : { requestsPerMinute: options.requestsPerMinute }),
          },
          createdAtMs: nowMs,
        },
        made.map(({ key }) => key),
      )
      if (options.credits !== undefined) {
        await accounts.grantCredits({
          organizationId,
          amountNanocredits: parseCredits(options.credits),
          transactionId: `grant_${organizationId}`,
          createdAtMs: nowMs,
        })
      }
      return { organizationId, key: made[0]?.secret ?? '', managementKey: made[1]?.secret ?? '' }
    },
    async addKey(options: Partial<NewKey> = {}): Promise<string> {
      const { key, secret } = makeKey(
        { organizationId: firstOrganizationId, kind: 'inference', name: 'another', ...options },
        Date.now(),
      )
      await keys.insert(key)
      return secret
    },
    async readUsage(generationId: string): Promise<Record<string, unknown> | undefined> {
      const [row] = await database.query(
        'select organization_id, member_id, key_id, status from usages where generation_id = $1',
        [generationId],
      )
      return row
    },
    async keyHashOf(keyId: string): Promise<string> {
      return (await keys.loadById(keyId))?.key.keyHash ?? ''
    },
    async deleteOrganization(organizationId: string): Promise<void> {
      await organizations.markDeleted(organizationId)
    },
    close: () => database.close(),
  }
}

function toRequest(path: string, init: TestRequest): Request {
  const { method = 'GET', key = inferenceKey, body } = init
  const headers = new Headers(init.headers)
  if (key !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
  const isRaw =
    body === undefined ||
    typeof body === 'string' ||
    body instanceof FormData ||
    body instanceof Uint8Array ||
    body instanceof ReadableStream
  if (!(body instanceof FormData) && body !== undefined && !headers.has('content-type'))
    headers.set('content-type', 'application/json')
  const url = path.startsWith('//') ? `${origin}${path.slice(1)}` : `${origin}/v1${path}`
  const sent = isRaw ? body : JSON.stringify(body)
  return new Request(url, { method, headers, ...(sent === undefined ? {} : { body: sent as string }) })
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
