/**
 * A log of calls of any size, its sums, and the ledger's roll-ups, as if its calls had been made evenly over a span of days.
 * The database makes them out of a series of numbers, in minutes for ten million. Both databases run the same statements.
 */
export interface FilledLog {
  organizationId: string
  keyIds: readonly string[]
  models: readonly string[]
  /** Unix milliseconds; an even number of whole days (UTC). */
  fromMs: number
  endMs: number
  /** Even. */
  rows: number
}

/** What the calls of such a log come to, counted without the database. */
export interface FilledTotals {
  requests: number
  errors: number
  costNanocredits: bigint
}

/** Every so many calls fail; the others take `timeMsOf` and cost `costOf`. */
const failedEvery = 50
const costLeast = 1_000
const costSteps = 977
const timeLeast = 200
const timeSteps = 1_000
const inputTokens = 100
const outputTokens = 20
/** Rows of one statement. */
const chunkRows = 1_000_000

/**
 * The last milliseconds of the bins that times between 200 and 1,199 ms fall into: powers of one and a half from the
 * fourteenth on.
 */
const bins = [
  { column: 'l14', untilMs: 291 },
  { column: 'l15', untilMs: 437 },
  { column: 'l16', untilMs: 656 },
  { column: 'l17', untilMs: 985 },
  { column: 'l18', untilMs: 1_477 },
]

/** What the second half of such a log comes to, in calls and in time. */
export function totalsOfSecondHalf({ rows }: Pick<FilledLog, 'rows'>): FilledTotals {
  const first = rows / 2
  const totals: FilledTotals = { requests: rows - first, errors: 0, costNanocredits: 0n }
  let cost = 0
  for (let index = first; index < rows; index++) {
    if (index % failedEvery === 0) totals.errors += 1
    else cost += costLeast + (index % costSteps)
  }
  return { ...totals, costNanocredits: BigInt(cost) }
}

/** The statements, to be run one after the other. */
export function* fillingStatements(log: FilledLog): Generator<string> {
  for (let start = 0; start < log.rows; start += chunkRows) {
    const count = Math.min(chunkRows, log.rows - start)
    yield insertRows(log, start, count)
    yield insertCallQuarters(log, start, count)
    yield insertUsageQuarters(log, start, count)
  }
  const counts = ['requests', 'failed', 'refused', 'cancelled', ...bins.map(({ column }) => column)]
  const own = `organization_id = '${log.organizationId}'`
  yield `insert into request_rollups (organization_id, minutes, slot, key_id, model, provider, ${counts.join(', ')})
    select organization_id, 60, slot / 4, key_id, model, provider, ${sums(counts)}
    from request_rollups where minutes = 15 and ${own} group by organization_id, slot / 4, key_id, model, provider`
  const hours = `insert into request_hours (organization_id, scope, hour, key_id, model, provider, ${counts.join(', ')})`
  yield `${hours} select organization_id, 'models', slot, '', model, provider, ${sums(counts)}
    from request_rollups where minutes = 60 and ${own} group by organization_id, slot, model, provider`
  yield `${hours} select organization_id, 'keys', slot, key_id, '', '', ${sums(counts)}
    from request_rollups where minutes = 60 and ${own} group by organization_id, slot, key_id`
  yield `insert into usage_rollups (organization_id, hour, key_id, model, provider, ${usageCounts.join(', ')})
    select organization_id, quarter / 4, key_id, model, provider, ${sums(usageCounts)}
    from usage_quarters where ${own} group by organization_id, quarter / 4, key_id, model, provider`
}

const usageCounts = [
  'requests',
  'input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_milliseconds',
  'characters',
  'cost_nanocredits',
  'estimated_count',
]

function sums(columns: readonly string[]): string {
  return columns.map((column) => `cast(sum(${column}) as bigint)`).join(', ')
}

/** The calls from `start` on: number, time, key, model and so on. */
function calls({ keyIds, models, fromMs, endMs, rows }: FilledLog, start: number, count: number): string {
  const among = (values: readonly string[], index: string) =>
    `case ${index} ${values.map((value, at) => `when ${at} then '${value}'`).join(' ')} end`
  return `(with recursive numbers (n) as (
      select cast(${start} as bigint) union all select n + 1 from numbers where n < ${start + count - 1})
    select n, ${fromMs} + n * ${endMs - fromMs} / ${rows} as at_ms,
      ${among(keyIds, `n % ${keyIds.length}`)} as key_id,
      ${among(models, `n / 7 % ${models.length}`)} as model,
      case when n % ${failedEvery} = 0 then 1 else 0 end as is_failed,
      ${timeLeast} + n % ${timeSteps} as total_ms, ${costLeast} + n % ${costSteps} as cost
    from numbers) as calls`
}

/** Nine digits of a time to the base of 36, and the number of the call: ids in the order of time. */
const requestId = `'req_' || ${Array.from(
  { length: 9 },
  (_, index) =>
    `substr('0123456789abcdefghijklmnopqrstuvwxyz', cast(at_ms / ${36 ** (8 - index)} % 36 as integer) + 1, 1)`,
).join(' || ')} || substr(cast(1000000000000000 + n as text), 2)`

function insertRows(log: FilledLog, start: number, count: number): string {
  const answered = (value: string | number, otherwise: string) =>
    `case when is_failed = 0 then ${value} else ${otherwise} end`
  const details = `'["150000",200,1,' || cast(total_ms / 2 as text) || ',' || cast(total_ms / 2 + 1 as text) || ',' || cast(total_ms as text) || ']'`
  return `insert into request_log (organization_id, request_id, generation_id, key_id, outcome, status, error_type, operation,
      model, deployment, streamed, attempts, input_tokens, output_tokens, first_byte_ms, total_ms, cost_nanocredits,
      is_estimated, client_address, details_json)
    select '${log.organizationId}', ${requestId},
      'gen-' || cast(at_ms / 1000 as text) || '-' || substr(cast(1000000000000000 + n as text), 2), key_id,
      ${answered("'answered'", "'failed'")}, ${answered(200, '502')}, ${answered('null', "'provider_failed'")},
      'chat_completions', model, 'maker', 0, 1, ${inputTokens}, ${outputTokens}, total_ms / 2, total_ms,
      ${answered('cost', 'null')}, 0, '10.0.0.9', ${answered(details, "'{}'")}
    from ${calls(log, start, count)}`
}

function insertCallQuarters(log: FilledLog, start: number, count: number): string {
  const counts = ['requests', 'failed', ...bins.map(({ column }) => column)]
  const binned = bins.map(({ untilMs }, index) => {
    const afterMs = index === 0 ? 0 : (bins[index - 1]?.untilMs ?? 0)
    return `cast(sum(case when is_failed = 0 and total_ms > ${afterMs} and total_ms <= ${untilMs} then 1 else 0 end) as bigint)`
  })
  return `insert into request_rollups (organization_id, minutes, slot, key_id, model, provider, ${counts.join(', ')},
      refused, cancelled)
    select '${log.organizationId}', 15, at_ms / 900000, key_id, model, 'maker', count(*),
      cast(sum(is_failed) as bigint), ${binned.join(', ')}, 0, 0
    from ${calls(log, start, count)} where true group by at_ms / 900000, key_id, model
    on conflict (organization_id, minutes, slot, key_id, model, provider) do update set
      ${counts.map((name) => `${name} = request_rollups.${name} + excluded.${name}`).join(', ')}`
}

function insertUsageQuarters(log: FilledLog, start: number, count: number): string {
  const own = ['requests', 'input_tokens', 'output_tokens', 'cost_nanocredits']
  return `insert into usage_quarters (organization_id, quarter, key_id, model, provider, ${own.join(', ')},
      reasoning_tokens, audio_milliseconds, characters, estimated_count)
    select '${log.organizationId}', at_ms / 900000, key_id, model, 'maker', count(*), count(*) * ${inputTokens},
      count(*) * ${outputTokens}, cast(sum(cost) as bigint), 0, 0, 0, 0
    from ${calls(log, start, count)} where is_failed = 0 group by at_ms / 900000, key_id, model
    on conflict (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id) do update set
      ${own.map((name) => `${name} = usage_quarters.${name} + excluded.${name}`).join(', ')}`
}
