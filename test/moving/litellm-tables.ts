import { SQL } from 'bun'
import { createHash } from 'node:crypto'

/** The tables of LiteLLM's database that hold keys, as its published schema has them; columns that nothing here uses are left out. */
const tables = [
  `create table "LiteLLM_BudgetTable" (budget_id text primary key, max_budget double precision, soft_budget double precision,
    max_parallel_requests integer, tpm_limit bigint, rpm_limit bigint, model_max_budget jsonb, budget_duration text,
    tpd_limit bigint, allowed_models text[] not null default '{}', budget_reset_at timestamp(3), created_at timestamp(3) not null default now(), created_by text not null)`,
  `create table "LiteLLM_ModelTable" (id serial primary key, aliases jsonb, created_by text not null)`,
  `create table "LiteLLM_ProxyModelTable" (model_id text primary key, model_name text not null, litellm_params jsonb not null, model_info jsonb)`,
  `create table "LiteLLM_UserTable" (user_id text primary key, max_budget double precision, spend double precision not null default 0,
    models text[] not null default '{}', rpm_limit bigint)`,
  `create table "LiteLLM_TeamMembership" (user_id text, team_id text, budget_id text, primary key (user_id, team_id))`,
  `create table "LiteLLM_TeamTable" (team_id text primary key, team_alias text, organization_id text, metadata jsonb not null default '{}',
    max_budget double precision, spend double precision not null default 0, models text[], max_parallel_requests integer,
    tpm_limit bigint, rpm_limit bigint, budget_duration text, budget_reset_at timestamp(3), blocked boolean not null default false,
    model_id integer unique, tpd_limit bigint)`,
  `create table "LiteLLM_VerificationToken" (token text primary key, key_name text, key_alias text,
    spend double precision not null default 0, expires timestamp(3), models text[], aliases jsonb not null default '{}',
    config jsonb not null default '{}', user_id text, team_id text, permissions jsonb not null default '{}',
    max_parallel_requests integer, metadata jsonb not null default '{}', blocked boolean, tpm_limit bigint, rpm_limit bigint,
    max_budget double precision, budget_duration text, budget_reset_at timestamp(3), allowed_cache_controls text[] not null default '{}',
    allowed_routes text[] not null default '{}', model_max_budget jsonb not null default '{}', budget_id text, organization_id text,
    agent_id text, key_type text, auto_rotate boolean default false, tpd_limit bigint, created_at timestamp(3) default now())`,
]

/** A row of LiteLLM's keys, without what it leaves to the defaults. */
export type TokenRow = Readonly<Record<string, string | number | boolean | readonly string[] | object | null>>

/** As LiteLLM stores a secret. */
export const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** The secret of the key with this alias, as its client has it. */
export const secretOf = (alias: string): string => `sk-${sha256(`client of ${alias}`).slice(0, 22)}`

/** The keys with something particular about them, by their aliases. */
export const particular: Readonly<Record<string, TokenRow>> = {
  'a-blocked': { blocked: true },
  'b-expired': { expires: '2024-03-01 12:00:00' },
  'c-until-later': { expires: '2199-01-01 00:00:00' },
  'd-spent': { max_budget: 5, spend: 5.25 },
  'e-nearly-spent': { max_budget: 0.00002, spend: 0.000019 },
  'f-daily': { max_budget: 10, spend: 9, budget_duration: '1d' },
  'g-monthly': { budget_id: 'standard' },
  'h-every-ten-days': { max_budget: 4, spend: 1, budget_duration: '10d' },
  'i-small-only': { models: ['gpt-3.5-turbo'] },
  'j-beta': { models: ['beta', 'gone'] },
  'k-nothing': { models: ['no-default-models'] },
  'l-slow': { rpm_limit: 2 },
  'm-tokens': { tpm_limit: 1_000, max_parallel_requests: 3 },
  'n-team': { team_id: 'team-1', models: ['all-team-models'] },
  'o-team-blocked': { team_id: 'team-2' },
  'p-team-both': { team_id: 'team-1', models: ['claude', 'small'], rpm_limit: 50 },
  'q-aliases': { aliases: { mine: 'gpt-4o' } },
  'r-model-budgets': { model_max_budget: { 'gpt-4o': 1 } },
}

/** Of 312 keys all but the particular ones are plain. */
export const keyCount = 312
export const plainAliases = Array.from(
  { length: keyCount - Object.keys(particular).length },
  (_, index) => `plain-${String(index).padStart(3, '0')}`,
)

/** Makes its tables, empty, and rows of keys as they are given. */
export async function createKeyRows(
  url: string,
  rows: Readonly<Record<string, TokenRow>>,
  statements: readonly string[] = [],
): Promise<void> {
  const sql = new SQL({ url, max: 1 })
  try {
    for (const statement of [...tables, ...statements]) await sql.unsafe(statement)
    for (const [alias, row] of Object.entries(rows))
      await insert(sql, { token: sha256(secretOf(alias)), key_alias: alias, ...row })
  } finally {
    await sql.close()
  }
}

/** Fills a database as LiteLLM would have: 312 keys of clients, two teams, a budget, and what is not carried. */
export async function createLitellmDatabase(url: string): Promise<void> {
  const sql = new SQL({ url, max: 1 })
  try {
    for (const statement of tables) await sql.unsafe(statement)
    await sql.unsafe(`insert into "LiteLLM_BudgetTable" (budget_id, max_budget, budget_duration, rpm_limit, created_by)
      values ('standard', 25, '30d', 120, 'admin')`)
    await sql.unsafe(
      `insert into "LiteLLM_ModelTable" (aliases, created_by) values ('{"house": "small", "gpt-4": "claude"}', 'admin')`,
    )
    await sql.unsafe(
      `insert into "LiteLLM_ProxyModelTable" values ('m1', 'hidden-model', '{"model": "encrypted"}', '{}')`,
    )
    await sql.unsafe(`insert into "LiteLLM_UserTable" values ('u1', 50, 0), ('u2', null, 0)`)
    await sql.unsafe(`insert into "LiteLLM_TeamTable" (team_id, team_alias, models, max_budget, spend, budget_duration, rpm_limit, blocked, model_id)
      values ('team-1', 'research', '{gpt-4o,claude}', 100, 40, null, 60, false, 1), ('team-2', 'closed', '{}', null, 0, null, null, true, null)`)
    const rows = [
      ...Object.entries(particular),
      ...plainAliases.map((alias): [string, TokenRow] => [alias, {}]),
    ].map(([alias, row]) => ({
      token: sha256(secretOf(alias)),
      key_alias: alias,
      key_name: `sk-...${secretOf(alias).slice(-4)}`,
      ...row,
    }))
    for (const row of rows) await insert(sql, row)
    // A session of LiteLLM's own interface, which is no client's key, and a key of a time when they were not hashed.
    await insert(sql, { token: sha256('session'), team_id: 'litellm-dashboard' })
    await insert(sql, { token: 'sk-from-long-ago', key_alias: 'z-unhashed' })
  } finally {
    await sql.close()
  }
}

async function insert(sql: SQL, row: TokenRow): Promise<void> {
  const given: TokenRow = { models: [], ...row }
  const names = Object.keys(given)
  const values = Object.values(given).map((value) => {
    if (Array.isArray(value)) return `{${value.join(',')}}`
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  })
  const casts: Readonly<Record<string, string>> = {
    models: '::text[]',
    expires: '::text::timestamp',
    aliases: '::text::jsonb',
    metadata: '::text::jsonb',
    tpm_limit: '::text::bigint',
    model_max_budget: '::text::jsonb',
  }
  const castOf = (name: string) =>
    casts[name] ??
    (['spend', 'max_budget'].includes(name) && typeof given[name] === 'string' ? '::text::float8' : '')
  const places = names.map((name, index) => `$${index + 1}${castOf(name)}`)
  await sql.unsafe(
    `insert into "LiteLLM_VerificationToken" (${names.join(', ')}) values (${places.join(', ')})`,
    values,
  )
}

/** An empty database beside those of the tests, on the same server, which throws it away. */
export async function freshPostgres(url: string | null): Promise<string> {
  if (url === null) throw new Error('there is no PostgreSQL')
  const database = `litellm_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`
  const sql = new SQL({ url, max: 1 })
  await sql.unsafe(`create database ${database}`)
  await sql.close()
  const address = new URL(url)
  address.pathname = `/${database}`
  return address.href
}
