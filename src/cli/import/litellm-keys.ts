import type { AdoptedKey } from '../../access/keys.ts'
import { openPolicy, parsePolicy, renderPolicy } from '../../access/policy.ts'
import { parseRates, rateMax, renderRates, unlimitedRates } from '../../access/rate-rules.ts'
import { GatewayError } from '../../core/errors.ts'

import { policyListMax, latestExpiryMs } from '../../core/limits/access.ts'
import { filledTextOrNull, finiteNumberOrNull, recordOrEmpty, textsOrEmpty } from '../../json/values.ts'
import { budgetOf, limitWith, type RowLimit, saysSomething, spentOf } from './litellm-rows.ts'
import { formatCredits } from '../../core/money.ts'
import type { LitellmRow } from './litellm-repository.ts'
import type { ModelScope } from './litellm-scope.ts'
import type { LitellmTeam } from './litellm-teams.ts'
import type { Remarks } from './remarks.ts'

/** The data that keys refer to. */
export interface KeyContext {
  organizationId: string
  teams: ReadonlyMap<string, LitellmTeam>
  /** Budgets by id. */
  budgets: ReadonlyMap<string, LitellmRow>
  scope: ModelScope
  remarks: Remarks
}

/** LiteLLM's own interface creates keys of this team for itself; they last a day. */
const dashboardTeam = 'litellm-dashboard'

/** A row of LiteLLM's keys as a key of this gateway; null for one that is not imported. */
export function adoptKey(row: LitellmRow, context: KeyContext): AdoptedKey | null {
  const { remarks } = context
  const name = nameOf(row)
  const subject = `key "${name}"`
  const token = String(row['token'] ?? '')
  if (row['team_id'] === dashboardTeam) return null
  if (!/^[0-9a-f]{64}$/.test(token)) {
    remarks.aboutRow(subject, 'is not carried: it is stored otherwise than as a SHA-256 hash')
    return null
  }
  const team = context.teams.get(filledTextOrNull(row['team_id']) ?? '') ?? null
  const models = modelsOf(row, { subject, team, context })
  const limit = limitOf(row, { subject, team, context })
  const reading = { subject, team, context }
  const rates = {
    ...unlimitedRates,
    requestsPerMinute: rateOf(row, reading, ['rpm_limit', 'requestsPerMinute', rateMax.requests_per_minute]),
    tokensPerMinute: rateOf(row, reading, ['tpm_limit', 'tokensPerMinute', rateMax.tokens_per_minute]),
  }
  remarkColumns(row, subject, remarks)
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
  const atMs = finiteNumberOrNull(value) ?? Number.NEGATIVE_INFINITY
  const expiryMs = Math.max(0, Math.min(latestExpiryMs, atMs))
  if (expiryMs !== atMs)
    tell(`expires: is no date that there is here; it is ${new Date(expiryMs).toISOString()}`)
  return expiryMs
}

/** Its alias, otherwise the part that LiteLLM shows, otherwise the beginning of its hash; never its secret. */
function nameOf(row: LitellmRow): string {
  const told = filledTextOrNull(row['key_alias']) ?? filledTextOrNull(row['key_name'])
  const shown = told?.replaceAll(/\p{Cc}+/gu, ' ').trim() ?? ''
  return shown === '' ? `${String(row['token'] ?? '').slice(0, 8)}…` : shown
}

interface Reading {
  subject: string
  team: LitellmTeam | null
  context: KeyContext
}

/** The models that both the key and its team allow; null for all. */
function modelsOf(row: LitellmRow, { subject, team, context }: Reading): readonly string[] | null {
  const { scope, remarks } = context
  const listed = textsOrEmpty(row['models'])
  const ofTeam = team?.models ?? null
  const own = listed.filter((model) => model !== 'all-team-models')
  const isOfTeam = listed.length > own.length || listed.length === 0
  const { models, unknown } = scope.read(own)
  remarks.aboutNames(
    subject,
    unknown,
    (shown) => `models: ${shown} ${unknown.length > 1 ? 'are' : 'is'} no model_name that is carried`,
  )
  const ofKey = isOfTeam && own.length === 0 ? null : models
  const both =
    ofKey !== null && ofTeam !== null ? ofKey.filter((model) => ofTeam.includes(model)) : (ofKey ?? ofTeam)
  if (both === null || both.length <= policyListMax) return both
  remarks.aboutRow(subject, `models: only the first ${policyListMax} are carried`)
  return both.slice(0, policyListMax)
}

function limitOf(row: LitellmRow, { subject, team, context }: Reading): RowLimit {
  const { budgets, remarks } = context
  const budget = budgets.get(filledTextOrNull(row['budget_id']) ?? '')
  const most = budgetOf(row['max_budget']) ?? budgetOf(budget?.['max_budget'])
  const ofTeam = team?.left ?? null
  if (most === null) {
    if (ofTeam === null) return { amount: null, reset: null }
    remarks.aboutRow(
      subject,
      `has no budget but that of team "${team?.name}", and here a limit of ${formatCredits(ofTeam)} of its own`,
    )
    return { amount: ofTeam, reset: team?.reset ?? null }
  }
  const duration = filledTextOrNull(row['budget_duration']) ?? filledTextOrNull(budget?.['budget_duration'])
  const spent = spentOf(row['spend'])
  if (!Number.isFinite(spent))
    remarks.aboutRow(subject, 'spend: is no amount, so all of its budget counts as spent')
  const limit = limitWith({ most, spent, duration })
  if (limit.reset !== null && spent > 0 && Number.isFinite(spent))
    remarks.aboutRow(
      subject,
      `has spent ${spent} of its budget of ${most} in the window that runs, which begins anew here`,
    )
  if (duration !== null && limit.reset === null)
    remarks.aboutRow(
      subject,
      `budget_duration "${duration}" has no equal here: what is left of its budget, ${formatCredits(limit.amount ?? 0n)}, is never renewed`,
    )
  if (ofTeam !== null && limit.amount !== null && limit.amount > ofTeam && team?.reset === limit.reset)
    return { amount: ofTeam, reset: limit.reset }
  return limit
}

/** The strictest among the limits of the key, its budget and its team. */
function rateOf(
  row: LitellmRow,
  { subject, team, context }: Reading,
  [column, member, most]: readonly [string, 'requestsPerMinute' | 'tokensPerMinute', number],
): number | null {
  const budget = context.budgets.get(filledTextOrNull(row['budget_id']) ?? '')
  const own = finiteNumberOrNull(row[column]) ?? finiteNumberOrNull(budget?.[column])
  const rates = [own, team?.[member] ?? null].filter((rate) => rate !== null)
  if (rates.length === 0) return null
  const asked = Math.min(...rates)
  const rate = Math.min(most, Math.max(1, Math.floor(asked)))
  if (rate !== asked) context.remarks.aboutRow(subject, `${column}: is ${rate} here, and ${asked} in LiteLLM`)
  return rate
}

/** Columns that are not imported; a remark is added when one has a value. */
const columns: readonly (readonly [column: string, message: string])[] = [
  ['max_parallel_requests', 'keys have no limit of calls at once here'],
  ['model_max_budget', 'a key has one limit for all its models here'],
  ['budget_limits', 'a key has one limit for all its models here'],
  ['aliases', 'aliases are those of the whole gateway here'],
  ['config', 'a key has no configuration of its own here'],
  ['router_settings', 'a key has no configuration of its own here'],
  ['permissions', 'a key has no permissions of this kind here'],
  ['allowed_routes', 'an inference key may ask for every operation here'],
  ['allowed_cache_controls', 'answers are not cached here'],
  ['policies', 'a key has no policies of this kind here'],
  ['access_group_ids', 'groups of models are not read from the database'],
  ['object_permission_id', 'a key has no permissions of this kind here'],
  ['project_id', 'there are no projects here'],
  ['organization_id', 'all keys are carried into one organization'],
]

function remarkColumns(row: LitellmRow, subject: string, remarks: Remarks): void {
  for (const [column, message] of columns)
    if (saysSomething(row[column])) remarks.aboutRow(subject, `${column}: ${message}`)
  const metadata = recordOrEmpty(row['metadata'])
  for (const column of ['model_rpm_limit', 'model_tpm_limit', 'guardrails', 'tags'])
    if (saysSomething(metadata[column]))
      remarks.aboutRow(subject, `metadata.${column}: has no counterpart here`)
}
