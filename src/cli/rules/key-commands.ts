import { idleLimitOf, type KeyChanges, type KeyRecord } from '../../access/key-record.ts'
import type { CreatedKey } from '../../access/keys.ts'
import { openPolicy } from '../../access/policy.ts'
import { unlimitedRates } from '../../access/rate-rules.ts'
import { latestExpiryMs } from '../../core/limits/access.ts'
import { cliKeysMax } from '../../core/limits/cli.ts'
import { parseCredits } from '../../core/money.ts'
import { dollars, durationOf, timestamp } from '../amounts.ts'
import { parseArguments, type Parsed } from '../arguments.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { findOrganization, withStorage } from '../local-storage.ts'
import { createPaint, printable, type Paint } from '../paint.ts'
import { readRules, ruleNames, showRules, warnOfUnknownWords } from './rules.ts'
import { suggestionFor } from '../suggestion.ts'
import { renderTable } from '../table.ts'

const text = { type: 'string' } as const
const options = {
  management: { type: 'boolean' },
  name: text,
  limit: text,
  reset: text,
  expires: text,
  overlap: text,
  org: text,
  ...Object.fromEntries(ruleNames.map((name) => [name, text])),
} as const

/** The parts that one action uses. */
interface KeyAction {
  parsed: Parsed
  storage: CliStorage
  organizationId: string
  context: CommandContext
}

type Act = (action: KeyAction) => Promise<void>

/**
 * `headrace keys list|create|set|rotate|disable|enable|delete`: works on the database directly, also while a gateway
 * runs.
 */
export async function runKeys(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('keys', args, options, 2)
  const [name = 'list'] = parsed.words
  const act = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!act) {
    const meant = suggestionFor(name, Object.keys(actions))
    throw usageFailure(`There is no "keys ${name}".${meant}`, 'keys')
  }
  const takesKey = name !== 'list' && name !== 'create'
  const [, extra] = parsed.words
  if (takesKey && extra === undefined) {
    throw usageFailure('Which key? "npx headrace keys" lists their ids.', 'keys')
  }
  if (!takesKey && extra !== undefined) throw usageFailure(`"${extra}" is not expected here.`, 'keys')
  refuseStrayOptions(name, parsed)
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    await act({ parsed, storage, organizationId, context })
  })
  return 0
}

/** An option that an action would ignore is a mistake: the user would believe that it was done. */
function refuseStrayOptions(name: string, { given }: Parsed): void {
  const stray = given.find((option) => {
    if (option === 'org') return false
    if (option === 'overlap') return name !== 'rotate'
    return name !== 'create' && (name !== 'set' || option === 'management')
  })
  if (stray === undefined) return
  const remedy = strayRemedies[stray] ?? 'change a key with "keys set"'
  throw usageFailure(`"keys ${name}" does not take --${stray}: ${remedy}.`, 'keys')
}

const strayRemedies: Readonly<Record<string, string>> = {
  management: 'a key keeps its kind: create another one',
  overlap: 'it is how long the secret before works beside that of "keys rotate"',
}

const actions: Readonly<Record<string, Act>> = {
  list,
  create,
  set,
  rotate,
  disable: (action) => change(action, { disabled: true }, 'disabled'),
  enable: (action) => change(action, { disabled: false }, 'enabled'),
  async delete(action) {
    const key = await findKey(action)
    await action.storage.keys.delete(action.organizationId, key.keyHash)
    action.context.write(`${key.keyId} deleted\n`)
  },
}

async function list({ storage, organizationId, context }: KeyAction): Promise<void> {
  const paint = createPaint(context.isTty, context.env)
  const rows: string[][] = []
  for await (const page of keyPages(storage, organizationId)) {
    const cells = page.map(async (key) => [
      key.keyId,
      key.kind,
      stateOf(key, paint),
      key.label,
      dollars((await storage.accounts.readKeyUsage(key.keyId)).total),
      limitOf(key),
      rulesOf(key),
      timestamp(key.createdAtMs),
      key.expiresAtMs === null ? '-' : timestamp(key.expiresAtMs),
      printable(key.name).replaceAll(/\s+/g, ' '),
    ])
    rows.push(...(await Promise.all(cells)))
  }
  context.write(
    renderTable(
      ['id', 'kind', 'state', 'key', 'used', 'limit', 'rules', 'created (UTC)', 'expires (UTC)', 'name'],
      rows,
      paint,
    ),
  )
}

function stateOf({ disabled, expiresAtMs }: KeyRecord, paint: Paint): string {
  if (disabled) return paint.yellow('disabled')
  return expiresAtMs !== null && expiresAtMs <= Date.now() ? paint.yellow('expired') : paint.green('active')
}

/** Only the rules that the key adds to its organization's. */
function rulesOf(key: KeyRecord): string {
  const rules = showRules(key).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
  return rules.length === 0 ? '-' : rules.join(' ')
}

function limitOf({ limitNanocredits, limitReset }: KeyRecord): string {
  if (limitNanocredits === null) return '-'
  return limitReset === null ? dollars(limitNanocredits) : `${dollars(limitNanocredits)} ${limitReset}`
}

async function create({ parsed, storage, organizationId, context }: KeyAction): Promise<void> {
  const kind = parsed.isOn('management') ? 'management' : 'inference'
  const changes = changesOf(parsed)
  const { limitNanocredits = null, limitReset = null, policy, rates } = changes
  refuseIdleLimits(changes, { kind, limitNanocredits: null })
  const { key, secret } = await storage.keys.create({
    organizationId,
    kind,
    name: parsed.text('name') ?? `${kind} key`,
    limitNanocredits,
    limitReset,
    expiresAtMs: changes.expiresAtMs ?? null,
    policy: { ...openPolicy, ...policy },
    rates: { ...unlimitedRates, ...rates },
  })
  warnOfUnknownWords(changes, context)
  showSecret({ key, secret }, context)
}

function showSecret({ key, secret }: CreatedKey, context: CommandContext): void {
  const variable = key.kind === 'management' ? 'HEADRACE_MANAGEMENT_KEY' : 'HEADRACE_API_KEY'
  // Only the secret goes to stdout, so that a script can read it there.
  context.writeError(`${key.keyId}, shown once:\n`)
  context.write(`${secret}\n`)
  context.writeError(`Use it: export ${variable}=<the key above>\n`)
}

async function rotate(action: KeyAction): Promise<void> {
  const { parsed, storage, organizationId, context } = action
  const overlap = parsed.text('overlap') ?? '24h'
  const overlapMs = durationOf(overlap)
  if (overlapMs === null || overlapMs > overlapMsMax) {
    throw usageFailure(`--overlap is a time of up to 90 days such as 24h, 7d or 0, not "${overlap}".`, 'keys')
  }
  const { keyHash } = await findKey(action)
  showSecret(await storage.keys.rotate(organizationId, keyHash, overlapMs), context)
  context.writeError(
    overlapMs === 0
      ? 'All secrets before it end now; a running gateway follows within two seconds.\n'
      : `The secret before works until ${timestamp(Date.now() + overlapMs)} UTC.\n`,
  )
}

async function set(action: KeyAction): Promise<void> {
  const changes = changesOf(action.parsed)
  if (Object.keys(changes).length === 0) {
    throw usageFailure(
      `What is to change? One of --name, --limit, --reset, --expires, --${ruleNames.join(', --')}.`,
      'keys',
    )
  }
  refuseIdleLimits(changes, await findKey(action))
  // A reset without its limit would return with the next limit, long after the user forgot it.
  const isLimitGone = changes.limitNanocredits === null
  await change(action, { ...changes, ...(isLimitGone ? { limitReset: null } : {}) }, 'changed')
}

/**
 * Throws a usage failure for limits without effect: a reset without a limit, or any limit on a key that makes no calls.
 */
function refuseIdleLimits(changes: KeyChanges, key: Pick<KeyRecord, 'kind' | 'limitNanocredits'>): void {
  const idle = idleLimitOf(changes, key)
  if (idle === 'management')
    throw usageFailure(
      'A management key makes no calls, so there is nothing to limit: leave out --limit, --reset and the rates.',
      'keys',
    )
  if (idle === 'reset') throw usageFailure('--reset is about a limit: give --limit too.', 'keys')
}

async function change(action: KeyAction, changes: KeyChanges, done: string): Promise<void> {
  const key = await findKey(action)
  await action.storage.keys.update(action.organizationId, key.keyHash, changes)
  warnOfUnknownWords(changes, action.context)
  action.context.write(`${key.keyId} ${done}; a running gateway follows within two seconds\n`)
}

async function findKey({ parsed, storage, organizationId }: KeyAction): Promise<KeyRecord> {
  const [, wanted = ''] = parsed.words
  for await (const page of keyPages(storage, organizationId)) {
    const found = page.find((key) => key.keyId === wanted || key.keyHash === wanted)
    if (found) return found
  }
  throw new CommandFailure(`There is no key "${wanted}". "npx headrace keys" lists their ids.`)
}

/** All keys, the oldest first. Disabled keys that "headrace try" made are included, so there can be many. */
async function* keyPages(storage: CliStorage, organizationId: string): AsyncGenerator<readonly KeyRecord[]> {
  for (let offset = 0; ; offset += cliKeysMax) {
    const page = await storage.keys.list(organizationId, { offset, limit: cliKeysMax, includeDisabled: true })
    yield page
    if (page.length < cliKeysMax) return
  }
}

function changesOf(parsed: Parsed): KeyChanges {
  const limit = parsed.text('limit')
  const reset = parsed.text('reset')
  const name = parsed.text('name')
  const expires = parsed.text('expires')
  if (name?.trim() === '') throw usageFailure('--name is at least one character.', 'keys')
  return {
    ...(limit === undefined ? {} : { limitNanocredits: limit === 'none' ? null : amountOf(limit, 'keys') }),
    ...(reset === undefined ? {} : { limitReset: resetOf(reset) }),
    ...(name === undefined ? {} : { name }),
    ...(expires === undefined ? {} : { expiresAtMs: expiryOf(expires) }),
    ...readRules((rule) => parsed.text(rule), 'keys'),
  }
}

/** The longest time for which an old secret may stay valid beside its successor: 90 days. */
const overlapMsMax = 90 * 24 * 3_600_000

/** The moment that the text names: after a duration from now, or at the beginning of a day (UTC); null for never. */
function expiryOf(value: string): number | null {
  if (value === 'none') return null
  const afterMs = durationOf(value)
  const isDate = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/.test(value)
  const dateMs = isDate ? Date.parse(value) : Number.NaN
  const atMs = afterMs === null ? dateMs : Date.now() + afterMs
  // JavaScript would read a day that its month lacks as a day of the next month.
  const isOwnDay = afterMs !== null || new Date(dateMs || 0).toISOString().startsWith(value.slice(0, 10))
  if (atMs > Date.now() && atMs <= latestExpiryMs && isOwnDay) return atMs
  throw usageFailure(
    `--expires is a time from now such as 30d or 12h, a day to come such as 2030-01-31 (at its beginning, UTC), or none, not "${value}".`,
    'keys',
  )
}

function resetOf(value: string): 'daily' | 'weekly' | 'monthly' | null {
  if (value === 'daily' || value === 'weekly' || value === 'monthly') return value
  if (value === 'none') return null
  throw usageFailure(`--reset takes daily, weekly, monthly or none, not "${value}".`, 'keys')
}

/** An amount of credits from the command line. Throws a usage failure unless it is positive or zero. */
export function amountOf(value: string, command: string): bigint {
  try {
    const amount = parseCredits(value)
    if (amount >= 0n) return amount
  } catch {
    // Told below, with what would be right.
  }
  throw usageFailure(`"${value}" is not an amount of credits, such as 5 or 0.50.`, command)
}
