import { expect, test } from 'bun:test'
import { eachDatabase } from '../../../test/support/databases.ts'
import { createEarlierSchema } from '../../../test/support/earlier-schema.ts'
import { isThorough } from '../../../test/support/thorough.ts'
import { openDatabase } from '../../storage/open-database.ts'
import { checkInvariants } from './invariants.ts'
import { createInvariantsRepository } from './invariants-repository.ts'

/** `npm run prove -- migrated-books` migrates all of a busy day; an ordinary run fewer of it, over the same hours. */
const usages = isThorough ? 200_000 : 8_000
const everyMs = 50_000_000 / usages
/** Far longer than any machine needs, and far shorter than an operator would wait. */
const migrationMs = 120_000

/**
 * A day of a gateway of schema version 2, books in balance: two organizations, a key each, and usages of every hour, of
 * which the last are not rolled up yet. The ids are those of day 20,000.
 */
const filled = [
  `insert into organizations (organization_id, name, account_mode, created_at_ms)
    values ('org_a', 'A', 'prepaid', 5), ('org_b', 'B', 'tracked', 6)`,
  `insert into api_keys (key_hash, key_id, organization_id, kind, name, label, created_at_ms, limit_since_ms)
    values ('hash_a', 'key_a', 'org_a', 'inference', 'a', 'sk', 7, 8), ('hash_b', 'key_b', 'org_b', 'management', 'b', 'sk', 7, 9)`,
  `insert into prices (price_id, price_json) values ('price', '{"inputToken":"1000000"}')`,
  `insert into usages (day, generation_id, organization_id, key_id, operation, model, provider, endpoint_id, status,
      is_estimated, is_unpriced, input_tokens, output_tokens, cost_nanocredits, held_nanocredits, price_id, streamed,
      cancelled, user_id, created_at_ms)
    with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${usages - 1})
    select 20000, 'gen-' || cast(1728000000 + cast(n as bigint) * ${everyMs} / 1000 as text) || '-' || cast(n as text),
      case when n % 2 = 0 then 'org_a' else 'org_b' end, case when n % 2 = 0 then 'key_a' else 'key_b' end,
      'chat_completions', 'maker/model', 'maker', 'maker/model', 'completed', 0, 0, 10, 5, 10 + n % 3, 20, 'price', 0, 0,
      'user-' || cast(n % 1000 as text), 1728000000000 + cast(n as bigint) * ${everyMs} from numbers`,
  ...['organization:', 'income'].map(
    (side) => `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
      select day, generation_id, ${side === 'income' ? `'income:usage'` : `'organization:' || organization_id`},
        ${side === 'income' ? '' : '-'}cost_nanocredits, created_at_ms, 'capture' from usages`,
  ),
  `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
    values (0, 'grant_a', 'organization:org_a', 5000000, 5, 'grant'), (0, 'grant_a', 'equity:grants', -5000000, 5, 'grant')`,
  `insert into budgets (budget_id, kind, organization_id, subject_id, limit_nanocredits, granted_nanocredits,
      spent_nanocredits, created_at_ms)
    select 'credits:org_a', 'credits', 'org_a', 'org_a', 5000000, sum(cost_nanocredits) + 700,
      sum(cost_nanocredits), 5 from usages where organization_id = 'org_a'`,
  `insert into leases (lease_id, budget_id, owner_id, epoch, granted_nanocredits, expires_at_ms, held_until_ms, state,
      created_at_ms) values ('lease', 'credits:org_a', 'owner_gone', 3, 700, 5, 5, 'open', 5)`,
  ...['usage_rollups', 'usage_tail'].map(
    (
      table,
    ) => `insert into ${table} (organization_id, hour, key_id, model, provider, requests, input_tokens, output_tokens,
        reasoning_tokens, audio_milliseconds, characters, cost_nanocredits, estimated_count)
      select organization_id, created_at_ms / 3600000, key_id, model, provider, count(*), sum(input_tokens),
        sum(output_tokens), 0, 0, 0, sum(cost_nanocredits), 0 from usages
      where created_at_ms ${table === 'usage_tail' ? '>=' : '<'} 1728043200000
      group by organization_id, created_at_ms / 3600000, key_id, model, provider`,
  ),
  ...['organization', 'key'].map(
    (subject) => `insert into usage_days (subject, day, cost_nanocredits)
      select '${subject}:' || ${subject}_id, 20000, sum(cost_nanocredits) from usage_rollups group by ${subject}_id`,
  ),
  `insert into segments (batch_id, ordinal, first_item, item_count, blob, blob_bytes, state, done_bitmap)
    values ('batch', 0, 0, 1, 'segments/batch/b_0', 3, 'running', cast('x' as {{bytes}}))`,
  `insert into idempotency_keys (claim_id, organization_id, route, owner_id, state, created_at_ms, expires_at_ms)
    values ('claim', 'org_a', 'batches', 'owner_gone', 'done', 5, 6)`,
]

/** The values that the migration must not change. */
const kept = [
  'select count(*) as rows, cast(sum(cost_nanocredits) as bigint) as cost_nanocredits, min(user_id) as user_id from usages',
  'select count(*) as rows, account, kind, cast(sum(amount_nanocredits) as bigint) as sum_nanocredits from postings group by account, kind order by account, kind',
  'select budget_id, limit_nanocredits, granted_nanocredits, spent_nanocredits, closed from budgets',
  'select lease_id, budget_id, owner_id, epoch, granted_nanocredits, state from leases',
  'select organization_id, hour, requests, cost_nanocredits from usage_rollups order by organization_id, hour',
  'select subject, day, cost_nanocredits from usage_days order by subject',
  'select organization_id, name, account_mode, policy_json from organizations order by organization_id',
  'select key_hash, key_id, kind, label, limit_since_ms, created_at_ms from api_keys order by key_id',
  'select batch_id, blob, state, done_bitmap from segments',
  'select claim_id, state, expires_at_ms from idempotency_keys',
]

eachDatabase((name, _open, { createEmpty }) => {
  test(`a database of schema version 2 keeps its books in balance when it is migrated, with ${usages} calls in it`, async () => {
    const url = await createEmpty()
    const before = await createEarlierSchema(url, 2, filled, kept)
    const startedMs = performance.now()
    const database = await openDatabase({ url, ownerGraceMs: 0 })
    expect(performance.now() - startedMs).toBeLessThan(migrationMs)
    for (const [index, sql] of kept.entries()) expect(await database.query(sql)).toEqual(before[index] ?? [])
    // The owner of the one lease is not among those that live.
    expect(await checkInvariants(createInvariantsRepository(database))).toEqual([])

    const workspaces =
      'select organization_id, workspace_id, is_default from workspaces order by organization_id'
    expect(await database.query(workspaces)).toEqual([
      { organization_id: 'org_a', workspace_id: 'ws_org_a', is_default: 1 },
      { organization_id: 'org_b', workspace_id: 'ws_org_b', is_default: 1 },
    ])
    for (const table of ['api_keys', 'usages', 'usage_tail', 'usage_rollups'])
      expect(
        await database.query(
          `select distinct organization_id, workspace_id from ${table} order by organization_id`,
        ),
      ).toEqual([
        { organization_id: 'org_a', workspace_id: 'ws_org_a' },
        { organization_id: 'org_b', workspace_id: 'ws_org_b' },
      ])
    expect(await database.query(name === 'sqlite' ? sqliteChecks : postgresChecks)).toEqual([])
    await database.close()
  }, 300_000)
})

// Nothing but the names of columns says `check` in our tables.
const sqliteChecks = `select name from sqlite_master where sql like '%check (%'`
const postgresChecks = `select conname as name from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace`
