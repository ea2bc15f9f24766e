import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { startBreakableProxy } from '../../support/breakable-proxy.ts'
import { startPostgres, whyNoPostgres } from '../../support/postgres.ts'
import {
  answerTogether,
  refusedKinds,
  refusedModels,
  refusedRequest,
  type RefusedKind,
} from '../../support/refused-calls.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { toneWav } from '../../support/gateway.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { observation, type Check } from '../observations.ts'

const key = 'sk-refused-calls-inference-0001'
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const patienceMs = 30_000
/** Of `part` a part is shown, and is paid. */
const unshown = refusedKinds.filter((kind) => kind !== 'part')

export const proof = observation({
  title: 'a call that was refused is not charged, and what it cost the operator is counted and listed',
  missing: whyNoPostgres,
  async observe(): Promise<Check[]> {
    const postgres = await startPostgres()
    try {
      const [gone, lost, died] = await Promise.all([
        observeOutage(postgres.url, { name: 'gone', kinds: unshown }),
        observeOutage(postgres.url, { name: 'lost', kinds: ['json'] }),
        observeOutage(postgres.url, { name: 'died', kinds: ['json'] }),
      ])
      return [
        {
          name: 'calls whose database was gone after the answer are not charged when it is back',
          held: gone.used === 0,
          seen: `${gone.statuses}, used ${gone.used}`,
        },
        {
          name: 'a stream and a speech of which nothing was shown are refused with 503 and Retry-After',
          held: gone.refused === unshown.length - 1,
          seen: gone.statuses,
        },
        {
          name: 'a charge that was committed without an answer is refunded',
          held: lost.used === 0 && lost.transactions.includes('refund'),
          seen: `${lost.statuses}, used ${lost.used}, transactions ${lost.transactions.join(' ')}`,
        },
        {
          name: 'the loss is counted in /metrics',
          held: gone.lostCalls === unshown.length && lost.lostCalls === 1,
          seen: `${gone.lostCalls} and ${lost.lostCalls} calls`,
        },
        {
          name: 'doctor lists every refused call with its outcome, and the books balance',
          held: gone.listed === unshown.length && lost.listed === 1 && gone.isSound && lost.isSound,
          seen: `${gone.listed} and ${lost.listed} listed`,
        },
        {
          name: 'doctor lists a refused call that is charged because its process died before it could tell',
          held: died.used > 0 && died.leftCharged === 1,
          seen: `used ${died.used}, ${died.leftCharged} listed`,
        },
        documented(),
      ]
    } finally {
      await postgres.stop()
    }
  },
})

function documented(): Check {
  const read = (path: string) => readFileSync(join(rootFolder, path), 'utf8')
  const held =
    /refused/.test(section(read('README.md'), '## Money')) && /not charged/.test(read('docs/errors.md'))
  return { name: 'README and docs/errors.md say so', held, seen: held ? 'they do' : 'they do not' }
}

function section(text: string, heading: string): string {
  return text.slice(text.indexOf(heading)).split('\n## ')[0] ?? ''
}

interface Seen {
  statuses: string
  /** Answers with status 503 and a Retry-After. */
  refused: number
  /** What `GET /credits` says was used, in the end. */
  used: number
  transactions: readonly string[]
  lostCalls: number
  listed: number
  leftCharged: number
  isSound: boolean
}

/**
 * How the database goes: before the charges are sent (`gone`), or before it answers their commit (`lost`), and then the
 * gateway is killed before it is back (`died`).
 */
interface Outage {
  name: 'gone' | 'lost' | 'died'
  kinds: readonly RefusedKind[]
}

/** Calls are answered by their provider, the database is gone before their charges are durable, and comes back. */
async function observeOutage(server: string, { name, kinds }: Outage): Promise<Seen> {
  const database = `outage_${name}`
  const admin = new SQL({ url: server, max: 1 })
  await admin.unsafe(`create database ${database}`)
  const direct = Object.assign(new URL(server), { pathname: `/${database}` }).href
  const proxy = startBreakableProxy(direct)
  const upstream = startScriptedUpstream()
  const models = refusedModels
  const provider = { preset: 'custom', id: 'acme', base_url: upstream.url, discover: false, models }
  const gateway = prepareGateway({ providers: [provider] })
  const env = { DATABASE_URL: proxy.url, HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_BOOTSTRAP_CREDITS: '5' }
  try {
    await gateway.start(env)
    const ready = Promise.withResolvers<void>()
    const isAsked = answerTogether(upstream, kinds.length, ready.promise)
    const asking = kinds.map((kind) => ask(gateway, kind))
    await isAsked
    if (name === 'gone') proxy.cut()
    else proxy.loseAnswer({ after: 'insert into usages', text: 'commit' }, () => undefined)
    ready.resolve()
    const answers = await Promise.all(asking)
    if (name === 'died') await gateway.end('SIGKILL')
    proxy.mend()
    if (name === 'died') await gateway.start(env)
    return { ...summaryOf(answers), ...(await whatIsLeft(gateway, { direct, env })) }
  } finally {
    await gateway.remove()
    proxy.stop()
    await upstream.stop()
    await admin.close()
  }
}

interface Answer {
  kind: RefusedKind
  status: number
  retryAfter: string | null
}

async function ask(gateway: RealGateway, kind: RefusedKind): Promise<Answer> {
  const { path, body } = refusedRequest(kind, toneWav(1))
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  try {
    const response = await fetch(`${gateway.baseUrl}${path}`, request)
    await response.text().catch(() => undefined)
    return { kind, status: response.status, retryAfter: response.headers.get('retry-after') }
  } catch {
    return { kind, status: 0, retryAfter: null }
  }
}

function summaryOf(answers: readonly Answer[]): Pick<Seen, 'statuses' | 'refused'> {
  const refused = answers.filter(({ status, retryAfter }) => status === 503 && retryAfter !== null)
  return {
    statuses: answers.map(({ kind, status }) => `${kind} ${status}`).join(', '),
    refused: refused.length,
  }
}

/** Waits for everything that was queued, and reads what became of it. */
async function whatIsLeft(
  gateway: RealGateway,
  { direct, env }: { direct: string; env: Record<string, string> },
): Promise<Omit<Seen, 'statuses' | 'refused'>> {
  const rootUrl = gateway.baseUrl.slice(0, -'/v1'.length)
  const metrics = () => fetch(`${rootUrl}/metrics`).then((response) => response.text())
  const untilMs = performance.now() + patienceMs
  while (!(await isQuiet(rootUrl, metrics)) && performance.now() < untilMs) await Bun.sleep(100)
  const credits = await fetch(`${gateway.baseUrl}/credits`, { headers })
  const { data } = (await credits.json()) as { data: { total_usage: number } }
  const lostCalls = Number(/^headrace_lost_calls (\d+)$/m.exec(await metrics())?.[1] ?? 0)
  const doctor = await gateway.run(['doctor'], env)
  const sql = new SQL({ url: direct, max: 1 })
  const rows = await sql.unsafe<{ kind: string }[]>('select distinct kind from postings order by kind')
  await sql.close()
  return {
    used: data.total_usage,
    transactions: rows.map(({ kind }) => kind),
    lostCalls,
    listed: doctor.output.split('\n').filter((line) => /gen-\S+ acme\//.test(line)).length,
    leftCharged: doctor.output.split('\n').filter((line) => /gen-\S+ was refused and is charged/.test(line))
      .length,
    isSound: doctor.output.includes('the ledger balances'),
  }
}

async function isQuiet(rootUrl: string, metrics: () => Promise<string>): Promise<boolean> {
  const { ok } = await fetch(`${rootUrl}/readyz`)
  return ok && /^headrace_captures_queued 0$/m.test(await metrics())
}
