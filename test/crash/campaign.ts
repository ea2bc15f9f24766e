import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from './audit.ts'
import { type ArmedSite, type CrashSite, keyOfPoint } from './crash-plan.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { addKey, liftRates } from './people.ts'
import { crashedServices, JobStories } from './job-stories.ts'
import { accountSites, jobPoints } from './sites.ts'
import { Workload, workloadFaults } from './workload.ts'
import { createWorld, model, oneSandbox, type PayloadHome, type World } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/** What is to be survived. */
export interface CampaignOptions {
  database: DialectName
  /** Where the payloads are; left out, in the data folder. */
  payloads?: PayloadHome
  processes: number
  /** Sites to be hit, and how often each. */
  sites: readonly CrashSite[]
  hits: number
  /** So many processes are killed at any moment instead, and none at a site; the sites then tell what callers do. */
  randomKills?: number
  /** After this long the campaign ends with what it has. */
  msMax: number
}

/** How it went. */
export interface CampaignResult {
  /** Kills by site. */
  hits: ReadonlyMap<string, number>
  /** Everything that was not as promised. */
  problems: readonly string[]
  figures: { kills: number; batches: number; calls: number; seconds: number }
}

/** Often passed: these are hit at the first, second or third time, so that kills fall into different moments. */
const frequent = new Set([
  'ledger.capture',
  'lease.take',
  'lease.renew',
  'part.commit',
  'segment.lease',
  'batch.accept',
])
/** Passed only by a process that lives for longer than the others are let. */
const slowPoints = new Set([
  'segment.renew',
  'segment.free',
  'segment.return',
  'batch.wait',
  'lease.reap',
  'usage.roll_up',
  'cache.trim',
  ...jobPoints,
])
/** Passed by an orderly stop. */
const stopPoints = new Set(['lease.return', 'model_stats.save'])
const lifeMs = { stop: 1_500, short: 3_000, long: 12_000 }
/** A process that is killed at any moment lives at least this long, so that it has begun. */
const randomLifeMsMin = 500
const stopMsMax = 25_000
/** The site by which such kills are counted. */
export const anyMoment = 'any moment'
const reapMsMax = 30_000
const actEveryMs = 60
/** How often the waits of providers' jobs are made to pass. */
const hurryEveryMs = 300
/** Places of reports that are no gateway's. */
const accountSlot = -1
const failSlot = -2
const progressEveryMs = 15_000
/** Batches that are to fail, made anew whenever they are used up: a life may end several at once. */
const orphanedBatches = 4
const scarceLifeMs = 6_000
const scarceRoundsMax = 60

/** Kills gateways at every site under load, starts them again, and audits what is left in the end. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const startMs = performance.now()
  const providers = (url: string) => [
    ...oneSandbox(url),
    ...crashedServices.map((service) => JobStories.provider(service, url)),
  ]
  const { database, payloads = 'folder' } = options
  const world = await createWorld({ database, payloads, credits: '1000', providers, isTold: true })
  try {
    const campaign = new Campaign(world, options)
    const problems = await campaign.run()
    return {
      hits: campaign.hits,
      problems,
      figures: {
        kills: campaign.kills,
        batches: campaign.workload.batches.size,
        calls: campaign.workload.callsStarted,
        seconds: Math.round((performance.now() - startMs) / 1000),
      },
    }
  } finally {
    await world.remove()
  }
}

class Campaign {
  readonly hits = new Map<string, number>()
  readonly workload: Workload
  readonly #world: World
  readonly #options: CampaignOptions
  readonly #alive: (GatewayProcess | null)[]
  readonly #problems: string[] = []
  #endMs = 0
  #picked = 0

  constructor(world: World, options: CampaignOptions) {
    this.#world = world
    this.#options = options
    this.#alive = Array.from({ length: options.processes }, () => null)
    this.workload = new Workload(world, () => this.#pickUrl())
  }

  get kills(): number {
    return [...this.hits.values()].reduce((sum, count) => sum + count, 0)
  }

  get #randomKills(): number {
    return this.#options.randomKills ?? 0
  }

  async run(): Promise<string[]> {
    await this.#setUp()
    if (this.#randomKills === 0) await this.#hitFailing()
    this.#endMs = performance.now() + this.#options.msMax
    const progress = setInterval(() => this.#report(), progressEveryMs)
    const [jobs] = this.workload.jobs
    const hurry = setInterval(() => void jobs?.hurry().catch(() => undefined), hurryEveryMs)
    await Promise.all([...this.#alive.keys()].map((slot) => this.#live(slot)).concat(this.#act()))
    clearInterval(progress)
    if (this.#randomKills === 0) await this.#killAccounts()
    const survivors = await Promise.all(this.#alive.map(() => this.#world.start()))
    const [oldest] = survivors
    this.#problems.push(...(await audit(this.#world, this.workload, oldest?.baseUrl ?? '')))
    clearInterval(hurry)
    for (const told of this.workload.jobs.filter((each) => each.told > 0))
      this.#problems.push(...(await told.audit(this.kills)))
    // What the gateways wrote is gone once the campaign has ended.
    if (this.#problems.length > 0)
      for (const survivor of survivors) process.stderr.write(`a survivor wrote: ${survivor.output()}\n`)
    await this.#untilReaped()
    for (const survivor of survivors) survivor.signal('SIGTERM')
    await Promise.all(survivors.map((survivor) => survivor.ended))
    this.#problems.push(...(await this.#world.findings()))
    return this.#problems
  }

  async #setUp(): Promise<void> {
    await this.#world.setFaults(workloadFaults)
    for (const jobs of this.workload.jobs) await jobs.setUp()
    const gateway = await this.#world.start({}, { HEADRACE_ROLE: 'api' })
    await liftRates(this.#world.database)
    await this.#end(gateway)
  }

  /** `batch.fail` first and alone, because only batches whose key is gone before anybody begins them lead there. */
  async #hitFailing(): Promise<void> {
    const report = join(this.#world.folder, 'report-fail')
    for (let round = 0; round < scarceRoundsMax; round++) {
      const armed = this.#remaining()
        .filter(({ point }) => point === 'batch.fail')
        .map((site): ArmedSite => ({ ...site, skip: 0 }))
      if (armed.length === 0) return
      await this.#orphanBatches()
      const gateways = await Promise.all(this.#alive.map(() => this.#world.start({ armed, report })))
      await Promise.race([Promise.all(gateways.map((gateway) => gateway.ended)), Bun.sleep(scarceLifeMs)])
      await Promise.all(gateways.map((gateway) => this.#end(gateway)))
      this.#count(report, failSlot)
    }
  }

  /** Batches accepted by a process that does no work, of a key that is gone when somebody else begins them. */
  async #orphanBatches(): Promise<void> {
    const { database } = this.#world
    const [row] = await database.query<{ waiting: number }>(
      `select count(*) as waiting from batches where status = 'validating'`,
    )
    if (Number(row?.waiting) > 0) return
    const gateway = await this.#world.start({}, { HEADRACE_ROLE: 'api' })
    const { key, keyId } = await addKey(database)
    for (let count = 0; count < orphanedBatches; count++) await submitOne(gateway.baseUrl, key)
    await database.commit({
      name: 'test.disable',
      statements: [{ sql: 'update api_keys set disabled = 1 where key_id = $1', params: [keyId] }],
    })
    await this.#end(gateway)
  }

  async #end(gateway: GatewayProcess): Promise<void> {
    if (gateway.isAlive) gateway.signal('SIGKILL')
    await gateway.ended
  }

  /** A server notices that a process died a while later, and what it held returns only then. */
  async #untilReaped(): Promise<void> {
    const endMs = performance.now() + reapMsMax
    while (performance.now() < endMs) {
      const findings = await this.#world.findings()
      if (!findings.some((finding) => finding.startsWith('holds have an owner'))) return
      await Bun.sleep(500)
    }
  }

  #remaining(): CrashSite[] {
    const { sites, hits } = this.#options
    return sites.filter((site) => !isAccountSite(site) && (this.hits.get(keyOfPoint(site)) ?? 0) < hits)
  }

  /** What callers lead to: everything, where processes are killed at any moment. */
  #provoked(): readonly CrashSite[] {
    return this.#randomKills > 0
      ? this.#options.sites.filter((site) => !isAccountSite(site))
      : this.#remaining()
  }

  #isOver(): boolean {
    if (performance.now() > this.#endMs) return true
    if (this.#randomKills > 0) return this.kills >= this.#randomKills
    return this.#remaining().length === 0
  }

  /** One process after the other in this place, each armed with everything that is still to be hit. */
  async #live(slot: number): Promise<void> {
    const report = join(this.#world.folder, `report-${slot}`)
    for (let life = 0; !this.#isOver(); life++) {
      const remaining = this.#remaining()
      const isRandom = this.#randomKills > 0
      const armed = remaining.map((site): ArmedSite => ({ ...site, skip: skipOf(site, life) }))
      const gateway = await this.#world.start(isRandom ? {} : { armed, report })
      this.#alive[slot] = gateway.isAlive ? gateway : null
      await Promise.race([
        gateway.ended,
        Bun.sleep(isRandom ? randomLifeMs() : lifeMs[kindOfLife(remaining, life)]),
      ])
      if (gateway.isAlive) await (isRandom ? this.#killNow(gateway) : this.#stop(gateway))
      this.#alive[slot] = null
      this.#count(report, slot)
    }
  }

  /** An orderly stop passes points of its own. */
  async #stop(gateway: GatewayProcess): Promise<void> {
    gateway.signal('SIGTERM')
    await Promise.race([gateway.ended, Bun.sleep(stopMsMax)])
    if (!gateway.isAlive) return
    this.#problems.push(
      `a gateway took more than ${stopMsMax / 1000} s to stop: ${gateway.output().slice(-500)}`,
    )
    gateway.signal('SIGKILL')
    await gateway.ended
  }

  async #killNow(gateway: GatewayProcess): Promise<void> {
    await this.#end(gateway)
    this.#hit(anyMoment)
  }

  /** For people; the verdict is in the table. */
  #report(): void {
    const { database, processes } = this.#options
    if (this.#randomKills > 0) {
      process.stderr.write(`${database}×${processes}: ${this.kills} of ${this.#randomKills} killed\n`)
      return
    }
    const left = this.#remaining().map(keyOfPoint)
    const shown = left.slice(0, 8).join(', ')
    process.stderr.write(`${database}×${processes}: ${left.length} sites to go: ${shown}\n`)
  }

  readonly #counted = new Map<number, number>()

  #count(report: string, slot: number): void {
    const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').slice(0, -1) : []
    for (const line of lines.slice(this.#counted.get(slot) ?? 0)) this.#hit(line)
    this.#counted.set(slot, lines.length)
  }

  #hit(key: string): void {
    this.hits.set(key, (this.hits.get(key) ?? 0) + 1)
  }

  #pickUrl(): string | null {
    const alive = this.#alive.filter((gateway) => gateway?.isAlive === true && gateway.baseUrl !== '')
    this.#picked += 1
    return alive[this.#picked % alive.length]?.baseUrl ?? null
  }

  /** Callers: live calls all the time, and whatever leads to a site that is still to be hit. */
  async #act(): Promise<void> {
    const running = new Set<Promise<void>>()
    for (let turn = 0; !this.#isOver(); turn++) {
      const provoked = this.#provoked()
      const site = provoked[(turn * 7) % provoked.length]
      const actions = [this.workload.live(), ...(site ? [this.workload.provoke(site.point)] : [])]
      for (const action of actions) {
        const tracked: Promise<void> = action.finally(() => running.delete(tracked))
        running.add(tracked)
      }
      await Bun.sleep(actEveryMs)
      if (running.size > 40) await Promise.race(running)
    }
    await Promise.all(running)
  }

  /** The same for what operators do to accounts: killed at a site, done again, and then there once. */
  async #killAccounts(): Promise<void> {
    const report = join(this.#world.folder, 'report-accounts')
    for (const site of accountSites.filter((each) => this.#isWanted(each))) {
      for (let hit = 0; hit < this.#options.hits; hit++) {
        const name = `account-${site.point.replace('.', '-')}-${site.when}-${hit}`
        await this.#runAccounts(name, { armed: [{ ...site, skip: 0 }], report })
        await this.#runAccounts(name, {})
        this.#problems.push(...(await this.#auditAccount(name)))
      }
    }
    this.#count(report, accountSlot)
  }

  #isWanted(site: CrashSite): boolean {
    return this.#options.sites.some((each) => keyOfPoint(each) === keyOfPoint(site))
  }

  async #runAccounts(name: string, plan: Record<string, unknown>): Promise<void> {
    const { PATH = '', HOME = '' } = process.env
    const child = Bun.spawn(
      [process.execPath, '--no-env-file', join(import.meta.dir, 'crashing-accounts.ts'), name],
      {
        env: { PATH, HOME, ...this.#world.env, HEADRACE_TEST_CRASH: JSON.stringify(plan) },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    )
    const code = await child.exited
    if (code !== 0 && child.signalCode !== 'SIGKILL') this.#problems.push(`${name} ended with ${code}`)
  }

  async #auditAccount(name: string): Promise<string[]> {
    const [found] = await this.#world.database.query<Record<string, number>>(
      `select (select count(*) from postings where transaction_id = $1) as grants,
         (select count(*) from usages where generation_id = $2) as usages,
         (select count(*) from postings where transaction_id = $2) as captures,
         (select count(*) from postings where transaction_id = $3) as refunds,
         (select count(*) from usage_dead_letters where generation_id = $4) as letters`,
      [`grant-${name}`, `gen-${name}`, `refund:gen-${name}:1`, `gen-broken-${name}`],
    )
    const expected = { grants: 2, usages: 1, captures: 2, refunds: 2, letters: 1 }
    return Object.entries(expected)
      .filter(([what, count]) => Number(found?.[what]) !== count)
      .map(([what, count]) => `${name}: ${found?.[what]} ${what}, not ${count}`)
  }
}

/** As long as what is left takes: the quick points go first, and what is slow gets every other life until it is alone. */
function kindOfLife(remaining: readonly CrashSite[], life: number): keyof typeof lifeMs {
  const isSlow = remaining.some(({ point }) => slowPoints.has(point))
  const isStop = remaining.some(({ point }) => stopPoints.has(point))
  const isQuick = remaining.some(({ point }) => !slowPoints.has(point) && !stopPoints.has(point))
  if (isSlow && (!(isQuick || isStop) || life % 2 === 1)) return 'long'
  return isQuick ? 'short' : 'stop'
}

function randomLifeMs(): number {
  return randomLifeMsMin + Math.random() * (lifeMs.long - randomLifeMsMin)
}

function isAccountSite(site: CrashSite): boolean {
  return accountSites.some(({ point }) => point === site.point)
}

function skipOf({ point }: CrashSite, life: number): number {
  return frequent.has(point) ? life % 3 : 0
}

async function submitOne(baseUrl: string, key: string): Promise<void> {
  const body = { messages: [{ role: 'user', content: 'never' }], max_tokens: 6 }
  const response = await fetch(`${baseUrl}/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: '/v1/chat/completions', model, requests: [{ custom_id: 'a', body }] }),
  })
  if (response.status !== 202) throw new Error(`not accepted: ${await response.text()}`)
}
