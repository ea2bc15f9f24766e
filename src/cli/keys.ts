import type { KeyChanges, KeyRecord } from '../access/key-record.ts'
import type { Rates } from '../canonical/principal.ts'
import { cliKeysMax } from '../core/limits.ts'
import { parseCredits } from '../core/money.ts'
import { dollars, timestamp } from './amounts.ts'
import { parseArguments, type Parsed } from './arguments.ts'
import type { CliStorage, CommandContext } from './context.ts'
import { CommandFailure, usageFailure } from './failure.ts'
import { findOrganization, withStorage } from './local-storage.ts'
import { createPaint } from './paint.ts'
import { renderTable } from './table.ts'

const text = { type: 'string' } as const
const options = {
  management: { type: 'boolean' },
  name: text,
  limit: text,
  reset: text,
  rate: text,
  'batch-rate': text,
  org: text,
} as const

/** What one action works with. */
interface KeyAction {
  parsed: Parsed
  storage: CliStorage
  organizationId: string
  context: CommandContext
}

type Act = (action: KeyAction) => Promise<void>

/** `headrace keys list|create|set|disable|enable|delete`: on the database directly, also while a gateway runs. */
export async function runKeys(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('keys', args, options, 2)
  const [name = 'list'] = parsed.words
  const act = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!act) throw usageFailure(`There is no "keys ${name}".`, 'keys')
  if (name !== 'list' && name !== 'create' && parsed.words[1] === undefined) {
    throw usageFailure('Which key? "npx headrace keys" lists their ids.', 'keys')
  }
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    await act({ parsed, storage, organizationId, context })
  })
  return 0
}

const actions: Readonly<Record<string, Act>> = {
  list,
  create,
  set: (action) => change(action, changesOf(action.parsed), 'changed'),
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
  const keys = await listKeys(storage, organizationId)
  const rows = await Promise.all(
    keys.map(async (key) => [
      key.keyId,
      key.kind,
      key.disabled ? paint.yellow('disabled') : paint.green('active'),
      key.label,
      dollars((await storage.accounts.readKeyUsage(key.keyId)).total),
      limitOf(key),
      timestamp(key.createdAtMs),
      key.name,
    ]),
  )
  context.write(
    renderTable(['id', 'kind', 'state', 'key', 'used', 'limit', 'created (UTC)', 'name'], rows, paint),
  )
}

function limitOf({ limitNanocredits, limitReset }: KeyRecord): string {
  if (limitNanocredits === null) return '-'
  return limitReset === null ? dollars(limitNanocredits) : `${dollars(limitNanocredits)} ${limitReset}`
}

async function create({ parsed, storage, organizationId, context }: KeyAction): Promise<void> {
  const kind = parsed.isOn('management') ? 'management' : 'inference'
  const { limitNanocredits = null, limitReset = null, rates } = changesOf(parsed)
  const { key, secret } = await storage.keys.create({
    organizationId,
    kind,
    name: parsed.text('name') ?? `${kind} key`,
    limitNanocredits,
    limitReset,
    ...(rates ? { rates } : {}),
  })
  const variable = kind === 'management' ? 'HEADRACE_MANAGEMENT_KEY' : 'HEADRACE_API_KEY'
  // The secret alone goes to stdout, so that a script can take it from there.
  context.writeError(`${key.keyId}, shown once:\n`)
  context.write(`${secret}\n`)
  context.writeError(`Use it: export ${variable}=<the key above>\n`)
}

async function change(action: KeyAction, changes: KeyChanges, done: string): Promise<void> {
  if (Object.keys(changes).length === 0) {
    throw usageFailure('What is to change? --limit, --reset, --rate, --batch-rate or --name.', 'keys')
  }
  const key = await findKey(action)
  // A rate that is not named keeps its value; rates are stored together.
  const rates = changes.rates ? { rates: mergedRates(key.rates, action.parsed) } : {}
  await action.storage.keys.update(action.organizationId, key.keyHash, { ...changes, ...rates })
  action.context.write(`${key.keyId} ${done}; a running gateway follows within two seconds\n`)
}

async function findKey({ parsed, storage, organizationId }: KeyAction): Promise<KeyRecord> {
  const [, wanted = ''] = parsed.words
  const keys = await listKeys(storage, organizationId)
  const found = keys.find((key) => key.keyId === wanted || key.keyHash === wanted)
  if (found) return found
  throw new CommandFailure(`There is no key "${wanted}". "npx headrace keys" lists their ids.`)
}

function listKeys(storage: CliStorage, organizationId: string): Promise<KeyRecord[]> {
  return storage.keys.list(organizationId, { offset: 0, limit: cliKeysMax, includeDisabled: true })
}

function changesOf(parsed: Parsed): KeyChanges {
  const limit = parsed.text('limit')
  const reset = parsed.text('reset')
  const name = parsed.text('name')
  const hasRates = parsed.text('rate') !== undefined || parsed.text('batch-rate') !== undefined
  return {
    ...(limit === undefined ? {} : { limitNanocredits: limit === 'none' ? null : amountOf(limit, 'keys') }),
    ...(reset === undefined ? {} : { limitReset: resetOf(reset) }),
    ...(name === undefined ? {} : { name }),
    ...(hasRates ? { rates: mergedRates({ requestsPerMinute: null, batchesPerMinute: null }, parsed) } : {}),
  }
}

function mergedRates(before: Rates, parsed: Parsed): Rates {
  const requests = parsed.text('rate')
  const batches = parsed.text('batch-rate')
  return {
    requestsPerMinute: requests === undefined ? before.requestsPerMinute : rateOf(requests),
    batchesPerMinute: batches === undefined ? before.batchesPerMinute : rateOf(batches),
  }
}

function rateOf(value: string): number | null {
  if (value === 'none') return null
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value)
  throw usageFailure(`"${value}" is not a rate; use requests per minute from 1 to 999999, or none.`, 'keys')
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
