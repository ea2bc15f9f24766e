import { expect, test } from 'bun:test'
import { generationBeganAtMs } from '../../src/core/ids.ts'
import { at, startTestGateway, type TestGateway, until } from '../support/gateway.ts'
import { isThorough } from '../support/thorough.ts'

// Calls over several days, by a clock that the test moves. What their callers were told they cost is the reference for
// everything that sums them. The sample is a few hundred calls; `npm run prove -- equal-sums` makes two hundred thousand.

const calls = Number(process.env['HEADRACE_EQUAL_CALLS'] ?? (isThorough ? 200_000 : 600))
/** Users are exact for seven days. */
const days = 6
const dayMs = 86_400_000
const callersAtOnce = 24
const refusedEvery = 40
const zones = ['UTC', 'Europe/Berlin', 'Asia/Kolkata']
const models = ['openai/gpt-4o-mini', 'openai/gpt-4o', 'openai/gpt-4.1-mini', 'openai/o4-mini']
const keysCount = 5
const users = 9

test(
  `chart, legend, CSV and ledger of ${calls} calls are equal to the nanocredit, in ${zones.join(', ')}`,
  async () => {
    const startMs = Math.floor(Date.now() / 1000) * 1000 - days * dayMs
    let nowMs = startMs
    const gateway = await startTestGateway({
      credits: '1000',
      hooks: {
        clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
        writeLog: () => undefined,
      },
    })
    try {
      const startedMs = performance.now()
      const made = await makeCalls(gateway, (share) => (nowMs = startMs + Math.floor(share * days * dayMs)))
      nowMs = startMs + days * dayMs
      const seconds = Math.round((performance.now() - startedMs) / 1000)
      const differ = await compare(gateway, made, { fromMs: startMs, toMs: nowMs + 1_000 })
      console.log(`${made.length} calls in ${seconds} s cost ${sumOf(made)} nanocredits`)
      expect(differ.slice(0, 20)).toEqual([])
      expect(sumOf(made)).toBeGreaterThan(0n)
    } finally {
      await gateway.stop()
    }
  },
  isThorough ? 3_600_000 : 60_000,
)

/** A call as its caller saw it. */
interface Made {
  atMs: number
  keyId: string
  model: string
  user: string
  cost: bigint
  isAnswered: boolean
}

async function makeCalls(gateway: TestGateway, moveTo: (share: number) => void): Promise<Made[]> {
  const keys = await Promise.all(
    Array.from({ length: keysCount }, (_, index) => gateway.addKey({ name: `key ${index}` })),
  )
  const made: Made[] = []
  let next = 0
  const caller = async () => {
    for (let index = next++; index < calls; index = next++) {
      moveTo(index / calls)
      made.push(await makeCall(gateway, keys[(index * 7) % keysCount] ?? '', index))
    }
  }
  await Promise.all(Array.from({ length: callersAtOnce }, caller))
  return made
}

async function makeCall(gateway: TestGateway, key: string, index: number): Promise<Made> {
  const isWrong = index % refusedEvery === refusedEvery - 1
  const model = models[(index * 3 + Math.floor(index / 11)) % models.length] ?? ''
  const user = `user-${index % users}`
  const answer = await gateway.post(
    '/chat/completions',
    {
      model: isWrong ? 'no/such' : model,
      user,
      messages: [{ role: 'user', content: 'Hello. '.repeat(1 + (index % 5)) }],
      max_tokens: 1 + (index % 13),
    },
    { key },
  )
  if (answer.status !== (isWrong ? 400 : 200))
    throw new Error(`call ${index}: ${answer.status} ${answer.text}`)
  const credits = isWrong ? 0 : Number(at(answer.json, 'usage.cost'))
  return {
    atMs: generationBeganAtMs(answer.headers.get('x-generation-id') ?? '') ?? 0,
    keyId: key,
    model,
    user,
    cost: BigInt(Math.round(credits * 1e9)),
    isAnswered: !isWrong,
  }
}

function sumOf(made: readonly Made[]): bigint {
  return made.reduce((sum, { cost }) => sum + cost, 0n)
}

/** Sums by a name of each call. */
function sumsBy(made: readonly Made[], nameOf: (call: Made) => string): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const call of made)
    if (call.isAnswered) sums.set(nameOf(call), (sums.get(nameOf(call)) ?? 0n) + call.cost)
  return sums
}

/** The day of a time on the clocks of a zone, remembered for each quarter of an hour. */
function dayIn(zone: string): (atMs: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
  const known = new Map<number, string>()
  return (atMs) => {
    const quarter = Math.floor(atMs / 900_000)
    const day = known.get(quarter) ?? format.format(quarter * 900_000)
    known.set(quarter, day)
    return day
  }
}

interface Span {
  fromMs: number
  toMs: number
}

type Json = Record<string, unknown>
type Sums = ReadonlyMap<string, bigint>

function differences(what: string, told: Sums, expected: Sums): string[] {
  const names = new Set([...told.keys(), ...expected.keys()])
  return [...names].flatMap((name) => {
    const [left = 0n, right = 0n] = [told.get(name), expected.get(name)]
    return left === right ? [] : [`${what}, ${name}: ${left} is told, its calls cost ${right}`]
  })
}

async function compare(gateway: TestGateway, made: readonly Made[], span: Span): Promise<string[]> {
  const faults: string[] = []
  await until(
    () => spendOf(gateway, span, 'by=none'),
    ({ total }) => total['requests'] === made.length,
    120_000,
  )
  const postings = await readPostings(gateway, span)
  for (const zone of zones) {
    const dayOf = dayIn(zone)
    const expected = sumsBy(made, ({ atMs }) => dayOf(atMs))
    const byModel = sumsBy(made, ({ atMs, model }) => `${dayOf(atMs)} ${model}`)
    const spend = await spendOf(gateway, span, `by=model&bucket=day&zone=${zone}`)
    faults.push(...differences(`chart in ${zone}`, spend.cells(dayOf), expected))
    faults.push(...differences(`chart by model in ${zone}`, spend.groupCells(dayOf), byModel))
    faults.push(
      ...differences(
        `legend in ${zone}`,
        spend.legend,
        sumsBy(made, ({ model }) => model),
      ),
    )
    faults.push(...differences(`CSV in ${zone}`, await csvOf(gateway, span, zone), byModel))
    const ofLedger = new Map<string, bigint>()
    for (const { atMs, amount } of postings)
      ofLedger.set(dayOf(atMs), (ofLedger.get(dayOf(atMs)) ?? 0n) + amount)
    faults.push(...differences(`ledger in ${zone}`, ofLedger, expected))
    const total = sumOf(made)
    for (const by of ['key', 'provider', 'user', 'none']) {
      const other = await spendOf(gateway, span, `by=${by}&top=20&bucket=day&zone=${zone}`)
      if (other.total['cost_nanocredits'] !== total.toString())
        faults.push(`by ${by} in ${zone}: ${String(other.total['cost_nanocredits'])}, not ${total}`)
      if (by === 'user')
        faults.push(
          ...differences(
            `users in ${zone}`,
            other.legend,
            sumsBy(made, ({ user }) => user),
          ),
        )
    }
  }
  const listed = await exportedCost(gateway, span)
  if (listed !== sumOf(made)) faults.push(`the export of requests sums to ${listed}`)
  const compared = await managed(gateway, `/headrace/spend/ledger?from=${span.fromMs}&to=${span.toMs}`)
  if (compared['equals'] !== true)
    faults.push(`the gateway's own comparison says ${JSON.stringify(compared)}`)
  return faults
}

async function managed(gateway: TestGateway, path: string): Promise<Json> {
  const answer = await gateway.get(path, { key: gateway.managementKey })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.json['data'] as Json
}

async function spendOf(gateway: TestGateway, { fromMs, toMs }: Span, query: string) {
  const data = await managed(gateway, `/headrace/spend?from=${fromMs}&to=${toMs}&${query}`)
  const buckets = (data['buckets'] as string[]).map((time) => Date.parse(time))
  const groups = data['groups'] as Json[]
  const cellsOf = (part: unknown, nameOf: (atMs: number) => string): [string, bigint][] =>
    (at(part, 'over_time.cost_nanocredits') as string[]).map((cost, index) => [
      nameOf(buckets[index] ?? 0),
      BigInt(cost),
    ])
  return {
    total: data['total'] as Json,
    legend: new Map(
      groups.map(({ id, cost_nanocredits: cost }) => [String(id ?? 'Other'), BigInt(String(cost))]),
    ),
    cells: (dayOf: (atMs: number) => string): Sums => new Map(cellsOf(data, dayOf)),
    groupCells: (dayOf: (atMs: number) => string): Sums =>
      new Map(groups.flatMap((group) => cellsOf(group, (atMs) => `${dayOf(atMs)} ${String(group['id'])}`))),
  }
}

async function csvOf(gateway: TestGateway, { fromMs, toMs }: Span, zone: string): Promise<Sums> {
  const answer = await gateway.post(
    '/analytics/query',
    {
      metrics: ['usage'],
      dimensions: ['model'],
      granularity: 'day',
      time_range: { start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString() },
      headrace: { time_zone: zone, format: 'csv' },
    },
    { key: gateway.managementKey },
  )
  const dayOf = dayIn(zone)
  const lines = answer.text.trim().split('\r\n').slice(1)
  return new Map(
    lines.map((line) => {
      const [date = '', model = '', , cost = ''] = line.split(',')
      return [`${dayOf(Date.parse(date))} ${model}`, BigInt(cost)]
    }),
  )
}

/** What each posting took from the organization. */
async function readPostings(
  gateway: TestGateway,
  { fromMs, toMs }: Span,
): Promise<{ atMs: number; amount: bigint }[]> {
  const text = await exported(
    gateway,
    `/headrace/ledger/postings/export?format=ndjson&kind=capture&from=${fromMs}&to=${toMs}`,
  )
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { account: string; amount_nanocredits: string; created_at: string })
    .filter(({ account }) => account.startsWith('organization:'))
    .map(({ amount_nanocredits: amount, created_at: time }) => ({
      atMs: Date.parse(time),
      amount: -BigInt(amount),
    }))
}

async function exportedCost(gateway: TestGateway, { fromMs, toMs }: Span): Promise<bigint> {
  const text = await exported(gateway, `/headrace/requests/export?format=ndjson&from=${fromMs}&to=${toMs}`)
  return text
    .trim()
    .split('\n')
    .reduce((sum, line) => {
      const { cost_nanocredits: cost } = JSON.parse(line) as { cost_nanocredits: string | null }
      return sum + BigInt(cost ?? 0)
    }, 0n)
}

async function exported(gateway: TestGateway, path: string): Promise<string> {
  const answer = await gateway.get(path, { key: gateway.managementKey })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
  return answer.text
}
