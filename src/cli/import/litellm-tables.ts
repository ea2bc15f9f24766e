import type { ImportedFile } from './litellm-import.ts'
import type { KeyContext } from './litellm-keys.ts'
import type { LitellmDatabase } from './litellm-repository.ts'
import { createScope } from './litellm-scope.ts'
import { readTeamAliases, readTeams } from './litellm-teams.ts'
import { readOrganizations, readUsers } from './litellm-users.ts'
import type { Remarks } from './remarks.ts'

/** LiteLLM's database without its keys. */
export interface LitellmTables {
  /** What the keys refer to. */
  context: Omit<KeyContext, 'organizationId' | 'remarks'>
  aliases: Record<string, string>
}

/** Reads all of LiteLLM's database except the keys. */
export async function readTables(
  litellm: LitellmDatabase,
  file: ImportedFile,
  remarks: Remarks,
): Promise<LitellmTables> {
  const [teams, budgets, models, stored] = [
    await litellm.table('LiteLLM_TeamTable'),
    await litellm.table('LiteLLM_BudgetTable'),
    await litellm.table('LiteLLM_ModelTable'),
    await litellm.table('LiteLLM_ProxyModelTable'),
  ]
  const { names, aliases } = file.addition
  const ofTeams = readTeamAliases({ teams, models }, { names, aliases }, remarks)
  const scope = createScope({ names, aliases: { ...aliases, ...ofTeams } }, file.deployments)
  for (const row of stored)
    remarks.aboutRow(
      `model "${String(row['model_name'])}"`,
      'is not carried: the database has it encrypted; name it in model_list',
    )
  const users = await litellm.table('LiteLLM_UserTable')
  const organizations = await litellm.table('LiteLLM_OrganizationTable')
  const rowsOf = (table: 'LiteLLM_UserTable' | 'LiteLLM_OrganizationTable' | 'LiteLLM_EndUserTable') => {
    if (table === 'LiteLLM_UserTable') return users
    return table === 'LiteLLM_OrganizationTable' ? organizations : litellm.table(table)
  }
  for (const table of ['LiteLLM_UserTable', 'LiteLLM_OrganizationTable', 'LiteLLM_EndUserTable'] as const) {
    const rows = await rowsOf(table)
    const budgeted = rows.filter((row) => row['max_budget'] != null || row['budget_id'] != null)
    if (budgeted.length > 0)
      remarks.aboutRow(
        table,
        `its budgets are not carried (${budgeted.length}): budgets are those of keys here`,
      )
  }
  const members = await litellm.table('LiteLLM_TeamMembership')
  const reading = { scope, remarks }
  const teamsById = readTeams(teams, reading)
  const budgetsById = new Map(budgets.map((row) => [String(row['budget_id']), row]))
  const ofOrganizations = readOrganizations(organizations, reading)
  const userModels = readUsers({ users, members, budgets: budgetsById, teams: teamsById }, reading)
  return {
    context: {
      teams: teamsById,
      budgets: budgetsById,
      users: userModels,
      organizationModels: ofOrganizations,
      scope,
    },
    aliases: ofTeams,
  }
}
