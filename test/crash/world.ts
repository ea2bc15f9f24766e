import { SQL } from 'bun'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from '../../simulator/server.ts'
import { createInvariantsRepository } from '../../src/billing/ledger/invariants-repository.ts'
import { checkInvariants } from '../../src/billing/ledger/invariants.ts'
import { randomText } from '../../src/core/ids.ts'
import type { Database } from '../../src/storage/database.ts'
import type { BlobStore } from '../../src/storage/blobs/blob-store.ts'
import { openDatabase } from '../../src/storage/open-database.ts'
import { openBlobs } from '../../src/storage/open-storage.ts'
import { sharedPostgresUrl } from '../support/postgres.ts'
import { blobServerOf } from '../support/s3-blobs.ts'
import { startS3 } from '../support/s3-server.ts'
import type { CrashPlan } from './crash-plan.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/** Where a world's payloads are: in its data folder, or on an S3 server of its own. */
export type PayloadHome = 'folder' | 's3'

/** How a world is made. */
export interface WorldOptions {
  database: DialectName
  /** Where the payloads are; left out, in the data folder. */
  payloads?: PayloadHome
  /** Credits of the first organization; a text as in `HEADRACE_BOOTSTRAP_CREDITS`. */
  credits: string
  /** The configured providers, made from the simulator's address; left out, one sandbox. */
  providers?: (simulatorUrl: string) => readonly Record<string, unknown>[]
  /** Whether generations are told to a receiver of the world's. */
  isTold?: boolean
  /** Further members of the configuration file. */
  settings?: Readonly<Record<string, unknown>>
}

/**
 * A data folder, a database and a provider for gateways that come and go. Organization, keys and credits are those of the
 * first start. Only the harness lives through all of it, with a view of the database of its own.
 */
export interface World {
  readonly name: DialectName
  readonly folder: string
  readonly simulator: Simulator
  readonly database: Database
  /** The payloads of the gateways. */
  readonly blobs: BlobStore
  readonly env: Record<string, string>
  /** Ids of the generations that the world's receiver was told, where it has one. */
  readonly told: ReadonlySet<string>
  start(plan?: Partial<CrashPlan>, env?: Record<string, string>): Promise<GatewayProcess>
  /** Sets the fault rules of the provider at this mount of the simulator. */
  setFaults(rules: readonly Record<string, unknown>[], mount?: string): Promise<void>
  /** Changes settings of the provider, by the names of the simulator's admin endpoint. */
  setProvider(settings: Readonly<Record<string, unknown>>, mount?: string): Promise<void>
  /** What the provider was asked. */
  counters(mount?: string): Promise<Record<string, unknown>>
  /** What contradicts the money of docs/design.md, one line each; nothing may be running. */
  findings(): Promise<string[]>
  /** Kills what runs and removes everything. */
  remove(): Promise<void>
}

export const inferenceKey = 'crash-inference-key-0001'
export const managementKey = 'crash-management-key-0001'
/** Of the first organization, made by the first start. */
export const organizationId = 'org_default'
export const model = 'openai/gpt-4o-mini'

/** Makes a world in which nothing runs yet but the provider. The schema is there. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-crash-'))
  const simulator = await startSimulator({ port: 0, quiet: true, seed: 11 })
  const { url, drop } = await createDatabase(options.database, folder)
  const receiver = startReceiver()
  const config = { ...configOf(simulator.url, options), ...(options.isTold ? receiver.config : {}) }
  writeFileSync(join(folder, 'headrace.config.json'), JSON.stringify(config))
  const payloads = await openPayloads(options.payloads ?? 'folder', folder)
  const env = { ...environmentOf({ folder, url, credits: options.credits }), ...payloads.env }
  const database = await openDatabase({ url, ownerGraceMs: 0, connectionsMax: 3 })
  const running = new Set<GatewayProcess>()
  const admin = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${simulator.url}/admin/${path}`, init)
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }
  return {
    name: options.database,
    folder,
    simulator,
    database,
    blobs: payloads.blobs,
    env,
    told: receiver.told,
    async start(plan = {}, more = {}) {
      const started = await startGatewayProcess({ ...env, ...more }, plan)
      running.add(started)
      void started.ended.then(() => running.delete(started))
      return started
    },
    setFaults: async (rules, mount = 'default') => void (await admin('faults', { mount, rules })),
    setProvider: async (settings, mount = 'default') =>
      void (await admin('settings', { mount, ...settings })),
    counters: (mount = 'default') => admin(`counters?requests=0&mount=${mount}`),
    findings: () => findingsOf(database),
    async remove() {
      const ending = [...running]
      for (const each of ending) each.signal('SIGKILL')
      await Promise.all(ending.map((each) => each.ended))
      await database.close()
      await simulator.stop()
      await receiver.stop()
      await drop()
      await payloads.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function findingsOf(database: Database): Promise<string[]> {
  const findings = await checkInvariants(createInvariantsRepository(database))
  return findings.map(({ invariant, subject, detail }) => `${invariant}: ${subject}: ${detail}`)
}

function configOf(
  simulatorUrl: string,
  { providers = oneSandbox, settings = {} }: WorldOptions,
): Record<string, unknown> {
  return { providers: providers(simulatorUrl), ...settings }
}

/** The destination of broadcasts in a world. */
export const toldDestination = 'crash'

/** Takes two posts of three, so that tries are repeated too. */
function startReceiver() {
  const told = new Set<string>()
  let posts = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { data } = (await request.json()) as { data: { id: string }[] }
      posts += 1
      if (posts % 3 === 0) return new Response('not now', { status: 503 })
      for (const { id } of data) told.add(id)
      return new Response(null, { status: 204 })
    },
  })
  const url = `http://127.0.0.1:${server.port}/generations`
  const destination = { name: toldDestination, kind: 'webhook', url, secret: 'the-secret-of-the-receiver' }
  return { told, config: { broadcasts: [destination] }, stop: () => server.stop(true) }
}

/** The provider that every world has unless its maker names others. */
export function oneSandbox(simulatorUrl: string): Record<string, unknown>[] {
  return [{ preset: 'sandbox', base_url: `${simulatorUrl}/v1`, api_key: 'sandbox', concurrency: 400 }]
}

function environmentOf(parts: { folder: string; url: string; credits: string }): Record<string, string> {
  const data = join(parts.folder, 'data')
  mkdirSync(data)
  return {
    HEADRACE_CONFIG: join(parts.folder, 'headrace.config.json'),
    HEADRACE_DATA: data,
    HEADRACE_PORT: '0',
    HEADRACE_LOG_LEVEL: 'warn',
    HEADRACE_BOOTSTRAP_KEY: inferenceKey,
    HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
    HEADRACE_BOOTSTRAP_CREDITS: parts.credits,
    DATABASE_URL: parts.url,
  }
}

async function openPayloads(
  home: PayloadHome,
  folder: string,
): Promise<{ blobs: BlobStore; env: Record<string, string>; stop(): Promise<void> }> {
  const dataFolder = join(folder, 'data')
  if (home === 'folder') return { blobs: openBlobs({ dataFolder }), env: {}, stop: () => Promise.resolve() }
  const server = await startS3()
  const settings = server.makeBucket()
  return {
    blobs: openBlobs({ dataFolder, blobServer: blobServerOf(settings) }),
    env: server.environmentOf(settings),
    stop: () => server.stop(),
  }
}

async function createDatabase(
  name: DialectName,
  folder: string,
): Promise<{ url: string; drop(): Promise<void> }> {
  if (name === 'sqlite') {
    return { url: `sqlite:${join(folder, 'headrace.db')}`, drop: () => Promise.resolve() }
  }
  const server = await sharedPostgresUrl()
  if (server === null) throw new Error('PostgreSQL is not installed')
  const database = `headrace_${randomText(12)}`
  await administer(server, `create database ${database}`)
  const url = new URL(server)
  url.pathname = `/${database}`
  return { url: url.href, drop: () => administer(server, `drop database ${database} with (force)`) }
}

async function administer(server: string, sql: string): Promise<void> {
  const connection = new SQL({ url: server, max: 1 })
  await connection.unsafe(sql)
  await connection.close()
}
