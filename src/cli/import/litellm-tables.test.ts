import { expect, test } from 'bun:test'
import type { AdoptedKey } from '../../access/keys.ts'
import { readLitellmFile } from './litellm-import.ts'
import { adoptKey } from './litellm-keys.ts'
import type { LitellmDatabase, LitellmRow, LitellmTable } from './litellm-repository.ts'
import { readTables } from './litellm-tables.ts'
import { Remarks } from './remarks.ts'
import { parseYaml } from './yaml-tree.ts'

const yaml = `model_list:
${['small', 'large', 'spare'].map((name) => `  - { model_name: ${name}, litellm_params: { model: openai/${name}, api_base: "http://llm.example/v1" } }`).join('\n')}
`

/** The keys that rows become, and what is reported of the database. */
async function read(rows: readonly LitellmRow[], tables: Partial<Record<LitellmTable, LitellmRow[]>> = {}) {
  const litellm: LitellmDatabase = {
    table: (name) => Promise.resolve(tables[name] ?? []),
    keys: async function* () {
      yield await Promise.resolve(rows)
    },
    close: () => Promise.resolve(),
  }
  const file = readLitellmFile(parseYaml(yaml, 'c.yaml'), { env: {}, hasDatabase: true }, new Remarks())
  const remarks = new Remarks()
  const { context } = await readTables(litellm, file, remarks)
  const keys = rows.map((row, index) =>
    adoptKey(
      { token: String(index).padStart(64, '0'), ...row },
      { ...context, organizationId: 'org_1', remarks },
    ),
  )
  return { keys, told: remarks.sorted().map(({ subject, message }) => `${subject}: ${message}`) }
}

const modelsOf = (keys: readonly (AdoptedKey | null)[]) =>
  keys.map((key) => [key?.name, key?.disabled, key?.policy.allowedModels])

test('a key without a team has the models that it and its user have in common', async () => {
  const { keys, told } = await read(
    [
      { key_alias: 'a', user_id: 'u1' },
      { key_alias: 'b', user_id: 'u1', models: ['small', 'spare'] },
      { key_alias: 'c', user_id: 'u1', models: ['spare'] },
      { key_alias: 'd', user_id: 'u1', team_id: 't1' },
      { key_alias: 'e', user_id: 'u2' },
      { key_alias: 'f', user_id: 'u3' },
      { key_alias: 'g', user_id: 'nobody' },
    ],
    {
      LiteLLM_TeamTable: [{ team_id: 't1', team_alias: 'research', models: [] }],
      LiteLLM_UserTable: [
        { user_id: 'u1', models: ['small', 'large', 'gone'] },
        { user_id: 'u2', models: [] },
        { user_id: 'u3', models: ['no-default-models', 'small'], rpm_limit: 5 },
      ],
    },
  )
  expect(modelsOf(keys)).toEqual([
    ['a', false, ['small', 'large']],
    ['b', false, ['small']],
    ['c', true, null],
    // A user's models count for personal keys alone.
    ['research/d', false, null],
    ['e', false, null],
    ['f', true, null],
    ['g', false, null],
  ])
  expect(told).toEqual([
    'LiteLLM_UserTable: its limits of calls and of models are not carried (1): limits are those of keys here',
    'key "c": may use no model that is carried, so it is disabled here',
    'key "f": may use no model that is carried, so it is disabled here',
    'user "u1": models: "gone" is no model_name that is carried',
  ])
})

test('the models of a member of a team are those of its keys there, and its budget is reported', async () => {
  const { keys, told } = await read(
    [
      { key_alias: 'a', user_id: 'u1', team_id: 't1' },
      { key_alias: 'b', user_id: 'u2', team_id: 't1' },
    ],
    {
      LiteLLM_TeamTable: [
        { team_id: 't1', team_alias: 'research', models: ['small', 'large'], tpd_limit: 900 },
      ],
      LiteLLM_TeamMembership: [
        { team_id: 't1', user_id: 'u1', budget_id: 'b1' },
        { team_id: 't1', user_id: 'u2', budget_id: null },
      ],
      LiteLLM_BudgetTable: [{ budget_id: 'b1', max_budget: 3, allowed_models: ['large', 'spare'] }],
    },
  )
  expect(modelsOf(keys)).toEqual([
    ['research/a', false, ['large']],
    ['research/b', false, ['small', 'large']],
  ])
  expect(told).toEqual([
    'team "research": tpd_limit: keys have no limit of tokens a day here',
    'team "research": the budgets and limits of its members are not carried: "u1" (1)',
  ])
})

test('the name of a key has its team before it, and the id of a team whose alias is not its own', async () => {
  const { keys } = await read(
    [
      { key_alias: 'app', team_id: 't1' },
      { key_alias: 'app', team_id: 't2' },
      { key_alias: 'app', team_id: 't3' },
      { key_name: 'sk-...abcd', team_id: 't4' },
      { key_alias: 'app', team_id: 'gone' },
    ],
    {
      LiteLLM_TeamTable: [
        { team_id: 't1', team_alias: 'research\u202e' },
        { team_id: 't2', team_alias: 'same' },
        { team_id: 't3', team_alias: 'same' },
        { team_id: 't4' },
      ],
    },
  )
  expect(keys.map((key) => key?.name)).toEqual([
    'research/app',
    'same (t2)/app',
    'same (t3)/app',
    't4/sk-...abcd',
    'app',
  ])
})

test('every column of a key that restricts it and is not carried is reported', async () => {
  const restricted = {
    key_alias: 'a',
    tpd_limit: 1000,
    agent_id: 'agent-1',
    key_type: 'read_only',
    auto_rotate: true,
    budget_fallbacks: { small: ['large'] },
    some_day_new: 'x',
    budget_id: 'b1',
    metadata: { allowed_model_region: 'eu', note: 'of the operator' },
  }
  const plain = {
    key_alias: 'b',
    key_type: 'llm_api',
    auto_rotate: false,
    soft_budget_cooldown: false,
    rotation_count: 0,
    permissions: {},
    config: {},
    created_by: 'admin',
  }
  const { told } = await read([restricted, plain], {
    LiteLLM_BudgetTable: [{ budget_id: 'b1', max_parallel_requests: 2, tpd_limit: 5 }],
  })
  expect(told.map((line) => line.replace('key "a": ', ''))).toEqual([
    'tpd_limit: keys have no limit of tokens a day here',
    'agent_id: there are no agents here',
    'key_type: an inference key may ask for every operation here',
    'auto_rotate: no key gets another secret by itself here; npx headrace keys rotate does it',
    'budget_fallbacks: a spent limit does not lead to another model here',
    'some_day_new: has no counterpart here',
    'metadata.allowed_model_region: has no counterpart here',
    'max_parallel_requests of its budget (2): keys have no limit of calls at once here',
    'tpd_limit of its budget (5): keys have no limit of tokens a day here',
  ])
})

test('a key has no more models than its organization, and one whose team is gone is reported', async () => {
  const { keys, told } = await read(
    [
      { key_alias: 'a', organization_id: 'o1' },
      { key_alias: 'b', organization_id: 'o1', models: ['large', 'spare'] },
      { key_alias: 'c', team_id: 't1' },
      { key_alias: 'd', organization_id: 'o2' },
      { key_alias: 'e', team_id: 'gone' },
    ],
    {
      LiteLLM_TeamTable: [{ team_id: 't1', team_alias: 'research', models: [], organization_id: 'o1' }],
      LiteLLM_OrganizationTable: [
        { organization_id: 'o1', organization_alias: 'house', models: ['small', 'large', 'old'] },
        { organization_id: 'o2', models: [] },
      ],
    },
  )
  expect(modelsOf(keys)).toEqual([
    ['a', false, ['small', 'large']],
    ['b', false, ['large']],
    ['research/c', false, ['small', 'large']],
    ['d', false, null],
    ['e', false, null],
  ])
  expect(told).toContain('organization "house": models: "old" is no model_name that is carried')
  expect(told).toContain(
    'key "e": team_id: there is no team "gone", so the key has no models, budget and limits but its own',
  )
})

test("a team's budget that does not count beside that of a key is reported, and what is spent of it", async () => {
  const { keys, told } = await read(
    [
      { key_alias: 'own', team_id: 't1', max_budget: 5, budget_duration: '1d' },
      { key_alias: 'larger', team_id: 't1', max_budget: 80, budget_duration: '30d' },
      { key_alias: 'none', team_id: 't1' },
    ],
    {
      LiteLLM_TeamTable: [
        { team_id: 't1', team_alias: 'research', max_budget: 50, budget_duration: '30d', spend: 12.5 },
      ],
    },
  )
  expect(keys.map((key) => [key?.limitNanocredits, key?.limitReset])).toEqual([
    [5_000_000_000n, 'daily'],
    [50_000_000_000n, 'monthly'],
    [50_000_000_000n, 'monthly'],
  ])
  expect(told).toEqual([
    'key "research/larger": has one limit here, 50 monthly: the budget of team "research" does not count beside its own',
    'key "research/none": has no budget but that of team "research", and here a limit of 50 of its own',
    'key "research/own": has one limit here, 5 daily: the budget of team "research" does not count beside its own',
    'team "research": max_budget: 12.5 of it is spent in the window that runs, which begins anew here',
    'team "research": max_budget: its keys share it in LiteLLM; here each that has no budget of its own may spend 50',
  ])
})
