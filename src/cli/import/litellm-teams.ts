import { filledTextOrNull, recordOrEmpty, textsOrEmpty } from '../../json/values.ts'
import { remarkColumns } from './litellm-columns.ts'
import { budgetChange, budgetOf, limitWith, numberIn, digitsOf, spentOf } from './litellm-rows.ts'
import { isModelName } from '../../core/model-name.ts'
import { formatCredits } from '../../core/money.ts'
import type { LitellmRow } from './litellm-repository.ts'
import type { ModelScope } from './litellm-scope.ts'
import type { Remarks } from './remarks.ts'

/** The settings that a team gives to each of its keys. */
export interface LitellmTeam {
  name: string
  isBlocked: boolean
  /** Null for all models. */
  models: readonly string[] | null
  organizationId: string | null
  /** The rest of its budget, in nanocredits; null for none. */
  left: bigint | null
  reset: 'daily' | 'weekly' | 'monthly' | null
  requestsPerMinute: number | null
  tokensPerMinute: number | null
}

/** Reads teams. Adds a remark for limits that a team's keys share in LiteLLM and that each key has by itself here. */
export function readTeams(
  rows: readonly LitellmRow[],
  { scope, remarks }: { scope: ModelScope; remarks: Remarks },
): ReadonlyMap<string, LitellmTeam> {
  const aliases = rows.map((row) => filledTextOrNull(row['team_alias']))
  const teams = rows.map((row, index): [string, LitellmTeam] => {
    const id = String(row['team_id'])
    const alias = aliases[index] ?? null
    const isUnique = aliases.indexOf(alias) === aliases.lastIndexOf(alias)
    const name = alias === null || isUnique ? (alias ?? id) : `${alias} (${id})`
    const subject = `team "${name}"`
    const { models, unknown } = scope.read(textsOrEmpty(row['models']))
    remarks.aboutNames(
      subject,
      unknown,
      (shown) => `models: ${shown} ${unknown.length > 1 ? 'are' : 'is'} no model_name that is carried`,
    )
    const most = budgetOf(row['max_budget'])
    const duration = filledTextOrNull(row['budget_duration'])
    const spent = spentOf(row['spend'])
    const limit = most === null ? null : limitWith({ most, spent, duration })
    const change = most === null ? null : budgetChange(row['max_budget'], most)
    if (change !== null) remarks.aboutRow(subject, change)
    if (most !== null && !Number.isFinite(spent))
      remarks.aboutRow(
        subject,
        'spend: is no amount, so all of its budget counts as spent, and is never renewed',
      )
    if (limit !== null && limit.reset !== null && spent > 0)
      remarks.aboutRow(
        subject,
        `max_budget: ${spent} of it is spent in the window that runs, which begins anew here`,
      )
    if (limit?.amount != null) {
      const renewal = duration !== null && limit.reset === null ? ', never renewed' : ''
      remarks.aboutRow(
        subject,
        `max_budget: its keys share it in LiteLLM; here each that has no budget of its own may spend ${formatCredits(limit.amount)}${renewal}`,
      )
    }
    const rate = numberIn(row['rpm_limit'])
    if (rate !== null)
      remarks.aboutRow(
        subject,
        `rpm_limit: its keys share it in LiteLLM; here each has ${digitsOf(row['rpm_limit'])} requests a minute`,
      )
    const tokens = numberIn(row['tpm_limit'])
    if (tokens !== null)
      remarks.aboutRow(
        subject,
        `tpm_limit: its keys share it in LiteLLM; here each has ${digitsOf(row['tpm_limit'])} tokens a minute`,
      )
    remarkColumns(row, subject, remarks)
    const team: LitellmTeam = {
      name,
      isBlocked: row['blocked'] === true,
      models,
      organizationId: filledTextOrNull(row['organization_id']),
      left: limit?.amount ?? null,
      reset: limit?.reset ?? null,
      requestsPerMinute: rate,
      tokensPerMinute: tokens,
    }
    return [id, team]
  })
  return new Map(teams)
}

/** The aliases of teams that can apply to the whole gateway. */
export function readTeamAliases(
  rows: { teams: readonly LitellmRow[]; models: readonly LitellmRow[] },
  known: { names: Readonly<Record<string, unknown>>; aliases: Readonly<Record<string, string>> },
  remarks: Remarks,
): Record<string, string> {
  const found: Record<string, string> = {}
  const modelById = new Map(rows.models.map((model) => [model['id'], model]))
  for (const team of rows.teams) {
    const model = team['model_id'] == null ? undefined : modelById.get(team['model_id'])
    const subject = `team "${filledTextOrNull(team['team_alias']) ?? String(team['team_id'])}"`
    const told = { taken: [] as string[], unserved: [] as string[], carried: [] as string[] }
    const aliases = parsed(model?.['aliases'])
    for (const [alias, target] of Object.entries(aliases)) {
      const other = found[alias] ?? known.aliases[alias]
      const isTaken = Object.hasOwn(known.names, alias) || (other !== undefined && other !== target)
      const isServed =
        isModelName(alias) &&
        typeof target === 'string' &&
        (Object.hasOwn(known.names, target) || Object.hasOwn(known.aliases, target))
      if (isTaken) told.taken.push(alias)
      else if (!isServed) told.unserved.push(alias)
      else {
        found[alias] = target
        told.carried.push(alias)
      }
    }
    const about = (aliasesOfTeam: readonly string[], message: string) =>
      remarks.aboutNames(subject, aliasesOfTeam, (shown) => `its alias ${shown} ${message}`)
    about(told.taken, 'is not carried: it has another meaning for everybody else')
    about(
      told.unserved,
      'is not carried: it means no model_name that is carried, or is none that callers can write here',
    )
    about(told.carried, 'is carried for all keys')
  }
  return found
}

/** Some versions store JSON as a text inside JSON. */
function parsed(value: unknown): Record<string, unknown> {
  if (typeof value !== 'string') return recordOrEmpty(value)
  try {
    return recordOrEmpty(JSON.parse(value))
  } catch {
    return {}
  }
}
