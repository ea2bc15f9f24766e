import { join } from 'node:path'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { freshDatabase, whyNoPostgres } from '../../support/postgres.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../../support/scripted-upstream.ts'
import { proofKey } from '../observed-gateway.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'

const minuteMs = 60_000
const quota = { requests: 600, tokens: 100_000 }
/** What a call uses: first so few that requests are the limit, then so many that tokens are. */
const tokensOf = { requests: 100, tokens: 400 } as const
const calmMs = 3 * minuteMs
const busyMs = 2 * minuteMs

export const proof: Proof = {
  title:
    'two processes, two deployments with quotas: no 429 at 1.5 times the load of one, true waits at three times that of both',
  async run() {
    const reason = whyNoPostgres()
    if (reason !== null) return notRun(reason)
    const places = [startPlace(), startPlace()]
    const database = await freshDatabase()
    const gateways = [0, 1].map(() => prepareGateway({ providers: places.map(providerOf) }))
    try {
      const [first] = gateways
      for (const gateway of gateways) {
        await gateway.start({
          ...database,
          // Both are processes of one deployment, with the payloads of one.
          HEADRACE_DATA: join(first?.folder ?? '', 'data'),
          HEADRACE_BOOTSTRAP_KEY: proofKey,
          HEADRACE_BOOTSTRAP_CREDITS: '1000',
          HEADRACE_LOG_LEVEL: 'error',
        })
      }
      return combine([
        await proveCalm(gateways, places, 'requests'),
        await proveBusy(gateways, places, 'requests'),
        await proveBusy(gateways, places, 'tokens'),
      ])
    } finally {
      for (const gateway of gateways) await gateway.remove()
      for (const { upstream } of places) await upstream.stop()
    }
  },
}

/** A provider that keeps what it was asked, and refuses what is beyond its quota in the last minute. */
interface Place {
  upstream: ScriptedUpstream
  /** When each call came, and how many tokens it used. */
  calls: { atMs: number; tokens: number }[]
  refused: number
  tokens: number
}

function startPlace(): Place {
  const place: Place = { upstream: startScriptedUpstream(), calls: [], refused: 0, tokens: tokensOf.requests }
  place.upstream.answer(() => {
    const atMs = performance.now()
    const { requests, tokens } = within(place.calls, atMs)
    if (requests + 1 > quota.requests || tokens + place.tokens > quota.tokens) {
      place.refused += 1
      return Response.json({ error: { message: 'Rate limit reached.' } }, { status: 429 })
    }
    place.calls.push({ atMs, tokens: place.tokens })
    place.upstream.seen.length = 0
    return Response.json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: place.tokens - 20, completion_tokens: 20, total_tokens: place.tokens },
    })
  })
  return place
}

function within(calls: Place['calls'], atMs: number): { requests: number; tokens: number } {
  let requests = 0
  let tokens = 0
  for (let at = calls.length - 1; at >= 0; at -= 1) {
    const call = calls[at]
    if (call === undefined || call.atMs <= atMs - minuteMs) break
    requests += 1
    tokens += call.tokens
  }
  return { requests, tokens }
}

function providerOf({ upstream }: Place, index: number): Record<string, unknown> {
  const prices = { input_per_million: '1', output_per_million: '1' }
  return {
    preset: 'custom',
    id: `place-${index}`,
    base_url: upstream.url,
    discover: false,
    models: [
      {
        id: 'shared/model',
        upstream: 'model',
        prices,
        requests_per_minute: quota.requests,
        tokens_per_minute: quota.tokens,
      },
    ],
  }
}

/** A prompt of about so many tokens less than the answer's. */
async function ask(
  { baseUrl }: RealGateway,
  tokens: number,
): Promise<{ status: number; waitSeconds: number }> {
  const content = 'word '.repeat(Math.max(1, tokens - 30))
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${proofKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'shared/model', max_tokens: 20, messages: [{ role: 'user', content }] }),
  })
  await response.arrayBuffer()
  return { status: response.status, waitSeconds: Number(response.headers.get('retry-after')) }
}

/** Asks both processes in turn, so often a minute, and resolves with every answer. */
async function load(gateways: readonly RealGateway[], perMinute: number, ms: number, tokens: number) {
  const asked: Promise<{ status: number; waitSeconds: number }>[] = []
  const startedMs = performance.now()
  for (let count = 0; performance.now() - startedMs < ms;) {
    const due = Math.floor(((performance.now() - startedMs) / minuteMs) * perMinute)
    for (; count < due; count += 1) {
      const gateway = gateways[count % gateways.length]
      if (gateway !== undefined) asked.push(ask(gateway, tokens))
    }
    await Bun.sleep(20)
  }
  return Promise.all(asked)
}

function mostInAMinute({ calls }: Place): { requests: number; tokens: number } {
  const sums = calls.map(({ atMs }) =>
    within(
      calls.filter((call) => call.atMs <= atMs),
      atMs,
    ),
  )
  return {
    requests: Math.max(0, ...sums.map(({ requests }) => requests)),
    tokens: Math.max(0, ...sums.map(({ tokens }) => tokens)),
  }
}

function forget(places: readonly Place[], kind: keyof typeof tokensOf): void {
  for (const place of places) Object.assign(place, { calls: [], refused: 0, tokens: tokensOf[kind] })
}

async function proveCalm(
  gateways: readonly RealGateway[],
  places: readonly Place[],
  kind: keyof typeof tokensOf,
): Promise<ProofResult> {
  forget(places, kind)
  const answers = await load(gateways, quota.requests * 1.5, calmMs, tokensOf[kind])
  const refused = answers.filter(({ status }) => status !== 200)
  const most = places.map(mostInAMinute)
  const isGood =
    refused.length === 0 &&
    places.every((place) => place.refused === 0) &&
    most.every(({ requests, tokens }) => requests <= quota.requests && tokens <= quota.tokens)
  return {
    status: isGood ? 'PASS' : 'FAIL',
    figures: [
      `1.5 times one's load for three minutes: ${answers.length} calls, ${refused.length} refused, by the providers ${places.map((place) => place.refused).join(' and ')}; most in a minute ${most.map(({ requests }) => requests).join(' and ')} of ${quota.requests}`,
    ],
  }
}

async function proveBusy(
  gateways: readonly RealGateway[],
  places: readonly Place[],
  kind: keyof typeof tokensOf,
): Promise<ProofResult> {
  // What came before has run off, at the places and in the gateway.
  await Bun.sleep(minuteMs)
  forget(places, kind)
  const perMinute = kind === 'requests' ? quota.requests * 6 : (quota.tokens / tokensOf.tokens) * 6
  const answers = await load(gateways, perMinute, busyMs, tokensOf[kind])
  const refused = answers.filter(({ status }) => status === 429)
  const others = answers.length - refused.length - answers.filter(({ status }) => status === 200).length
  const most = places.map(mostInAMinute)
  const used = places.map(({ calls }) => {
    const last = within(calls, calls.at(-1)?.atMs ?? 0)
    return last[kind] / quota[kind]
  })
  const longest = Math.max(0, ...refused.map(({ waitSeconds }) => waitSeconds))
  const [gateway] = gateways
  await Bun.sleep(longest * 1000)
  const after = gateway === undefined ? null : (await ask(gateway, tokensOf[kind])).status
  const isGood =
    refused.length > 0 &&
    others === 0 &&
    refused.every(({ waitSeconds }) => waitSeconds >= 1) &&
    after === 200 &&
    places.every((place) => place.refused === 0) &&
    most.every(({ requests, tokens }) => requests <= quota.requests && tokens <= quota.tokens) &&
    used.every((share) => share >= 0.9)
  return {
    status: isGood ? 'PASS' : 'FAIL',
    figures: [
      `three times both's load, ${kind} are the limit: ${answers.length} calls, ${refused.length} refused with waits up to ${longest} s, ${others} others; the providers refused ${places.map((place) => place.refused).join(' and ')}; most in a minute ${most.map((each) => each[kind]).join(' and ')} of ${quota[kind]}; used in the last minute ${used.map((share) => share.toFixed(3)).join(' and ')}; after the wait ${after}`,
    ],
  }
}
