import type { RealGateway } from '../../story/real-gateway.ts'
import { logOf, proofKey } from '../observed-gateway.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'
import { type Kind, kinds, withKind } from './kinds.ts'

/** Calls that begin at once, before any login is there. */
const callersAtOnce = 500
/** The life of a login in seconds while it is rotated, and for how long calls go on. */
const shortLife = 24
const rotationMs = 70_000
const callEveryMs = 50
/** A server that is asked for a login answers within so long, or is as good as none. */
const readyMsMax = 8_000

export const proof: Proof = {
  title:
    'logins of every kind from fakes of their servers: one exchange for 500 callers, rotation, expiry in a stream, 5xx, slow and wrong answers, clocks that differ',
  async run() {
    const results: ProofResult[] = []
    for (const prove of [proveKinds, proveCrowd, proveRotation, proveFaults, proveClock])
      results.push(await prove())
    return combine(results)
  },
}

const [instance, , web] = kinds as readonly [Kind, Kind, Kind]

function ask({ baseUrl }: RealGateway, model = 'cloud/model', stream = false): Promise<Response> {
  return fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${proofKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }] }),
  })
}

/** Asks, and reads the whole answer. */
async function statusOf(gateway: RealGateway, model = 'cloud/model'): Promise<number> {
  const response = await ask(gateway, model)
  await response.arrayBuffer()
  return response.status
}

function judged(name: string, isGood: boolean, seen: string): ProofResult {
  return { status: isGood ? 'PASS' : 'FAIL', figures: [`${isGood ? '' : 'NOT SO: '}${name}: ${seen}`] }
}

/** Every kind of login serves, and none of its wrong answers keeps the gateway or its other provider from serving. */
async function proveKinds(): Promise<ProofResult> {
  const results: ProofResult[] = []
  for (const kind of kinds) {
    const served = await withKind(kind, async ({ gateway, cloud }) => {
      const status = await statusOf(gateway)
      return `${status}, ${cloud.exchanges} exchange, ${cloud.refused} refused`
    })
    const bad: string[] = []
    for (const fault of ['html', '500', 'silent'] as const) {
      const beganMs = performance.now()
      const told = await withKind(
        kind,
        async ({ gateway, cloud }) => {
          const readyMs = performance.now() - beganMs
          const [own, other] = [await statusOf(gateway), await statusOf(gateway, 'own/model')]
          if (fault === 'silent') await Bun.sleep(5_500)
          const log = await logOf(gateway)
          const line = log.find(({ msg }) => msg === 'no login could be fetched')
          const isGood =
            own >= 500 && other === 200 && readyMs < readyMsMax && line !== undefined && cloud.asked === 0
          return isGood
            ? null
            : `${fault}: ${own}, the other provider ${other}, ready in ${Math.round(readyMs)} ms, log ${JSON.stringify(line)}`
        },
        { prepare: (cloud) => cloud.fail(fault) },
      )
      if (told !== null) bad.push(told)
    }
    results.push(
      judged(
        kind.name,
        served === '200, 1 exchange, 0 refused' && bad.length === 0,
        [served, ...bad].join('; '),
      ),
    )
  }
  return combine(results)
}

/** Callers who all come before there is any login. */
function proveCrowd(): Promise<ProofResult> {
  return withKind(
    web,
    async ({ gateway, cloud }) => {
      const statuses = await Promise.all(Array.from({ length: callersAtOnce }, () => statusOf(gateway)))
      const good = statuses.filter((status) => status === 200).length
      return judged(
        'callers at once before any login',
        good === callersAtOnce && cloud.exchanges === 1,
        `${good} of ${callersAtOnce} served by ${cloud.exchanges} exchange`,
      )
    },
    { prepare: (cloud) => cloud.delay(1_500) },
  )
}

/** Logins of a few seconds: calls and a long stream go on while they are rotated. */
function proveRotation(): Promise<ProofResult> {
  return withKind(
    web,
    async ({ gateway, cloud }) => {
      const streamed = ask(gateway, 'cloud/model', true).then((response) => response.text())
      const endMs = performance.now() + rotationMs
      const statuses: Promise<number>[] = []
      while (performance.now() < endMs) {
        statuses.push(statusOf(gateway))
        await Bun.sleep(callEveryMs)
      }
      const all = await Promise.all(statuses)
      const good = all.filter((status) => status === 200).length
      const isWhole = (await streamed).includes('[DONE]')
      const most = Math.ceil(rotationMs / (shortLife * 500)) + 1
      const isGood =
        good === all.length &&
        cloud.expired === 0 &&
        isWhole &&
        cloud.exchanges <= most &&
        cloud.exchanges > 2
      return judged(
        `logins of ${shortLife} s`,
        isGood,
        `${good} of ${all.length} calls served in ${rotationMs / 1000} s by ${cloud.exchanges} logins, ${cloud.expired} with one that had ended; a stream of 30 s ${isWhole ? 'came whole' : 'broke off'}`,
      )
    },
    {
      prepare(cloud) {
        cloud.life(shortLife)
        cloud.streamFor(30_000)
      },
    },
  )
}

/** A server that fails while a login is still good, and after it has ended; then it answers again. */
function proveFaults(): Promise<ProofResult> {
  return withKind(
    web,
    async ({ gateway, cloud }) => {
      const before = await statusOf(gateway)
      cloud.fail('500')
      await Bun.sleep((shortLife / 2 + 1) * 1000)
      const meanwhile = await statusOf(gateway)
      await Bun.sleep((shortLife / 2) * 1000)
      const beganMs = performance.now()
      const after = await statusOf(gateway)
      const refusedMs = performance.now() - beganMs
      cloud.fail(null)
      const endMs = performance.now() + 75_000
      let again = after
      while (again !== 200 && performance.now() < endMs) {
        await Bun.sleep(2_000)
        again = await statusOf(gateway)
      }
      const lines = new Set((await logOf(gateway)).map(({ msg }) => msg))
      const isTold = lines.has('no login could be fetched') && lines.has('a login was fetched again')
      const isGood =
        before === 200 && meanwhile === 200 && after === 502 && refusedMs < 1_000 && again === 200
      return judged(
        'a server that fails',
        isGood && isTold && cloud.expired === 0,
        `${before}; ${meanwhile} with the old login; ${after} after its end, in ${Math.round(refusedMs)} ms; ${again} within a minute after the server answers again; ${isTold ? 'both in the log' : 'not in the log'}`,
      )
    },
    { prepare: (cloud) => cloud.life(shortLife) },
  )
}

/** The server's clock is an hour before or after this machine's: what it says of the end is by its own clock. */
async function proveClock(): Promise<ProofResult> {
  const results: ProofResult[] = []
  for (const hours of [-1, 1])
    results.push(
      await withKind(
        instance,
        async ({ gateway, cloud }) => {
          const statuses: number[] = []
          for (let round = 0; round < 20; round += 1) {
            statuses.push(await statusOf(gateway))
            await Bun.sleep(100)
          }
          const good = statuses.filter((status) => status === 200).length
          return judged(
            `a clock ${hours > 0 ? 'ahead' : 'behind'} by an hour`,
            good === 20 && cloud.exchanges === 1,
            `${good} of 20 served by ${cloud.exchanges} login`,
          )
        },
        {
          prepare(cloud) {
            cloud.life(900)
            cloud.clock(hours * 3_600_000)
          },
        },
      ),
    )
  return combine(results)
}
