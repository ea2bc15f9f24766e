import type { AdoptedKey } from '../../access/keys.ts'
import { openPolicy, parsePolicy, renderPolicy } from '../../access/policy.ts'
import { parseRates, rateMax, renderRates, unlimitedRates } from '../../access/rate-rules.ts'
import { GatewayError } from '../../core/errors.ts'

import { policyListMax, latestExpiryMs } from '../../core/limits/access.ts'
import { filledTextOrNull, textsOrEmpty } from '../../json/values.ts'
import { remarkBudget, remarkColumns } from './litellm-columns.ts'
import {
  budgetChange,
  budgetOf,
  limitWith,
  numberIn,
  type RowLimit,
  digitsOf,
  spentOf,
} from './litellm-rows.ts'
import { formatCredits } from '../../core/money.ts'
import type { LitellmRow } from './litellm-repository.ts'
import type { ModelScope } from './litellm-scope.ts'
import type { LitellmTeam } from './litellm-teams.ts'
import type { UserModels } from './litellm-users.ts'
import type { Remarks } from './remarks.ts'

/** The data that keys refer to. */
export interface KeyContext {
  organizationId: string
  teams: ReadonlyMap<string, LitellmTeam>
  /** Budgets by id. */
  budgets: ReadonlyMap<string, LitellmRow>
  users: UserModels
  /** Models of organizations by their ids; null for all. */
  organizationModels: ReadonlyMap<string, readonly string[] | null>
  scope: ModelScope
  remarks: Remarks
}

/** LiteLLM's own interface creates keys of this team for itself; they last a day. */
const dashboardTeam = 'litellm-dashboard'

/** A row of LiteLLM's keys as a key of this gateway; null for one that is not imported. */
export function adoptKey(row: LitellmRow, context: KeyContext): AdoptedKey | null {
  const { remarks } = context
  const { name, isAsWritten } = nameOf(row, context)
  const subject = `key "${name}"`
  const token = String(row['token'] ?? '')
  if (row['team_id'] === dashboardTeam) return null
  if (!/^[0-9a-f]{64}$/.test(token)) {
    remarks.aboutRow(subject, 'is not carried: it is stored otherwise than as a SHA-256 hash')
    return null
  }
  if (!isAsWritten)
    remarks.aboutRow(subject, 'its name is written otherwise in LiteLLM, with characters that are not shown')
  const team = teamOf(row, context)
  const models = modelsOf(row, { subject, team, context })
  const limit = limitOf(row, { subject, team, context })
  const reading = { subject, team, context }
  const rates = {
    ...unlimitedRates,
    requestsPerMinute: rateOf(row, reading, ['rpm_limit', 'requestsPerMinute', rateMax.requests_per_minute]),
    tokensPerMinute: rateOf(row, reading, ['tpm_limit', 'tokensPerMinute', rateMax.tokens_per_minute]),
  }
  remarkColumns(row, subject, remarks)
  remarkBudget(budgetRowOf(row, context), subject, remarks)
  const isShut = models !== null && models.length === 0
  if (isShut) remarks.aboutRow(subject, 'may use no model that is carried, so it is disabled here')
  const key: AdoptedKey = {
    organizationId: context.organizationId,
    kind: 'inference',
    name,
    keyHash: token,
    label: filledTextOrNull(row['key_name']) ?? '…',
    disabled: row['blocked'] === true || team?.isBlocked === true || isShut,
    limitNanocredits: limit.amount,
    limitReset: limit.reset,
    policy: { ...openPolicy, allowedModels: isShut ? null : models },
    rates,
    expiresAtMs: expiryOf(row['expires_ms'], (message) => remarks.aboutRow(subject, message)),
  }
  const fault = faultOf(key)
  if (fault === null) return key
  remarks.aboutRow(subject, `is not carried: it could not be read here (${fault})`)
  return null
}

/** The problem that the store would have with the row on reading the key again; null when there is none. */
function faultOf({ policy, rates }: AdoptedKey): string | null {
  try {
    parsePolicy(JSON.parse(renderPolicy(policy)))
    parseRates(JSON.parse(renderRates(rates)))
    return null
  } catch (error) {
    if (error instanceof GatewayError) return error.message
    throw error
  }
}

/** Limits a time to the dates of this gateway. PostgreSQL has two special values, before and after all dates. */
function expiryOf(value: unknown, tell: (message: string) => void): number | null {
  if (value === null || value === undefined || value === 'Infinity') return null
  const atMs = numberIn(value) ?? Number.NEGATIVE_INFINITY
  const expiryMs = Math.max(0, Math.min(latestExpiryMs, atMs))
  if (expiryMs !== atMs)
    tell(`expires: is no date that there is here; it is ${new Date(expiryMs).toISOString()}`)
  return expiryMs
}

/** Control characters, characters that change the direction of a text or have no width, and line ends. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/**
 * The name of its team and its alias, as in `research/app`. Without an alias it is the part that LiteLLM shows, otherwise the
 * beginning of its hash; never its secret.
 */
function nameOf(row: LitellmRow, context: KeyContext): { name: string; isAsWritten: boolean } {
  const told = filledTextOrNull(row['key_alias']) ?? filledTextOrNull(row['key_name']) ?? ''
  const own = told.replaceAll(hidden, ' ').trim()
  const team = teamOf(row, context)?.name ?? null
  const ofTeam = team === null ? '' : `${team.replaceAll(hidden, ' ').trim()}/`
  const word = own === '' ? `${String(row['token'] ?? '').slice(0, 8)}…` : own
  const isAsWritten = [team ?? '', told].every((text) => text.replaceAll(hidden, ' ') === text)
  return { name: `${ofTeam}${word}`, isAsWritten }
}

function teamOf(row: LitellmRow, { teams }: KeyContext): LitellmTeam | null {
  return teams.get(filledTextOrNull(row['team_id']) ?? '') ?? null
}

function budgetRowOf(row: LitellmRow, { budgets }: KeyContext): LitellmRow | undefined {
  return budgets.get(filledTextOrNull(row['budget_id']) ?? '')
}

interface Reading {
  subject: string
  team: LitellmTeam | null
  context: KeyContext
}

/** The models that the key allows, and its team, its user or the membership of both; null for all. */
function modelsOf(row: LitellmRow, { subject, team, context }: Reading): readonly string[] | null {
  const { scope, remarks, users } = context
  const teamId = filledTextOrNull(row['team_id'])
  if (team === null && teamId !== null)
    remarks.aboutRow(
      subject,
      `team_id: there is no team "${teamId}", so the key has no models, budget and limits but its own`,
    )
  const listed = textsOrEmpty(row['models'])
  const own = listed.filter((model) => model !== 'all-team-models')
  const isOfTeam = listed.length > own.length || listed.length === 0
  const { models, unknown } = scope.read(own)
  remarks.aboutNames(
    subject,
    unknown,
    (names) => `models: ${names} ${unknown.length > 1 ? 'are' : 'is'} no model_name that is carried`,
  )
  const userId = filledTextOrNull(row['user_id'])
  const organizationId = filledTextOrNull(row['organization_id']) ?? team?.organizationId ?? ''
  const lists = [
    isOfTeam && own.length === 0 ? null : models,
    team?.models ?? null,
    context.organizationModels.get(organizationId) ?? null,
  ]
  if (userId !== null)
    lists.push(team === null ? users.ofUser(userId) : users.ofMember(String(row['team_id']), userId))
  const stated = lists.filter((list) => list !== null)
  if (stated.length === 0) return null
  const common = stated.reduce((left, right) => left.filter((model) => right.includes(model)))
  if (common.length <= policyListMax) return common
  remarks.aboutRow(subject, `models: only the first ${policyListMax} are carried`)
  return common.slice(0, policyListMax)
}

function limitOf(row: LitellmRow, { subject, team, context }: Reading): RowLimit {
  const { remarks } = context
  const budget = budgetRowOf(row, context)
  const written = budgetOf(row['max_budget']) === null ? budget?.['max_budget'] : row['max_budget']
  const most = budgetOf(written)
  const ofTeam = team?.left ?? null
  if (most === null) {
    if (ofTeam === null) return { amount: null, reset: null }
    remarks.aboutRow(
      subject,
      `has no budget but that of team "${team?.name}", and here a limit of ${formatCredits(ofTeam)} of its own`,
    )
    return { amount: ofTeam, reset: team?.reset ?? null }
  }
  const limit = ownLimitOf(row, { subject, written, most, budget, remarks })
  if (ofTeam === null) return limit
  if (ofTeam === 0n && team?.reset === null) return { amount: 0n, reset: null }
  const isStricter = limit.amount !== null && limit.amount > ofTeam && team?.reset === limit.reset
  const carried = isStricter ? { amount: ofTeam, reset: limit.reset } : limit
  const renewal = carried.reset === null ? '' : ` ${carried.reset}`
  remarks.aboutRow(
    subject,
    `has one limit here, ${formatCredits(carried.amount ?? 0n)}${renewal}: the budget of team "${team?.name}" does not count beside its own`,
  )
  return carried
}

/** The budget of the key itself. */
function ownLimitOf(
  row: LitellmRow,
  {
    subject,
    written,
    most,
    budget,
    remarks,
  }: { subject: string; written: unknown; most: number; budget: LitellmRow | undefined; remarks: Remarks },
): RowLimit {
  const change = budgetChange(written, most)
  if (change !== null) remarks.aboutRow(subject, change)
  const duration = filledTextOrNull(row['budget_duration']) ?? filledTextOrNull(budget?.['budget_duration'])
  const spent = spentOf(row['spend'])
  const isSpent = !Number.isFinite(spent)
  if (isSpent)
    remarks.aboutRow(
      subject,
      'spend: is no amount, so all of its budget counts as spent, and is never renewed',
    )
  const limit = limitWith({ most, spent, duration })
  if (limit.reset !== null && spent > 0)
    remarks.aboutRow(
      subject,
      `has spent ${spent} of its budget of ${most} in the window that runs, which begins anew here`,
    )
  if (duration !== null && limit.reset === null && !isSpent)
    remarks.aboutRow(
      subject,
      `budget_duration "${duration}" has no equal here: what is left of its budget, ${formatCredits(limit.amount ?? 0n)}, is never renewed`,
    )
  return limit
}

/** The strictest among the limits of the key, its budget and its team. */
function rateOf(
  row: LitellmRow,
  { subject, team, context }: Reading,
  [column, member, most]: readonly [string, 'requestsPerMinute' | 'tokensPerMinute', number],
): number | null {
  const budget = budgetRowOf(row, context)
  const written = row[column] ?? budget?.[column]
  const own = numberIn(written)
  const rates = [own, team?.[member] ?? null].filter((rate) => rate !== null)
  if (rates.length === 0) return null
  const asked = Math.min(...rates)
  const rate = Math.min(most, Math.max(1, Math.floor(asked)))
  if (rate !== asked) {
    const theirs = asked === own ? digitsOf(written) : asked
    context.remarks.aboutRow(subject, `${column}: is ${rate} here, and ${theirs} in LiteLLM`)
  }
  return rate
}
