import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dollars, dollarsOf } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import { baseUrlOf } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { clientOf } from '../in-process-gateway.ts'
import { listenForInterruption } from '../interruption.ts'
import { createPaint } from '../paint.ts'
import { createReceipts } from './receipt-repository.ts'
import type { Receipt } from './receipt-repository.ts'
import { renderCode, type CodeLanguage } from './try-code.ts'
import { obtainKeys } from './try-keys.ts'
import { chooseModels, listModels } from './try-models.ts'
import {
  findCost,
  findReceipt,
  StepSkipped,
  type StepResult,
  type TrySession,
  type TryStep,
} from './try-session.ts'
import { timingOf, trySteps } from './try-steps.ts'

const languages: readonly CodeLanguage[] = ['curl', 'python', 'ts']

/**
 * `headrace try`: runs the operations against the running gateway, and shows the time and the ledger's receipt of each.
 */
export async function runTry(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('try', args, { print: { type: 'string' } }, 0)
  const print = parsed.text('print')
  if (print === undefined) return tryAll(context)
  const language = languages.find((name) => name === print)
  if (!language) throw usageFailure(`--print takes ${languages.join(', ')}, not "${print}".`, 'try')
  const baseUrl = context.env['HEADRACE_URL'] ? baseUrlOf(context.env, null) : clientOf(context).baseUrl
  context.write(renderCode(language, { baseUrl, models: await modelsOrNull(context) }))
  return 0
}

/** Code can be printed before the gateway runs; it then uses typical models. */
async function modelsOrNull(context: CommandContext) {
  try {
    return chooseModels(await listModels(clientOf(context), null))
  } catch (error) {
    if (error instanceof CommandFailure) return null
    throw error
  }
}

async function tryAll(context: CommandContext): Promise<number> {
  const client = clientOf(context)
  const paint = createPaint(context.isTty, context.env)
  const listed = await listModels(client, null)
  const models = chooseModels(listed)
  const interruption = listenForInterruption()
  const keys = await obtainKeys(context, client)
  let folder: string | null = null
  try {
    // On a read-only file system no sound can be kept, but all steps can run.
    folder = await mkdtemp(join(tmpdir(), 'headrace-try-')).catch(() => null)
    const session: TrySession = {
      client,
      models,
      listed,
      key: keys.key,
      managementKey: keys.managementKey,
      receipts: keys.storage ? createReceipts(keys.storage.database) : null,
      folder,
      speech: null,
      signal: interruption.signal,
      paint,
      write: context.write,
      isTty: context.isTty,
      columns: context.columns,
      nowMs: () => performance.now(),
    }
    context.write(`\n${paint.bold('Headrace')} at ${paint.cyan(client.baseUrl)}\n${paint.dim(keys.origin)}\n`)
    return await runSteps(session)
  } finally {
    interruption.stop()
    await keys.giveBack()
    // This removes only an empty folder: the spoken sentence stays for listening.
    if (folder !== null) await rmdir(folder).catch(() => undefined)
  }
}

async function runSteps(session: TrySession): Promise<number> {
  const { paint, write, signal } = session
  let failures = 0
  let skipped = 0
  for (const [index, step] of trySteps.entries()) {
    write(`\n${paint.bold(`${index + 1}  ${step.title}`)}  ${paint.dim(step.subject(session))}\n`)
    const outcome = await runStep(step, session)
    if (outcome === 'failed') failures += 1
    if (outcome === 'skipped') skipped += 1
    if (signal.aborted) {
      write(`\n${paint.yellow('Left before the end.')}\n`)
      return 130
    }
  }
  write(`\n${closingLine({ failures, skipped }, session)}\n\n`)
  return failures === 0 ? 0 : 1
}

async function runStep(step: TryStep, session: TrySession): Promise<'done' | 'failed' | 'skipped'> {
  const { paint, write } = session
  try {
    const result = await step.run(session)
    for (const line of result.lines) write(`   ${line}\n`)
    const { line, isSound } = await ledgerLine(result, session)
    write(`   ${paint.green('✓')} ${timingOf(result)}${line}\n`)
    return isSound ? 'done' : 'failed'
  } catch (error) {
    if (error instanceof StepSkipped) {
      write(`   ${paint.yellow('–')} left out: ${error.message}\n`)
      return 'skipped'
    }
    if (session.signal.aborted) return 'failed'
    if (!(error instanceof CommandFailure)) throw error
    write(`   ${paint.red('✗')} ${error.message}\n`)
    return 'failed'
  }
}

/** The cost of the step: from the ledger if it is available, otherwise from the API. */
async function ledgerLine(
  result: StepResult,
  session: TrySession,
): Promise<{ line: string; isSound: boolean }> {
  if (result.charged === null) return { line: ' · free', isSound: true }
  const receipt = await findReceipt(session, result.charged)
  if (receipt) return renderReceipt(receipt, session)
  if (session.receipts) {
    return { line: `\n   ${session.paint.red('✗ the ledger has no capture of it')}`, isSound: false }
  }
  if ('batchId' in result.charged) return { line: '', isSound: true }
  const cost = await findCost(session, result.charged.generationId)
  return { line: cost === null ? '' : ` · cost ${dollarsOf(cost)}`, isSound: true }
}

function renderReceipt(receipt: Receipt, { paint }: TrySession): { line: string; isSound: boolean } {
  const { held, captured, captures, postings, postingsSum } = receipt
  const released = held > captured ? held - captured : 0n
  const isBalanced = postingsSum === 0n
  const notes = [
    ...(captures > 1 ? [`${captures} captures`] : []),
    ...(captured > held ? ['more than was held'] : []),
    ...(receipt.isEstimated ? ['usage estimated'] : []),
    ...(receipt.isUnpriced ? ['partly without a price'] : []),
  ]
  const sum = isBalanced
    ? `${postings} postings, sum 0`
    : paint.red(`postings sum to ${dollars(postingsSum)}`)
  const money = `held ${dollars(held)}, captured ${dollars(captured)}, released ${dollars(released)}; ${sum}`
  const noted = notes.length > 0 ? `; ${notes.join(', ')}` : ''
  return {
    line: ` · cost ${dollars(captured)}\n   ${paint.dim(`ledger ${money}${noted}`)}`,
    isSound: isBalanced,
  }
}

function closingLine(
  { failures, skipped }: { failures: number; skipped: number },
  session: TrySession,
): string {
  const { paint } = session
  if (failures > 0)
    return paint.red(`${failures} of ${trySteps.length} did not work. Next: npx headrace doctor`)
  const left = skipped > 0 ? ` (${skipped} left out)` : ''
  return `${paint.green(`Everything worked${left}.`)} As code: ${paint.cyan('npx headrace try --print=curl')} (or python, ts)`
}
