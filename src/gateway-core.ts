import packageJson from '../package.json' with { type: 'json' }
import { bootstrap } from './access/bootstrap.ts'
import type { Report } from './billing/billing.ts'
import type { Config } from './config.ts'
import { type Clock, systemClock } from './core/clock.ts'
import type { ConsolePlaces } from './http/console/console-files.ts'
import { BodyMemory, usualBodyMemory } from './http/body-memory.ts'
import { createAnnounce } from './delivery/broadcasts/announcements.ts'
import type { ShownFinding } from './insight/insight.ts'
import { createFiles } from './files/file-store.ts'
import type { FileLayer } from './storage/blobs/file-layer.ts'
import type { StorageFaults } from './storage/database.ts'
import { openStorage } from './storage/open-storage.ts'
import { createLogger } from './telemetry/logger.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { createDescriptors, fewDescriptors, startOutgoing } from './transport/descriptors.ts'
import type { CallbackSender } from './transport/callback-sender.ts'
import type { PublicFetch } from './transport/public-fetch.ts'
import { blobHomeOf, createAccess, createMoney } from './stores.ts'

/** How often the learned figures of models are saved. */
const learningSaveEveryMs = 30_000
/** How often the learned figures of models are read at a start. */
const learnedTriesMax = 3

/** How long a stopping process waits for storage in the end; longer than `billingStopMs`. */
export const storageStopMs = 15_000

/** Settings for tests; an ordinary start passes none of them. */
export interface GatewayHooks {
  clock?: Clock
  /** Called before and after every unit and blob that becomes durable, by name; the crash suite ends the process in it. */
  crash?: (point: string, when: 'before' | 'after') => void
  faults?: StorageFaults
  nowExpression?: string
  files?: FileLayer
  random?: () => number
  /** Silence after which a stream shows a comment. */
  keepAliveMs?: number
  /** Fetches addresses that callers name; by default public ones, and those on hosts of the configuration. */
  publicFetch?: PublicFetch
  /** Posts events to addresses that callers name; by default guarded by the configuration. */
  callbackSender?: CallbackSender
  /** Posts generations to the operator's destinations; by default to their configured hosts. */
  broadcastSender?: Pick<CallbackSender, 'post'>
  /** How long a stop waits for running calls before it cuts them off. */
  callsStopMs?: number
  /** How long a stop waits for storage once nothing runs any more. */
  storageStopMs?: number
  /** All checks of `headrace doctor`; by default that command, as a process of its own. */
  diagnose?: () => Promise<ShownFinding[]>
  /** Where the console is. */
  consolePlaces?: Partial<ConsolePlaces>
  /** Where log lines go; stdout by default. */
  writeLog?: (line: string) => void
}

/** Closes one opened thing. Never rejects, because it runs while another error is being reported. */
export type Closer = () => Promise<unknown>

/** Makes waiting captures and results durable, gives leases back, and closes the database. */
export async function stopSaved({ money, database, refusalNotes }: Core): Promise<void> {
  await money.accounts.saveLearning(money.learning).catch(() => undefined)
  await money.billing.stop()
  await refusalNotes.flush()
  await money.rollup.stop()
  await database.close()
}

/** Storage, logs, access and money: the parts that all others need. */
export async function createCore(config: Config, hooks: GatewayHooks, opened: Closer[]) {
  const clock = hooks.clock ?? systemClock
  const { writeLog } = hooks
  const log = createLogger({
    level: config.logLevel,
    ...(writeLog ? { destination: { write: writeLog } } : {}),
  })
  opened.push(() => log.flush().catch(() => undefined))
  const opening = openStorage({
    ...hooks,
    ...blobHomeOf(config),
    databaseUrl: config.databaseUrl,
    onMigrationWait: (message) => log.warn(message),
  })
  opened.push(() => opening.then(({ database }) => database.close()).catch(() => undefined))
  const making = createMetrics({ version: packageJson.version, clock })
  opened.push(() => making.then((made) => made.stop()).catch(() => undefined))
  const [storage, metrics] = await Promise.all([opening, making])
  const access = createAccess(storage.database, clock)
  const report: Report = ({ type, generationId, cause }) => {
    log.warn(`billing: ${type}`, { generation_id: generationId, cause })
    if (type === 'call_freed' && generationId) storage.refusalNotes.settle(generationId)
    return type === 'call_lost' && generationId ? storage.refusalNotes.add(generationId) : null
  }
  const money = createMoney(storage.database, report, {
    commitDelayMs: config.commitDelayMs,
    announce: createAnnounce(config.broadcasts),
  })
  const bootstrapped = await bootstrap(config.bootstrap, {
    organizations: access.organizationRepository,
    keys: access.keyRepository,
    clock,
  })
  const { creditsNanocredits } = config.bootstrap
  if (creditsNanocredits !== null && bootstrapped.accountMode === 'tracked') {
    // An operator who sets a limit expects that spending is limited.
    log.warn(
      'HEADRACE_BOOTSTRAP_CREDITS counts at the first start only: the account is tracked and no balance limits it. ' +
        'npx headrace org set mode prepaid makes it prepaid, npx headrace credits add gives it credits',
    )
  }
  if (creditsNanocredits !== null && creditsNanocredits > 0n && bootstrapped.accountMode === 'prepaid') {
    // Repeated at every start on purpose: the transaction has one id, and a start that died before it is made good.
    await money.accounts.grantCredits({
      organizationId: bootstrapped.organizationId,
      amountNanocredits: creditsNanocredits,
      transactionId: 'grant_bootstrap',
      createdAtMs: clock.nowMs(),
    })
  }
  await startOutgoing()
  const bodyMemory = new BodyMemory(config.bodyMemoryBytes ?? usualBodyMemory())
  const descriptors = createDescriptors()
  if (descriptors.isSmall) log.warn(fewDescriptors(descriptors.limit))
  return {
    clock,
    version: packageJson.version,
    ...storage,
    log,
    metrics,
    access,
    money,
    bootstrapped,
    descriptors,
    bodyMemory,
    consolePlaces: hooks.consolePlaces,
    files: createFiles({ ...storage, clock }),
  }
}

/** The parts that `createCore` made. */
export type Core = Awaited<ReturnType<typeof createCore>>

/** Why the gateway must not be sent calls now; null when it may. */
export function notReady({ database, money }: Core): string | null {
  if (!database.health().ok) return 'storage does not answer'
  return money.billing.canAccept() ? null : 'captures do not become durable'
}

/**
 * Reads what earlier processes learned of models. It is read again when the database closed the connection under it, and
 * left out when it cannot be read: figures that only make estimates better are no reason not to start.
 */
export async function restoreLearned({ money, log }: Pick<Core, 'money' | 'log'>): Promise<void> {
  for (let tries = 1; tries <= learnedTriesMax; tries += 1) {
    try {
      return await money.accounts.restoreLearning(money.learning)
    } catch (cause) {
      if (tries === learnedTriesMax)
        log.warn('the learned figures of models could not be read; estimates begin anew', { cause })
    }
  }
}

/** Saves the learned figures of models periodically; returns a function that stops it. */
export function saveRegularly({ money, log }: Core): () => void {
  const timer = setInterval(() => {
    money.accounts
      .saveLearning(money.learning)
      .catch((error: unknown) => log.warn('statistics not saved', { cause: error }))
  }, learningSaveEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}
