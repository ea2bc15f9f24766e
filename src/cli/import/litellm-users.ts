import { filledTextOrNull, textsOrEmpty } from '../../json/values.ts'
import type { LitellmRow } from './litellm-repository.ts'
import { saysSomething } from './litellm-rows.ts'
import { type ModelScope, noModels } from './litellm-scope.ts'
import type { LitellmTeam } from './litellm-teams.ts'
import type { Remarks } from './remarks.ts'

/** The models that users may ask for; null for all. LiteLLM checks the first for keys without a team, the second for others. */
export interface UserModels {
  ofUser(userId: string): readonly string[] | null
  ofMember(teamId: string, userId: string): readonly string[] | null
}

interface UserTables {
  users: readonly LitellmRow[]
  members: readonly LitellmRow[]
  budgets: ReadonlyMap<string, LitellmRow>
  teams: ReadonlyMap<string, LitellmTeam>
}

/** Limits of a member of a team, by the columns of the member's budget. */
const memberLimits = ['max_budget', 'rpm_limit', 'tpm_limit', 'tpd_limit', 'max_parallel_requests'] as const

/** Reads the models of users and of members of teams. Adds a remark for their limits, which are not imported. */
export function readUsers(
  { users, members, budgets, teams }: UserTables,
  { scope, remarks }: { scope: ModelScope; remarks: Remarks },
): UserModels {
  const ofUser = new Map<string, readonly string[] | null>()
  for (const row of users) {
    const id = String(row['user_id'])
    const listed = textsOrEmpty(row['models'])
    const models = readModels(`user "${id}"`, listed, { scope, remarks })
    ofUser.set(id, listed.includes(noModels) ? [] : models)
  }
  remarkUserLimits(users, remarks)
  const ofMember = new Map<string, readonly string[] | null>()
  const limited = new Map<string, string[]>()
  for (const row of members) {
    const [teamId, userId] = [String(row['team_id']), String(row['user_id'])]
    const team = `team "${teams.get(teamId)?.name ?? teamId}"`
    const budget = budgets.get(String(row['budget_id'])) ?? {}
    const subject = `${team}, member "${userId}"`
    const models = readModels(subject, textsOrEmpty(budget['allowed_models']), { scope, remarks })
    ofMember.set(memberKey(teamId, userId), models)
    if (memberLimits.some((column) => saysSomething(budget[column])))
      limited.set(team, [...(limited.get(team) ?? []), userId])
  }
  for (const [team, ids] of limited)
    remarks.aboutNames(
      team,
      ids,
      (names) => `the budgets and limits of its members are not carried: ${names} (${ids.length})`,
    )
  return {
    ofUser: (userId) => ofUser.get(userId) ?? null,
    ofMember: (teamId, userId) => ofMember.get(memberKey(teamId, userId)) ?? null,
  }
}

/** The models that all keys of an organization may ask for, by its id; null for all. */
export function readOrganizations(
  rows: readonly LitellmRow[],
  reading: { scope: ModelScope; remarks: Remarks },
): ReadonlyMap<string, readonly string[] | null> {
  return new Map(
    rows.map((row) => {
      const id = String(row['organization_id'])
      const name = filledTextOrNull(row['organization_alias']) ?? id
      return [id, readModels(`organization "${name}"`, textsOrEmpty(row['models']), reading)]
    }),
  )
}

function memberKey(teamId: string, userId: string): string {
  return JSON.stringify([teamId, userId])
}

function readModels(
  subject: string,
  listed: readonly string[],
  { scope, remarks }: { scope: ModelScope; remarks: Remarks },
): readonly string[] | null {
  const { models, unknown } = scope.read(listed)
  remarks.aboutNames(
    subject,
    unknown,
    (names) => `models: ${names} ${unknown.length > 1 ? 'are' : 'is'} no model_name that is carried`,
  )
  return models
}

const userLimits = ['rpm_limit', 'tpm_limit', 'max_parallel_requests', 'model_max_budget'] as const

function remarkUserLimits(users: readonly LitellmRow[], remarks: Remarks): void {
  const limited = users.filter((row) => userLimits.some((column) => saysSomething(row[column])))
  if (limited.length > 0)
    remarks.aboutRow(
      'LiteLLM_UserTable',
      `its limits of calls and of models are not carried (${limited.length}): limits are those of keys here`,
    )
}
