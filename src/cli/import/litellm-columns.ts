import { recordOrEmpty } from '../../json/values.ts'
import type { LitellmRow } from './litellm-repository.ts'
import { saysSomething, digitsOf } from './litellm-rows.ts'
import { cachedReason, type Remarks } from './remarks.ts'

/** Columns of keys and teams that the import reads, or that only tell what was. */
const readColumns: ReadonlySet<string> = new Set([
  'admins',
  'allow_team_guardrail_config',
  'blocked',
  'budget_duration',
  'budget_id',
  'budget_reset_at',
  'created_at',
  'created_by',
  'expires',
  'expires_ms',
  'key_alias',
  'key_name',
  'key_rotation_at',
  'last_active',
  'last_rotation_at',
  'max_budget',
  'members',
  'members_with_roles',
  'metadata',
  'model_id',
  'model_spend',
  'models',
  'rotation_count',
  'rotation_interval',
  'rpm_limit',
  'settings_updated_at',
  'soft_budget',
  'soft_budget_cooldown',
  'spend',
  'team_alias',
  'team_id',
  'team_member_permissions',
  'token',
  'total_spend',
  'tpm_limit',
  'updated_at',
  'updated_by',
  'user_id',
])

/** Why columns of keys and teams are not imported; every other column that is not read has no counterpart. */
const reasons: Readonly<Record<string, string>> = {
  max_parallel_requests: 'keys have no limit of calls at once here',
  tpd_limit: 'keys have no limit of tokens a day here',
  model_max_budget: 'a key has one limit for all its models here',
  budget_limits: 'a key has one limit for all its models here',
  budget_fallbacks: 'a spent limit does not lead to another model here',
  aliases: 'aliases are those of the whole gateway here',
  config: 'a key has no configuration of its own here',
  router_settings: 'a key has no configuration of its own here',
  permissions: 'a key has no permissions of this kind here',
  allowed_routes: 'an inference key may ask for every operation here',
  key_type: 'an inference key may ask for every operation here',
  allowed_cache_controls: cachedReason,
  policies: 'a key has no policies of this kind here',
  access_group_ids: 'groups of models are not read from the database',
  object_permission_id: 'a key has no permissions of this kind here',
  project_id: 'there are no projects here',
  organization_id: 'all keys are carried into one organization',
  agent_id: 'there are no agents here',
  auto_rotate: 'no key gets another secret by itself here; npx headrace keys rotate does it',
  default_team_member_models: 'members of teams have no models of their own here',
}

/** Kinds of keys that ask for models, as all inference keys do. */
const usualKeyTypes: ReadonlySet<unknown> = new Set(['default', 'llm_api'])

/** Members of `metadata` that LiteLLM itself acts on; all others are the operator's notes. */
const actedOn: readonly string[] = [
  'allowed_model_region',
  'allowed_passthrough_routes',
  'allowed_vector_store_indexes',
  'denied_passthrough_routes',
  'disable_global_guardrails',
  'end_user_budget_id',
  'enforced_batch_output_expires_after',
  'enforced_file_expires_after',
  'enforced_params',
  'guardrails',
  'logging',
  'mcp_rpm_limit',
  'model_itpm_limit',
  'model_otpm_limit',
  'model_rpm_limit',
  'model_tpm_limit',
  'policies',
  'prompts',
  'require_trace_id',
  'tag_rpm_limit',
  'tags',
  'team_member_budget_id',
  'temp_budget_expiry',
  'temp_budget_increase',
  'throttle_on_budget_exceeded',
]

/** Adds a remark for each column of a key or a team that has a value and is not imported. */
export function remarkColumns(row: LitellmRow, subject: string, remarks: Remarks): void {
  for (const [column, value] of Object.entries(row)) {
    if (readColumns.has(column) || !saysSomething(value)) continue
    if (column === 'key_type' && usualKeyTypes.has(value)) continue
    remarks.aboutRow(subject, `${column}: ${reasons[column] ?? 'has no counterpart here'}`)
  }
  const metadata = recordOrEmpty(row['metadata'])
  for (const member of actedOn)
    if (saysSomething(metadata[member]))
      remarks.aboutRow(subject, `metadata.${member}: has no counterpart here`)
}

/** Limits that stand in a budget of its own, and that a key or a member of a team has by it. */
const budgetColumns = ['max_parallel_requests', 'tpd_limit', 'model_max_budget'] as const

/** Adds a remark for each limit of a key's budget that is not imported. */
export function remarkBudget(budget: LitellmRow | undefined, subject: string, remarks: Remarks): void {
  for (const column of budgetColumns)
    if (saysSomething(budget?.[column]))
      remarks.aboutRow(subject, `${column} of its budget (${digitsOf(budget?.[column])}): ${reasons[column]}`)
}
