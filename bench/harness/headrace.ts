import { Database } from 'bun:sqlite'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sparePort, start, untilReady, type Running } from './processes.ts'
import { interfaceOf, type ReplyName, replyNames } from './replies.ts'

const root = join(import.meta.dir, '../..')

/** The key callers use. */
export const callerKey = 'bench-inference-key-000000000001'

/** Credits of a prepaid account: more than any run can spend, so that no call is refused. */
const credits = '1000000'

/** A running Headrace with a data folder of its own. */
export interface Headrace {
  port: number
  process: Running
  /** Rows of the ledger's usage table; reads the database file beside the running gateway. */
  captures(): number
  /** Sum of all postings in nanocredits; 0 in a sound ledger. */
  postingsSum(): bigint
  batchStatus(batchId: string): string | null
}

/** Where Headrace finds its upstreams. */
export interface Upstreams {
  staticPort: number
  pacedPort: number
}

/** Names of the paced upstream's models: milliseconds to the first frame, frames, milliseconds between them. */
export const pacedModels = [
  '20-50-20',
  '5-50-10',
  '5-50-5',
  '20-1000-100',
  '0-1000000-0',
  '500-60-500',
] as const

/** Starts `bin/headrace.js serve` with everything on. */
export async function startHeadrace(options: {
  name: string
  folder: string
  upstreams: Upstreams
  isPrepaid: boolean
  /** The checkout whose program is started; this one when left out. */
  root?: string
  /** Wraps the command, for a profiler. */
  bunFlags?: readonly string[]
  /** Members of the configuration file besides its providers. */
  settings?: Readonly<Record<string, unknown>>
  /** The replies that it has providers for; all when left out, of which an old version may not know some. */
  replies?: readonly ReplyName[]
  /** The HTTP client for its providers; the gateway's choice when left out. */
  client?: 'fetch'
}): Promise<Headrace> {
  const home = join(options.folder, options.name)
  mkdirSync(home, { recursive: true })
  const port = sparePort()
  const running = start({
    name: options.name,
    command: commandOf(options.bunFlags ?? [], options.root),
    cwd: home,
    env: environmentOf(home, port, options),
    logFile: join(home, 'output.log'),
  })
  await untilReady(running, () => isReady(port))
  const database = join(home, 'data', 'headrace.db')
  return {
    port,
    process: running,
    captures: () => Number(scalar(database, 'select count(*) as value from usages')),
    postingsSum: () =>
      BigInt(scalar(database, 'select coalesce(sum(amount_nanocredits), 0) as value from postings') ?? 0),
    batchStatus: (batchId) => {
      const found = scalar(database, 'select status as value from batches where batch_id = ?', batchId)
      return found === null ? null : String(found)
    },
  }
}

/** True once the gateway at this port says it takes work. */
export async function isReady(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
}

/** What `npx headrace serve` runs, or the same below a Bun with flags. */
export function commandOf(bunFlags: readonly string[], from: string = root): string[] {
  const launcher = join(from, 'bin', 'headrace.js')
  if (bunFlags.length === 0) return ['node', launcher, 'serve']
  return ['node', launcher, '--bun', ...bunFlags, join(from, 'src', 'main.ts'), 'serve']
}

/** Everything a start needs; writes the configuration file. */
export function environmentOf(
  home: string,
  port: number,
  {
    upstreams,
    isPrepaid,
    settings,
    replies = replyNames,
    client,
  }: {
    upstreams: Upstreams
    isPrepaid: boolean
    settings?: Readonly<Record<string, unknown>>
    replies?: readonly ReplyName[]
    client?: 'fetch'
  },
): Record<string, string> {
  const config = join(home, 'config.json')
  const providers = providersOf(upstreams, replies).map((each) => ({ ...each, client }))
  writeFileSync(config, JSON.stringify({ ...settings, providers }))
  return {
    HEADRACE_CONFIG: config,
    HEADRACE_DATA: join(home, 'data'),
    HEADRACE_PORT: String(port),
    HEADRACE_BOOTSTRAP_KEY: callerKey,
    HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: 'bench-management-key-00000000001',
    ...(isPrepaid ? { HEADRACE_BOOTSTRAP_CREDITS: credits } : {}),
  }
}

function providersOf({ staticPort, pacedPort }: Upstreams, replies: readonly ReplyName[]): object[] {
  return [
    ...replies.map((name) => provider(name, staticPort)),
    ...pacedModels.map((name) => provider(name, pacedPort)),
  ]
}

function provider(id: string, port: number): object {
  const { preset, version } = interfaceOf(id)
  return {
    id,
    preset,
    base_url: `http://127.0.0.1:${port}/${id}/${version}`,
    api_key: 'bench-upstream-key',
    discover: false,
    models: [
      {
        id: `bench/${id}`,
        upstream: id,
        prices: { input_per_million: '0.15', output_per_million: '0.60' },
        context_length: 1_000_000,
        ...(id.startsWith('embeddings') ? { modality: 'embedding' } : {}),
      },
    ],
  }
}

function scalar(file: string, query: string, ...values: string[]): string | number | bigint | null {
  const database = new Database(file, { readonly: true, safeIntegers: true })
  try {
    const row: unknown = database.query(query).get(...values)
    return typeof row === 'object' && row !== null && 'value' in row ? (row.value as string | bigint) : null
  } finally {
    database.close()
  }
}
