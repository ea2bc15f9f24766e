import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JobItems } from '../../src/batches/lanes/native/job-contract.ts'
import { createAccountsRepository } from '../../src/billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../src/billing/ledger/accounts.ts'
import type { Billing } from '../../src/billing/billing.ts'
import { createBilling } from '../../src/billing/billing.ts'
import { createInvariantsRepository } from '../../src/billing/ledger/invariants-repository.ts'
import { checkInvariants } from '../../src/billing/ledger/invariants.ts'
import { createLedger } from '../../src/billing/ledger/ledger-repository.ts'
import type { Principal } from '../../src/canonical/principal.ts'
import type { Batches } from '../../src/batches/batches.ts'
import { createBatches } from '../../src/batches/batches.ts'
import type { BatchesDependencies } from '../../src/batches/batches.ts'
import type { BatchObject } from '../../src/formats/batch/batch-object.ts'
import { contractForm } from '../../src/formats/batch/item-form.ts'
import type { CrashHook } from '../../src/batches/batch-commit-points.ts'
import type { CreateBatch } from '../../src/batches/ingest/create.ts'
import { shortageOf } from '../../src/execution/items/batch-item.ts'
import type { EstimateItem, ItemOutcome, ItemRequest, ResolveBatch } from '../../src/batches/item-contract.ts'
import type { Pause } from '../../src/batches/running/pause.ts'
import { systemPause } from '../../src/batches/running/pause.ts'
import type { Clock } from '../../src/core/clock.ts'
import { createDeliveryRepository } from '../../src/delivery/delivery-repository.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { newGenerationId } from '../../src/core/ids.ts'
import { toCredits } from '../../src/core/money.ts'
import { FolderBlobStore } from '../../src/storage/blobs/folder-blob-store.ts'
import type { BlobStore } from '../../src/storage/blobs/blob-store.ts'
import type { Database } from '../../src/storage/database.ts'
import type { OpenTestDatabase } from '../support/databases.ts'
import { LossyFileLayer } from '../support/lossy-file-layer.ts'
import { captureRowOf, insertOrganization, principalOf } from './billing-fixtures.ts'

/** Waits of the engine are shorter by this factor in the test. */
const timeScale = 1_000
const startMs = 1_800_000_000_000
const clockRow = 'test_clock'
/** The database's clock is a row, so that a test can move it. */
const nowExpression = `(select coalesce(max(created_at_ms), 1) from organizations where organization_id = '${clockRow}')`
const tables = [
  'batches',
  'waiting_items',
  'batch_moves',
  'native_jobs',
  'upstream_resources',
  'deliveries',
  'delivery_tries',
  'signing_secrets',
  'segments',
  'parts',
  'idempotency_keys',
  'blob_deletions',
  'usages',
  'usage_tail',
  'usage_rollups',
  'usage_days',
  'postings',
  'leases',
  'budgets',
  'organizations',
]

export const model = 'maker/model'
export const itemCost = 1_000n

/** What a simulated item does; `answerOrWait` by default. */
export type Behave = (item: ItemRequest, process: Process) => ItemOutcome | Promise<ItemOutcome>

export interface ProcessOptions {
  behave?: Behave
  crash?: CrashHook
  resolveBatch?: ResolveBatch
  /** The providers of jobs; none by default. */
  jobItems?: (process: Process) => JobItems
  loadPrincipal?: BatchesDependencies['loadPrincipal']
  itemsAtOnce?: number
  limits?: BatchesDependencies['limits']
  /** Replaces the world's own store, for tests with stores that fail. */
  blobs?: BlobStore
  wrapDatabase?: (database: Database) => Database
  pause?: Pause
  /** Replaces the world's own clock, for tests that must not depend on the machine's speed. */
  clock?: Clock
}

/** One process on the world's database and disk. */
export interface Process {
  database: Database
  batches: Batches
  billing: Billing
  /** Custom ids in the order in which their items were started. */
  started: string[]
  reports: { event: string; cause: unknown }[]
  /** Holds given back without a charge. */
  released: string[]
}

/** One connection for the clocks of all worlds of a test file; opening one costs more than many a test. */
const clocks = new WeakMap<OpenTestDatabase, Promise<Database>>()

function openClock(open: OpenTestDatabase): Promise<Database> {
  const known = clocks.get(open) ?? open({ nowExpression, connectionsMax: 1 })
  clocks.set(open, known)
  return known
}

/** A database, emptied, a disk and a clock that several processes share, and that outlive them. */
export class World {
  readonly files = new LossyFileLayer()
  readonly #open: OpenTestDatabase
  #nowMs: number
  #clockDatabase: Database | null = null
  readonly #opened: Database[] = []

  constructor(open: OpenTestDatabase, nowMs: number = startMs) {
    this.#open = open
    this.#nowMs = nowMs
  }

  readonly clock: Clock = {
    nowMs: () => this.#nowMs,
    monotonicMs: () => this.#nowMs + performance.now() * timeScale,
  }

  /** Long waits are short, so nothing sleeps. */
  readonly pause: Pause = (ms, signal) => systemPause(ms / timeScale, signal)

  async openDatabase(): Promise<Database> {
    await this.#openClock()
    const database = await this.#open({ nowExpression })
    this.#opened.push(database)
    return database
  }

  /** The clock outlives every process. */
  async #openClock(): Promise<void> {
    if (this.#clockDatabase !== null) return
    const database = await openClock(this.#open)
    this.#clockDatabase = database
    const statements = tables.map((table) => ({ sql: `delete from ${table}` }))
    await database.commit({ name: 'test.empty', statements })
    await insertOrganization(database, clockRow, 'tracked')
    await insertOrganization(database, 'org_a', 'prepaid')
    await insertOrganization(database, 'org_b', 'prepaid')
    await insertOrganization(database, 'org_t', 'tracked')
    await this.#setClock()
  }

  async process(options: ProcessOptions = {}): Promise<Process> {
    const opened = await this.openDatabase()
    const database = options.wrapDatabase?.(opened) ?? opened
    const ledger = createLedger(database)
    const billing = createBilling({ ledger })
    const accounts = createAccounts(ledger, createAccountsRepository(database))
    const started: string[] = []
    const reports: Process['reports'] = []
    const released: string[] = []
    const batches = createBatches({
      database,
      blobs: options.blobs ?? new FolderBlobStore('/blobs', { files: this.files, clock: this.clock }),
      clock: options.clock ?? this.clock,
      live: { begun: 0, running: 0 },
      billing: {
        prepareCaptures: (captures) => billing.prepareCaptures(captures),
        settleBudget: (budgetId) => billing.settleBudget(budgetId),
        databaseNowMs: () => billing.databaseNowMs(),
        release: (hold) => {
          released.push(hold.id)
          billing.release(hold)
        },
      },
      ledger,
      readBalance: async (organizationId) => (await accounts.readCredits(organizationId)).balance,
      runItem: async (item) => {
        started.push(item.customId)
        return (options.behave ?? answerOrWait)(item, process)
      },
      resolveBatch: options.resolveBatch ?? resolveBatch,
      callbacks: { ...createDeliveryRepository(database), check: () => Promise.resolve() },
      jobItems: lateItems(() => options.jobItems?.(process) ?? noJobs),
      spoolFolder: join(tmpdir(), 'headrace-test-jobs'),
      loadPrincipal:
        options.loadPrincipal ??
        (async ({ organizationId, keyId }) =>
          principalOf({ organizationId, keyId, accountMode: modeOf(organizationId) })),
      itemsAtOnce: options.itemsAtOnce ?? 16,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      pause: options.pause ?? this.pause,
      crash: options.crash ?? null,
      report: (event, { cause }) => reports.push({ event, cause }),
    })
    const process: Process = { database, batches, billing, started, reports, released }
    return process
  }

  /** Gives an organization credits. */
  async grant(process: Process, amount: bigint, organizationId = 'org_a'): Promise<void> {
    const accounts = createAccounts(
      createLedger(process.database),
      createAccountsRepository(process.database),
    )
    const transactionId = `grant-${organizationId}-${Math.random()}`
    await accounts.grantCredits({
      organizationId,
      amountNanocredits: amount,
      transactionId,
      createdAtMs: this.#nowMs,
    })
  }

  /** Advances both clocks, the machine's and the database's. */
  async advance(ms: number): Promise<void> {
    this.#nowMs += ms
    await this.#setClock()
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((database) => database.close()))
  }

  /** The ledger's invariants, checked. */
  async findings(process: Process): Promise<unknown[]> {
    return checkInvariants(createInvariantsRepository(process.database))
  }

  async #setClock(): Promise<void> {
    await this.#clockDatabase?.commit({
      name: 'test.clock',
      statements: [
        {
          sql: `update organizations set created_at_ms = $1 where organization_id = $2`,
          params: [this.#nowMs, clockRow],
        },
      ],
    })
  }
}

/** Of a world whose batches have no jobs. */
export const noJobs: JobItems = {
  placeOf: () => null,
  endpointFor: () => null,
  encode: () => Promise.reject(new Error('no job has items')),
  charge: () => Promise.reject(new Error('no job has results')),
}

/** The items of a process that is still being put together. */
function lateItems(itemsOf: () => JobItems): JobItems {
  return {
    placeOf: (endpointId) => itemsOf().placeOf(endpointId),
    endpointFor: (asked) => itemsOf().endpointFor(asked),
    encode: (item, at) => itemsOf().encode(item, at),
    charge: (item, at, answer) => itemsOf().charge(item, at, answer),
  }
}

/** An item that is answered, charged `itemCost`, and echoes its custom id and body. */
export const answer = async (
  item: ItemRequest,
  process: Process,
  held = itemCost * 2n,
  cost = itemCost,
): Promise<ItemOutcome> => {
  const hold = await process.billing.hold({ budgets: item.budgets, amount: held })
  const generationId = newGenerationId('gen-batch', startMs)
  const { organizationId, keyId } = item.principal
  const row = captureRowOf(generationId, cost, {
    organizationId,
    keyId,
    batchId: item.batchId,
    customId: item.customId,
  })
  const body = {
    id: generationId,
    echo: item.customId,
    sent: JSON.parse(new TextDecoder().decode(item.body)),
  }
  return {
    response: { status_code: 200, request_id: 'req_1', body: Buffer.from(JSON.stringify(body)) },
    error: null,
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      cost: toCredits(cost),
      is_byok: false,
    },
    capture: { hold, row },
    retryLaterMs: null,
    missingNanocredits: 0n,
  }
}

/** A hold that fails puts its item back, as the executor does. */
export const answerOrWait: Behave = async (item, process) => {
  try {
    return await answer(item, process)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return putBack(thrown.type, 1_000, missingOf(thrown))
    throw thrown
  }
}

/** The missing amount of a refused hold. */
export function missingOf(thrown: unknown): bigint {
  return thrown instanceof GatewayError ? shortageOf(thrown) : 0n
}

export function putBack(type: string, retryLaterMs: number, missingNanocredits = 0n): ItemOutcome {
  return {
    response: null,
    error: errorOf(type),
    usage: null,
    capture: null,
    retryLaterMs,
    missingNanocredits,
  }
}

export function failed(type: string): ItemOutcome {
  return {
    response: null,
    error: errorOf(type),
    usage: null,
    capture: null,
    retryLaterMs: null,
    missingNanocredits: 0n,
  }
}

function errorOf(type: string): NonNullable<ItemOutcome['error']> {
  return { type, message: 'simulated', param: null, error_type: type }
}

const estimateItem: EstimateItem = () => ({ estimate: itemCost, worstCase: itemCost * 2n })

export const resolveBatch: ResolveBatch = async ({ model: asked, providerOnly }) => {
  if (asked !== model)
    throw new GatewayError('model_not_found', `Model '${asked}' does not have a :batch endpoint.`)
  if (providerOnly?.length === 0) throw new GatewayError('no_matching_endpoint', 'No provider is left.')
  if (providerOnly?.includes('blocked')) throw new GatewayError('permission_denied', 'Blocked by policy.')
  return {
    endpointIds: ['maker/model'],
    providerSlug: 'maker',
    lane: 'emulated',
    heldLane: 'emulated',
    offers: [{ lane: 'emulated', estimateItem }],
  }
}

function modeOf(organizationId: string): Principal['accountMode'] {
  return organizationId === 'org_t' ? 'tracked' : 'prepaid'
}

/** An upload of this JSON text, in chunks of `chunkBytes`. */
export function upload(
  text: string | Uint8Array,
  change: Partial<CreateBatch> = {},
  chunkBytes = 65_536,
): CreateBatch {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return {
    principal: principalOf({ accountMode: 'tracked', organizationId: 'org_t' }),
    body: streamOf(bytes, chunkBytes),
    contentEncoding: null,
    contentLength: null,
    idempotencyKey: null,
    form: contractForm,
    betas: null,
    isDryRun: false,
    ...change,
  }
}

export function streamOf(bytes: Uint8Array, chunkBytes: number): ReadableStream<Uint8Array> {
  let offset = 0
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(offset, offset + chunkBytes))
      offset += chunkBytes
    },
  })
}

/** A batch of `count` items `item-0`, `item-1`, …. */
export function batchOf(count: number, change: Record<string, unknown> = {}): string {
  const requests = Array.from({ length: count }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `question ${index}` }] },
  }))
  return JSON.stringify({ endpoint: '/v1/chat/completions', model, ...change, requests })
}

/** Uploads and returns the batch's object; throws what creating throws. */
export async function create(process: Process, request: CreateBatch): Promise<BatchObject> {
  const created = await process.batches.create(request)
  if (created.kind !== 'batch') throw new Error('a dry run was not asked for')
  return created.object
}

/** Runs the worker's checks until the batch is terminal; every check is a bounded step, so more than a few hundred are a bug. With a world its clock advances between checks, so that pauses end.
 */
export async function runToEnd(
  process: Process,
  principal: Principal,
  id: string,
  world: World | null = null,
): Promise<BatchObject> {
  for (let look = 0; look < 500; look++) {
    const { object } = await process.batches.get(principal, id)
    if (['completed', 'failed', 'expired', 'cancelled'].includes(object.status)) return object
    await process.batches.rounds.look()
    await process.batches.rounds.settled()
    await world?.advance(10_000)
  }
  throw new Error(`batch ${id} does not end`)
}

export interface ResultItem {
  id: string
  custom_id: string
  response: { status_code: number; body: { echo: string; sent: unknown } } | null
  error: { type: string; message: string; param: string | null; error_type?: string } | null
  cursor?: string
}

/** The batch's inline results. */
export async function resultsOf(process: Process, principal: Principal, id: string): Promise<ResultItem[]> {
  const { results } = await process.batches.get(principal, id)
  if (results === null) throw new Error('the batch has no results')
  return ((await new Response(results()).json()) as { results: ResultItem[] }).results
}

/** The lines of `/results` after a cursor. */
export async function linesOf(
  process: Process,
  principal: Principal,
  id: string,
  cursor: string | null = null,
): Promise<ResultItem[]> {
  const text = await new Response(await process.batches.results(principal, id, cursor)).text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultItem)
}
