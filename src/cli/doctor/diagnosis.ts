import { access, constants, stat, statfs } from 'node:fs/promises'
import { descriptorsOfCall, descriptorsUsual } from '../../core/limits/http.ts'
import { formatCredits } from '../../core/money.ts'
import { size } from '../amounts.ts'
import { baseUrlOf, createClient, readJson, refusal } from '../client.ts'
import type { CliConfig, CliStorage, CommandContext } from '../context.ts'
import { CommandFailure, configProblemsOf } from '../failure.ts'
import { openLocalStorage } from '../local-storage.ts'
import type { Finding } from './finding.ts'
import { explainFailure } from '../serve/serve-loop.ts'
import {
  countOrphanedBlobs,
  type HealthFacts,
  listChargedRefusals,
  listRefusedCalls,
  listWaiting,
  loadHealthFacts,
} from './health-repository.ts'
import { checkDeployments } from './deployment-checks.ts'
import { checkExpirations, checkNames } from './model-checks.ts'
import { broadcastFindings } from './broadcast-checks.ts'
import { describeWaiting } from '../batch/waiting-lines.ts'

/** How many of the calls that were answered and then refused are shown one by one. */
const refusedCallsShownMax = 20

/** The free disk space below which `headrace doctor` warns: two of the largest uploads with their results. */
const diskFreeBytesMin = 1_000_000_000
/**
 * Up to this difference between the database's clock and this machine's, `headrace doctor` assumes only network delay.
 */
const clockDifferenceMsMax = 2_000

const ok = (subject: string, message: string): Finding => ({ level: 'ok', subject, message, next: null })

const wrong = (level: 'warning' | 'problem', found: Omit<Finding, 'level'>): Finding => ({ level, ...found })

/** Runs all checks in the order of dependence, and stops when later checks cannot succeed. */
export async function* diagnose(context: CommandContext): AsyncGenerator<Finding> {
  const config = yield* checkConfig(context)
  if (config === null) return
  yield* checkFolder(config)
  yield* checkDescriptors(context)
  yield* checkStorage(context, config)
  yield* checkProviders(context, config)
  yield* checkGateway(context, config)
}

async function* checkConfig(context: CommandContext): AsyncGenerator<Finding, CliConfig | null> {
  try {
    const config = context.readConfig()
    yield ok('configuration', config.file === null ? 'environment only, no file' : config.file)
    return config
  } catch (error) {
    const problems = configProblemsOf(error)
    if (!problems) throw error
    const next = 'mend it, then: npx headrace --print-config'
    for (const message of problems) yield wrong('problem', { subject: 'configuration', message, next })
    return null
  }
}

/** The limit of this process; a gateway started by another program may have another one. */
function* checkDescriptors({ descriptorLimit }: CommandContext): Generator<Finding> {
  const limit = descriptorLimit?.() ?? null
  if (limit === null || limit >= descriptorsUsual) return
  const next = 'raise the hard limit: ulimit -Hn, LimitNOFILE of systemd, or --ulimit nofile of a container'
  const message = `a process that starts from here may have ${limit} open files; a call takes ${descriptorsOfCall} of them`
  yield wrong('warning', { subject: 'open files', message, next })
}

async function* checkFolder({ dataFolder }: CliConfig): AsyncGenerator<Finding> {
  const subject = 'data folder'
  const problem = await folderProblem(dataFolder)
  if (problem !== null) {
    yield wrong('problem', { subject, ...problem })
    return
  }
  yield ok(subject, dataFolder)
  const { bavail, bsize } = await statfs(dataFolder)
  const free = bavail * bsize
  if (free >= diskFreeBytesMin) yield ok('disk', `${size(free)} free`)
  else {
    const next = 'make room: batches and captures stop when the disk is full'
    yield wrong('warning', { subject: 'disk', message: `only ${size(free)} free`, next })
  }
}

async function folderProblem(path: string): Promise<Pick<Finding, 'message' | 'next'> | null> {
  const another = 'or set HEADRACE_DATA to a folder of yours'
  const facts = await stat(path).catch(() => null)
  if (facts === null)
    return { message: `${path} does not exist`, next: `npx headrace serve makes it; ${another}` }
  if (!facts.isDirectory())
    return { message: `${path} is no folder`, next: `move that file away, ${another}` }
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return null
  } catch {
    return { message: `${path} cannot be written`, next: `give this user the right to, ${another}` }
  }
}

async function* checkStorage(context: CommandContext, config: CliConfig): AsyncGenerator<Finding> {
  let storage: CliStorage
  try {
    storage = await openLocalStorage(context, { isDoctor: true })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    yield wrong('problem', { subject: 'storage', message: error.message, next: null })
    return
  }
  try {
    const facts = await loadHealthFacts(storage.database)
    yield ok('storage', `${facts.dialect} answers`)
    yield clockFinding(facts)
    yield* moneyFindings(storage, facts)
    yield* refusalFindings(storage, facts, config)
    yield* batchFindings(storage, facts)
    yield* checkDeployments(storage)
    yield* broadcastFindings(await storage.broadcasts.listStates(), config, facts.nowMs)
  } catch (error) {
    // A damaged part of the database shows only when it is read.
    const message = explainFailure(error, config, { isDoctor: true })
    if (message === null) throw error
    yield wrong('problem', { subject: 'storage', message, next: null })
  } finally {
    await storage.close()
  }
}

function clockFinding({ nowMs }: HealthFacts): Finding {
  const difference = Math.abs(nowMs - Date.now())
  if (difference <= clockDifferenceMsMax) return ok('clock', 'agrees with the database')
  const message = `differs from the database's by ${(difference / 1_000).toFixed(1)} s`
  return wrong('warning', {
    subject: 'clock',
    message,
    next: 'set both machines by the same time server (NTP)',
  })
}

async function* moneyFindings(storage: CliStorage, facts: HealthFacts): AsyncGenerator<Finding> {
  const broken = await storage.checkInvariants()
  if (broken.length === 0) yield ok('money', 'the ledger balances; every charge has one capture')
  for (const { invariant, subject, detail } of broken) {
    const message = `${invariant}: ${subject} ${detail}`
    yield wrong('problem', {
      subject: 'money',
      message,
      next:
        invariant === 'balance is the sum of postings'
          ? 'was it tracked before? npx headrace org set mode prepaid; else keep a copy of the data and report it: SECURITY.md'
          : 'keep a copy of the data and report it: SECURITY.md',
    })
  }
  if (facts.deadLetters === 0) yield ok('dead letters', 'none')
  else {
    const message = `${facts.deadLetters} captures were not accepted by storage`
    yield wrong('problem', { subject: 'dead letters', message, next: 'look at the table usage_dead_letters' })
  }
}

/** The ledger is right, but the operator pays the provider for answers that callers did not get. */
async function* refusalFindings(
  storage: CliStorage,
  facts: HealthFacts,
  { dataFolder }: CliConfig,
): AsyncGenerator<Finding> {
  const subject = 'refused calls'
  // A running gateway settles its own such calls within seconds; the others belong to processes that died while storage
  // was unavailable.
  for (const generationId of await listChargedRefusals(storage.database, dataFolder)) {
    const message = `${generationId} was refused and is charged: its gateway process died before it could tell`
    yield wrong('warning', { subject, message, next: 'give its cost back: npx headrace credits add' })
  }
  if (facts.refusedCalls === 0) {
    yield ok(subject, 'none was answered first')
    return
  }
  const cost = formatCredits(facts.refusedNanocredits)
  const message = `${facts.refusedCalls} answered and then refused within 30 days; they cost you ${cost} credits and no caller anything`
  const next = 'why was storage out of order at these times? its log, its disk, its connections'
  yield wrong('warning', { subject, message, next })
  for (const call of await listRefusedCalls(storage.database, refusedCallsShownMax)) {
    const when = new Date(call.createdAtMs).toISOString()
    yield ok(
      '',
      `${when} ${call.generationId} ${call.model} of ${call.provider}: ${formatCredits(call.costNanocredits)} credits, ${call.outcome}`,
    )
  }
}

async function* batchFindings(storage: CliStorage, facts: HealthFacts): AsyncGenerator<Finding> {
  if (facts.overdueBatches === 0) yield ok('batches', `${facts.runningBatches} not finished, none overdue`)
  else {
    const message = `${facts.overdueBatches} past their deadline and still not ended`
    yield wrong('problem', {
      subject: 'batches',
      message,
      next: 'does a gateway run whose role is all or worker? npx headrace serve',
    })
  }
  for (const waiting of await listWaiting(storage.database)) {
    yield wrong('warning', {
      subject: 'batches',
      message: `${waiting.batchId}: ${describeWaiting(waiting)}`,
      next:
        remedies[waiting.type] ??
        'nothing, if the provider recovers; else its dashboard, its key, its limits',
    })
  }
  const late = facts.overdueDeletions
  if (late > 0) {
    const message = `${late} should have been deleted more than a day ago`
    yield wrong('warning', {
      subject: 'payloads',
      message,
      next: 'a running gateway deletes them: npx headrace serve',
    })
  }
  const mismatch = (await storage.checkBlobStore?.()) ?? null
  if (mismatch !== null) {
    yield wrong('problem', {
      subject: 'payloads',
      message: mismatch,
      next: 'docs/configuration.md, "Backup and upgrade"',
    })
    return
  }
  if (!storage.blobs) return
  const where = storage.blobLocation === undefined ? '' : `${storage.blobLocation}: `
  const { looked, orphaned } = await countOrphanedBlobs(storage.database, storage.blobs, facts.nowMs)
  if (orphaned === 0) yield ok('payloads', `${where}${looked} looked at, none orphaned`)
  else {
    const message = `${orphaned} of ${looked} belong to no batch`
    yield wrong('warning', {
      subject: 'payloads',
      message,
      next: 'a running gateway removes them: npx headrace serve',
    })
  }
}

const remedies: Readonly<Record<string, string>> = {
  payment_required: "npx headrace credits add <amount>, or raise the key's limit",
  no_healthy_endpoint: "see to the provider's credential or quota, then: npx headrace doctor",
}

async function* checkProviders(context: CommandContext, config: CliConfig): AsyncGenerator<Finding> {
  const subject = 'providers'
  if (config.providers.length === 0) {
    const next = 'set OPENAI_API_KEY or another provider, see docs/configuration.md'
    yield wrong('warning', {
      subject,
      message: 'none configured: the sandbox answers, with simulated text',
      next,
    })
    return
  }
  if (!context.checkProviders) {
    yield ok(subject, config.providers.map((provider) => provider.id ?? provider.preset).join(', '))
    return
  }
  for (const { ok: isFine, provider, message } of await context.checkProviders(config)) {
    if (isFine) yield ok(provider, message)
    else
      yield wrong('problem', {
        subject: provider,
        message,
        next: 'check its key and base URL, then: npx headrace doctor',
      })
  }
}

async function* checkGateway(context: CommandContext, config: CliConfig): AsyncGenerator<Finding> {
  const subject = 'gateway'
  const baseUrl = baseUrlOf(context.env, config)
  try {
    // The health path stands beside the version segment, not below it.
    const response = await createClient(baseUrl.slice(0, -'/v1'.length)).send('/readyz', { timeoutMs: 5_000 })
    if (response.ok) {
      yield ok(subject, `ready at ${baseUrl}`)
      yield* checkNames(baseUrl, config)
      yield* checkExpirations(baseUrl, Date.now())
    } else {
      const { message } = refusal(response, await readJson(response))
      yield wrong('problem', { subject, message, next: 'its log says more' })
    }
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    yield wrong('warning', {
      subject,
      message: `none is listening at ${baseUrl}`,
      next: 'npx headrace serve',
    })
  }
}
