/**
 * Proof 6 of the audio contract: a gateway is killed with SIGKILL at every point of a polled job, several times each, at each
 * provider whose jobs can be removed and on both databases; afterwards nothing may be charged that was not answered, and
 * nothing may be left at the provider once the next process has swept. `polled-jobs.ts [sqlite|postgres] [times] [at=provider]`.
 * Prints figures; exits with 1 when a promise was broken.
 */
import { wave } from '../../simulator/audio/testing.ts'
import { createRunFolder } from '../support/after-the-end.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import type { ArmedSite } from './crash-plan.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { createWorld, inferenceKey, type World } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

const sweepMsMax = 60_000
const underWayMs = 400
const sound = wave(2)

/** Where a process dies: at a commit of its own, or while the provider has a request of its. */
type Point = { name: string; looks?: number } & (
  | { site: ArmedSite }
  | { request: { method: string; path: RegExp; number: number }; fault: string; match: string }
)

const isDurable: readonly ArmedSite['when'][] = ['before', 'after']

function commitPoint(point: string, skip: number, name: string): Point[] {
  return isDurable.map((when) => ({ name: `${when} ${name}`, site: { point, when, skip } }))
}

/** A provider whose transcripts are jobs, and at which points of them a process can die. */
interface Subject {
  preset: string
  /** Its base URL below the mount. */
  path: string
  model: string
  /** What a model costs of which nobody publishes a price; the account has a balance. */
  prices?: Readonly<Record<string, string>>
  /** What it leaves there for which no call is documented that removes it; null where there is none. */
  unremovable: string | null
  points: readonly Point[]
}

interface RequestKind {
  name: string
  method: string
  path: RegExp
  /** What a fault's rule compares with the path; absent where the path has an id, so that the fault is every request's. */
  match?: string
}

/** Before the provider has done what it was asked (`latency`), and after, with its reply on the way (`first_byte`). */
function requestPoint({ name, method, path, match = '' }: RequestKind, number = 1): Point[] {
  return ['latency', 'first_byte'].map((fault) => ({
    name: `${name} ${fault === 'latency' ? 'not done yet' : 'done, its reply under way'}`,
    request: { method, path, number },
    fault: `${fault}=${underWayMs}`,
    match,
    ...(match === '' && method === 'GET' ? { looks: 1 } : {}),
  }))
}

/** A job that exists: its looks, the charge, and its removal. */
function pointsOfJob(job: RegExp, between: readonly Point[] = []): Point[] {
  return [
    ...requestPoint({ name: 'first look', method: 'GET', path: job }, 1),
    ...requestPoint({ name: 'last look', method: 'GET', path: job }, 2),
    ...between,
    ...pointsOfEnd(job),
  ]
}

/** The charge, and the removal of what was left. */
function pointsOfEnd(left: RegExp): Point[] {
  return [
    ...commitPoint('ledger.capture', 0, 'the charge'),
    ...commitPoint('resource.leave', 0, 'leaving the job'),
    ...commitPoint('resource.claim', 0, 'claiming the job'),
    ...requestPoint({ name: 'removal', method: 'DELETE', path: left }),
    ...commitPoint('resource.removed', 0, 'noting that it is gone'),
  ]
}

/**
 * Of a provider that lists nothing: what it has made is lost where its name never became durable, and it may be made by a request
 * whose sender is dead. So a process dies before the request, and once the name is durable.
 */
function unlistedPoints(what: string, skip: number): Point[] {
  return [
    ...commitPoint('resource.intend', skip, `noting the ${what}`),
    ...commitPoint('resource.name', skip, `naming the ${what}`).slice(1),
  ]
}

const uploadPath = '/v2/upload'
const transcriptsPath = '/v2/transcript'
const jobsPath = '/speechtotext/v1/jobs'

const subjects: readonly Subject[] = [
  {
    preset: 'assemblyai',
    path: '/assemblyai',
    model: 'assemblyai/universal-2',
    unremovable: 'assemblyai.upload',
    points: [
      ...commitPoint('resource.intend', 0, 'noting the upload'),
      ...requestPoint({ name: 'upload', method: 'POST', path: /\/v2\/upload$/, match: uploadPath }),
      ...commitPoint('resource.name', 0, 'naming the upload'),
      ...commitPoint('resource.intend', 1, 'noting the job'),
      ...requestPoint({ name: 'job', method: 'POST', path: /\/v2\/transcript$/, match: transcriptsPath }),
      ...commitPoint('resource.name', 1, 'naming the job'),
      ...pointsOfJob(/\/v2\/transcript\/[^/]+$/),
    ],
  },
  {
    preset: 'revai',
    path: '/revai/speechtotext/v1',
    model: 'revai/machine',
    prices: { audio_per_hour: '0.36' },
    unremovable: null,
    points: [
      ...commitPoint('resource.intend', 0, 'noting the job'),
      ...requestPoint({ name: 'job', method: 'POST', path: /\/v1\/jobs$/, match: jobsPath }),
      ...commitPoint('resource.name', 0, 'naming the job'),
      ...pointsOfJob(
        /\/v1\/jobs\/[^/]+$/,
        requestPoint({ name: 'reading', method: 'GET', path: /\/v1\/jobs\/[^/]+\/transcript$/ }),
      ),
    ],
  },
  {
    preset: 'gladia',
    path: '/gladia',
    model: 'gladia/solaria-1',
    prices: { audio_per_hour: '0.6' },
    unremovable: 'gladia.upload',
    points: [
      ...commitPoint('resource.intend', 0, 'noting the upload'),
      ...requestPoint({ name: 'upload', method: 'POST', path: /\/v2\/upload$/, match: uploadPath }),
      ...commitPoint('resource.name', 0, 'naming the upload'),
      ...unlistedPoints('job', 1),
      ...pointsOfJob(/\/v2\/pre-recorded\/[^/]+$/),
    ],
  },
  {
    preset: 'speechmatics',
    path: '/speechmatics/v2',
    model: 'speechmatics/enhanced',
    prices: { audio_per_hour: '0.24' },
    unremovable: null,
    points: [
      ...commitPoint('resource.intend', 0, 'noting the job'),
      ...requestPoint({ name: 'job', method: 'POST', path: /\/v2\/jobs\/$/, match: '/v2/jobs/' }),
      ...commitPoint('resource.name', 0, 'naming the job'),
      ...pointsOfJob(
        /\/v2\/jobs\/[^/]+$/,
        requestPoint({ name: 'reading', method: 'GET', path: /\/v2\/jobs\/[^/]+\/transcript$/ }),
      ),
    ],
  },
  {
    preset: 'elevenlabs',
    path: '/elevenlabs/v1',
    model: 'elevenlabs/scribe_v2',
    prices: { audio_per_hour: '0.4' },
    unremovable: null,
    points: [...unlistedPoints('transcript', 0), ...pointsOfEnd(/\/v1\/speech-to-text\/transcripts\/[^/]+$/)],
  },
]

/** Points that a process reaches when its charge is durable and its answer may not have left yet. */
const besideTheAnswer = /^after the charge$|(?:leaving|claiming) the job$/

interface Tally {
  runs: number
  answered: number
  charged: number
  /** Charged, and killed before the answer had left: between the commit and its reply. */
  cutOff: number
  lost: number
  problems: string[]
}

async function campaign(name: DialectName, subject: Subject, times: number): Promise<Tally> {
  const { preset, path, model, prices } = subject
  const tally: Tally = { runs: 0, answered: 0, charged: 0, cutOff: 0, lost: 0, problems: [] }
  const world = await createWorld({
    database: name,
    credits: '1000',
    providers: (url) => [
      {
        preset,
        base_url: `${url}${path}`,
        api_key: 'key',
        models: prices === undefined ? [] : [{ id: model, prices }],
      },
    ],
  })
  try {
    await admin(world, 'settings', { transcription: 'scripted' })
    for (const point of subject.points) {
      for (let time = 0; time < times; time += 1) await runOnce(world, { point, tally, subject })
    }
    tally.problems.push(...(await world.findings()))
    tally.problems.push(...(await uploadsWithoutRow(world, subject)))
  } finally {
    await world.remove()
  }
  return tally
}

interface Run {
  point: Point
  tally: Tally
  subject: Subject
}

async function runOnce(world: World, { point, tally, subject }: Run): Promise<void> {
  const before = await usagesIn(world)
  await admin(world, 'settings', { job_looks: point.looks ?? 0 })
  await world.setFaults('site' in point ? [] : [{ match: matchOf(point.match), fault: point.fault }])
  const process = await world.start('site' in point ? { armed: [point.site] } : {})
  const seen = await requestsAt(world, point)
  const call = transcribe(process, subject)
  if ('site' in point) await Promise.race([process.ended, Bun.sleep(sweepMsMax)])
  else await killWhenAsked(world, point, { process, seen })
  if (process.isAlive) {
    process.signal('SIGKILL')
    tally.problems.push(`${world.name}, ${point.name}: the point was not reached`)
  }
  await process.ended
  const isAnswered = await call
  await world.setFaults([])
  const next = await world.start()
  const left = await untilSwept(world)
  next.signal('SIGKILL')
  await next.ended
  await putOffLaterLooks(world)
  const charged = (await usagesIn(world)) - before
  count(tally, { point, world, isAnswered, charged, left })
}

interface Outcome {
  point: Point
  world: World
  isAnswered: boolean
  charged: number
  left: number
}

function count(tally: Tally, { point, world, isAnswered, charged, left }: Outcome): void {
  const wrong = (what: string) => void tally.problems.push(`${world.name}, ${point.name}: ${what}`)
  tally.runs += 1
  tally.answered += isAnswered ? 1 : 0
  tally.charged += charged
  tally.lost += left
  if (left > 0) wrong(`${left} jobs are left at the provider`)
  if (charged > 1) wrong(`charged ${charged} times`)
  if (isAnswered && charged === 0) wrong('answered and not charged')
  if (isAnswered || charged === 0) return
  // What is durable cannot be taken back by a process that is dead: the job is left and claimed while the answer leaves.
  if (besideTheAnswer.test(point.name)) tally.cutOff += 1
  else wrong('charged and not answered')
}

/** True for a whole answer. */
async function transcribe({ baseUrl, isAlive }: GatewayProcess, { model }: Subject): Promise<boolean> {
  if (baseUrl === '' || !isAlive) return false
  const body = {
    model,
    input_audio: { data: Buffer.from(sound).toString('base64'), format: 'wav' },
  }
  try {
    const response = await fetch(`${baseUrl}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as { text?: string }
    return response.status === 200 && typeof answer.text === 'string'
  } catch {
    return false
  }
}

function matchOf(match: string): Record<string, string> {
  return match === '' ? {} : { path: match }
}

type RequestPoint = Extract<Point, { request: unknown }>

async function requestsAt(world: World, point: Point): Promise<number> {
  if ('site' in point) return 0
  const { last_requests: requests } = await admin(world, 'counters')
  const { method, path } = point.request
  return (requests as { method: string; path: string; number: number }[])
    .filter((request) => request.method === method && path.test(request.path))
    .reduce((newest, { number }) => Math.max(newest, number), 0)
}

/** Kills the process a moment after the provider has been asked, within the time that the fault takes. */
async function killWhenAsked(
  world: World,
  { request: { method, path, number } }: RequestPoint,
  { process, seen }: { process: GatewayProcess; seen: number },
): Promise<void> {
  const endMs = performance.now() + sweepMsMax
  while (performance.now() < endMs && process.isAlive) {
    const { last_requests: requests } = await admin(world, 'counters')
    const asked = (requests as { method: string; path: string; number: number }[]).filter(
      (request) => request.method === method && path.test(request.path) && request.number > seen,
    )
    if (asked.length >= number) {
      await Bun.sleep(underWayMs / 8)
      process.signal('SIGKILL')
      await process.ended
      return
    }
    await Bun.sleep(5)
  }
}

/** How many jobs are left when every row of one that the provider has named is gone, or it took too long. */
async function untilSwept(world: World): Promise<number> {
  const endMs = performance.now() + sweepMsMax
  for (;;) {
    const { jobs_left: left = 0 } = await countsAt(world)
    const open = await world.database.query(
      `select 1 as found from upstream_resources
       where state = 'used' or state = 'left' and (upstream_id is not null or tries = 0) limit 1`,
    )
    if ((left === 0 && open.length === 0) || performance.now() > endMs) return left
    await Bun.sleep(20)
  }
}

/** The later looks for what never got its id belong to no other run. */
async function putOffLaterLooks({ database }: World): Promise<void> {
  const sql = `update upstream_resources set due_at_ms = due_at_ms + 3600000 where state = 'left'`
  await database.commit({ name: 'put off later looks', statements: [{ sql }] })
}

async function countsAt(world: World): Promise<Record<string, number>> {
  const { audio_jobs: counts } = await world.counters()
  return counts as Record<string, number>
}

async function usagesIn({ database }: World): Promise<number> {
  const [row] = await database.query<{ usages: number }>('select count(*) as usages from usages')
  return row?.usages ?? 0
}

/** No call removes an upload: each that is there without its job has a row that says so. */
async function uploadsWithoutRow(world: World, { unremovable }: Subject): Promise<string[]> {
  const { uploads_left: left = 0 } = await countsAt(world)
  const [row] = await world.database.query<{ kept: number }>(
    `select count(*) as kept from upstream_resources where kind = $1`,
    [unremovable],
  )
  const kept = row?.kept ?? 0
  return left <= kept ? [] : [`${world.name}: ${left} uploads are left, and ${kept} have a row`]
}

async function admin(world: World, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${world.simulator.url}/admin/${path}`, init)
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

const wanted = process.argv.slice(2)
const times = Number(wanted.find((word) => /^\d+$/.test(word)) ?? 5)
const reason = whyNoPostgres()
const databases = (['sqlite', 'postgres'] as const).filter(
  (name) => !wanted.some((word) => word === 'sqlite' || word === 'postgres') || wanted.includes(name),
)
await createRunFolder('headrace-polled-jobs-')
const at = wanted.flatMap((word) => (word.startsWith('at=') ? [word.slice('at='.length)] : []))
let isGood = true

async function judge(subject: Subject, name: DialectName): Promise<void> {
  if (name === 'postgres' && reason !== null) {
    console.log(`WRONG: ${reason}`)
    isGood = false
    return
  }
  const { runs, answered, charged, cutOff, lost, problems } = await campaign(name, subject, times)
  console.log(
    `${subject.preset}, ${name}: killed ${runs} times at ${subject.points.length} points of a job, ${times} times each: ${answered} answered, ` +
      `${charged} charged, ${cutOff} of them cut off between the commit of the charge and its answer; ${lost} jobs left at the provider after the sweep`,
  )
  for (const problem of problems) console.log(`WRONG: ${problem}`)
  isGood &&= problems.length === 0
}

const campaigns = subjects
  .filter(({ preset }) => at.length === 0 || at.includes(preset))
  .flatMap((subject) => databases.map((name) => () => judge(subject, name)))
/** Most of a life is waiting, so that several worlds share the machine. */
const lanes = 4
await Promise.all(
  Array.from({ length: lanes }, async () => {
    for (let next = campaigns.shift(); next !== undefined; next = campaigns.shift()) await next()
  }),
)
process.exit(isGood ? 0 : 1)
