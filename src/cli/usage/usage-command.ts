import { cliKeysMax } from '../../core/limits/cli.ts'
import { formatCredits } from '../../core/money.ts'
import { counted, dollars, durationOf, timestamp } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { usageFailure } from '../failure.ts'
import { findOrganization, withStorage } from '../local-storage.ts'
import { createPaint, printable } from '../paint.ts'
import { suggestionFor } from '../suggestion.ts'
import { renderTable } from '../table.ts'
import {
  createUsageRepository,
  usageGroups,
  type UsageGroup,
  type UsageGroupSum,
} from './usage-repository.ts'

/** The most groups that `headrace usage` shows. */
const usageGroupsMax = 10_000

const text = { type: 'string' } as const
const options = { by: text, since: text, csv: { type: 'boolean' }, org: text } as const

/** `headrace usage`: sums the usage rows of an organization; works on the database directly. */
export async function runUsage(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('usage', args, options, 0)
  const by = groupsOf(parsed.text('by') ?? 'day,model')
  const since = parsed.text('since') ?? '30d'
  const sinceMs = sinceOf(since)
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    const question = { organizationId, by, sinceMs, limit: usageGroupsMax }
    const sums = await createUsageRepository(storage.database).sum(question)
    const names = by.includes('key') ? await keyNames(storage, organizationId) : new Map<string, string>()
    if (parsed.isOn('csv')) context.write(csvOf(by, sums, names))
    else writeTable({ by, sums, names, sinceMs }, context)
    if (sums.length === usageGroupsMax)
      context.writeError(
        `Only the first ${usageGroupsMax} groups are shown; ask for fewer by --by or --since.\n`,
      )
  })
  return 0
}

function groupsOf(value: string): UsageGroup[] {
  const words = [...new Set(value.split(',').map((word) => word.trim()))]
  return words.map((word) => {
    const group = usageGroups.find((name) => name === word)
    if (group) return group
    const meant = suggestionFor(word, [...usageGroups])
    throw usageFailure(
      `--by takes ${usageGroups.join(', ')} with commas between them, not "${word}".${meant}`,
      'usage',
    )
  })
}

/** The moment that the text names: a duration ago, or the beginning of a day (UTC). */
function sinceOf(value: string): number {
  const agoMs = durationOf(value)
  if (agoMs !== null && agoMs > 0) return Date.now() - agoMs
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : Number.NaN
  if (!Number.isNaN(atMs)) return atMs
  throw usageFailure(
    `--since is a time ago such as 7d or 24h, or a day such as 2026-11-01, not "${value}".`,
    'usage',
  )
}

async function keyNames(storage: CliStorage, organizationId: string): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (let offset = 0; ; offset += cliKeysMax) {
    const page = await storage.keys.list(organizationId, { offset, limit: cliKeysMax, includeDisabled: true })
    for (const { keyId, name } of page) names.set(keyId, name)
    if (page.length < cliKeysMax) return names
  }
}

const msPerDay = 86_400_000

function cellsOf(by: readonly UsageGroup[], { values }: UsageGroupSum): string[] {
  return by.map((group, index) => {
    const value = values[index] ?? null
    if (group === 'day') return new Date(Number(value) * msPerDay).toISOString().slice(0, 10)
    return value === null ? '' : String(value)
  })
}

interface Shown {
  by: readonly UsageGroup[]
  sums: readonly UsageGroupSum[]
  names: ReadonlyMap<string, string>
  sinceMs: number
}

function writeTable({ by, sums, names, sinceMs }: Shown, context: CommandContext): void {
  const paint = createPaint(context.isTty, context.env)
  const rows = sums.map((sum) => [
    ...cellsOf(by, sum).map((cell, index) => {
      const name = by[index] === 'key' ? names.get(cell) : undefined
      return printable(name === undefined ? cell || '-' : `${name} (${cell})`)
    }),
    String(sum.requests),
    String(sum.inputTokens),
    String(sum.outputTokens),
    String(Math.round(sum.audioMilliseconds / 1_000)),
    String(sum.characters),
    dollars(sum.costNanocredits),
  ])
  const heads = ['calls', 'tokens in', 'tokens out', 'audio s', 'characters', 'cost']
  context.write(renderTable([...by, ...heads], rows, paint))
  const total = sums.reduce((cost, sum) => cost + sum.costNanocredits, 0n)
  const calls = sums.reduce((count, sum) => count + sum.requests, 0)
  context.write(`\n${counted(calls, 'call')} since ${timestamp(sinceMs)} UTC: ${dollars(total)}\n`)
  const unpriced = sums.reduce((count, sum) => count + sum.unpriced, 0)
  const estimated = sums.reduce((count, sum) => count + sum.estimated, 0)
  if (unpriced > 0) context.write(`${counted(unpriced, 'call')} partly without a price: the cost is higher\n`)
  if (estimated > 0) context.write(`${counted(estimated, 'call')} with an estimated usage\n`)
}

/** One line for each group, amounts as decimal USD, lengths in seconds; for spreadsheets and other programs. */
function csvOf(
  by: readonly UsageGroup[],
  sums: readonly UsageGroupSum[],
  names: ReadonlyMap<string, string>,
): string {
  const heads = by.flatMap((group) => (group === 'key' ? ['key', 'key_name'] : [group]))
  const figures = ['requests', 'input_tokens', 'output_tokens', 'audio_seconds', 'characters']
  const lines = sums.map((sum) => [
    ...cellsOf(by, sum).flatMap((cell, index) =>
      by[index] === 'key' ? [cell, names.get(cell) ?? ''] : [cell],
    ),
    sum.requests,
    sum.inputTokens,
    sum.outputTokens,
    sum.audioMilliseconds / 1_000,
    sum.characters,
    sum.estimated,
    sum.unpriced,
    formatCredits(sum.costNanocredits),
    sum.cachedTokens,
    sum.cacheWriteTokens,
    sum.cacheWriteHourTokens,
  ])
  const cached = ['cached_tokens', 'cache_write_tokens', 'cache_write_hour_tokens']
  return [[...heads, ...figures, 'estimated', 'unpriced', 'cost_usd', ...cached], ...lines]
    .map((line) => `${line.map((cell) => csvCell(String(cell))).join(',')}\n`)
    .join('')
}

/**
 * Quoted when necessary. A `user` is the caller's text, and it must not become a formula in the operator's spreadsheet.
 */
function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value) ? `'${value}` : value
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
