import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../../support/scripted-upstream.ts'
import { metricsOf, proofKey } from '../observed-gateway.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

const deployments = 4
const sessions = 200
const turns = 6
/** Sessions that go on at the same time. */
const atOnce = 25
const bestShareMin = 0.9
const loadMax = 1.25

export const proof: Proof = {
  title:
    '200 sessions without an id over four deployments with a prompt cache: what is read from it, and how the load is spread; one process and two',
  async run() {
    const results: ProofResult[] = []
    for (const way of ['as they begin', 'anywhere'] as const) results.push(await proveWay(way))
    return combine(results)
  },
}

/** A deployment that caches prompts from their beginning, message by message, as providers do. */
interface Place {
  upstream: ScriptedUpstream
  calls: number
  inputTokens: number
  cachedTokens: number
}

const tokensOf = (text: string): number => Math.ceil(text.length / 4)

function startPlace(): Place {
  const known = new Set<bigint>()
  const place: Place = { upstream: startScriptedUpstream(), calls: 0, inputTokens: 0, cachedTokens: 0 }
  place.upstream.answer(({ body }) => {
    const { messages } = JSON.parse(Buffer.from(body, 'latin1').toString()) as { messages: unknown[] }
    const [input, cached] = read(messages, known)
    place.upstream.seen.length = 0
    place.calls += 1
    place.inputTokens += input
    place.cachedTokens += cached
    return Response.json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: input,
        completion_tokens: 2,
        total_tokens: input + 2,
        prompt_tokens_details: { cached_tokens: cached },
      },
    })
  })
  return place
}

/** Tokens of a prompt, and those of its longest known beginning; all its beginnings are known from now on. */
function read(messages: readonly unknown[], known: Set<bigint>): [input: number, cached: number] {
  let hash = 0n
  let input = 0
  let cached = 0
  let isKnown = true
  for (const message of messages) {
    const text = JSON.stringify(message)
    hash = Bun.hash.wyhash(text, hash)
    input += tokensOf(text)
    isKnown &&= known.has(hash)
    if (isKnown) cached = input
    known.add(hash)
  }
  return [input, cached]
}

type Message = Record<string, string>

/** The same system prompt for all, and a task of its own for each. */
function beginningOf(session: number): Message[] {
  return [
    { role: 'system', content: 'You are a coding agent. '.repeat(250) },
    { role: 'user', content: `Task ${session}: ${`change file ${session} `.repeat(60)}` },
  ]
}

/** What would be read from the cache if all sessions were at one deployment. */
function bestShare(): number {
  const known = new Set<bigint>()
  let input = 0
  let cached = 0
  for (let session = 0; session < sessions; session += 1) {
    const messages = beginningOf(session)
    for (let turn = 0; turn < turns; turn += 1) {
      const [all, found] = read(messages, known)
      input += all
      cached += found
      messages.push(...next(session, turn))
    }
  }
  return cached / input
}

function next(session: number, turn: number): Message[] {
  return [
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: `Step ${turn} of ${session}. ${'Go on with the next file. '.repeat(20)}` },
  ]
}

async function proveWay(way: 'as they begin' | 'anywhere'): Promise<ProofResult> {
  const places = Array.from({ length: deployments }, startPlace)
  const gateways = [0, 1].map(() => prepareGateway({ providers: places.map(providerOf) }))
  try {
    for (const gateway of gateways)
      await gateway.start({
        HEADRACE_BOOTSTRAP_KEY: proofKey,
        HEADRACE_BOOTSTRAP_CREDITS: '1000',
        HEADRACE_LOG_LEVEL: 'error',
      })
    const waiting = Array.from({ length: sessions }, (_, session) => session)
    const work = async (): Promise<void> => {
      for (let session = waiting.shift(); session !== undefined; session = waiting.shift())
        await runSession(session, way, gateways)
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return await judge(way, places, gateways)
  } finally {
    for (const gateway of gateways) await gateway.remove()
    for (const { upstream } of places) await upstream.stop()
  }
}

function providerOf({ upstream }: Place, index: number): Record<string, unknown> {
  const prices = { input_per_million: '1', cached_input_per_million: '0.1', output_per_million: '1' }
  return {
    preset: 'custom',
    id: `place-${index}`,
    base_url: upstream.url,
    discover: false,
    models: [{ id: 'shared/model', upstream: 'model', prices }],
  }
}

/** Its turns go to two processes in turn, which know nothing of each other. */
async function runSession(session: number, way: string, gateways: readonly RealGateway[]): Promise<void> {
  const messages = beginningOf(session)
  for (let turn = 0; turn < turns; turn += 1) {
    const gateway = gateways[turn % gateways.length]
    const random = way === 'anywhere' ? { session_id: crypto.randomUUID() } : {}
    const response = await fetch(`${gateway?.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${proofKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'shared/model', max_tokens: 20, messages, ...random }),
    })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    await response.arrayBuffer()
    messages.push(...next(session, turn))
  }
}

async function judge(
  way: string,
  places: readonly Place[],
  gateways: readonly RealGateway[],
): Promise<ProofResult> {
  const sum = (of: (place: Place) => number): number => places.reduce((total, place) => total + of(place), 0)
  const share = sum(({ cachedTokens }) => cachedTokens) / sum(({ inputTokens }) => inputTokens)
  const best = bestShare()
  const mean = sum(({ calls }) => calls) / deployments
  const loads = places.map(({ calls }) => calls / mean)
  const told = (await Promise.all(gateways.map(metricsOf))).flatMap((page) =>
    [...page.matchAll(/^headrace_tokens_total\{[^}]*direction="cached"[^}]*\} (\S+)/gm)].map(([, value]) =>
      Number(value),
    ),
  )
  const isCounted =
    told.reduce((total, value) => total + value, 0) === sum(({ cachedTokens }) => cachedTokens)
  const isSpread = loads.every((load) => load <= loadMax && load >= 2 - loadMax)
  const isGood =
    isCounted && isSpread && (way === 'anywhere' ? share < best * bestShareMin : share >= best * bestShareMin)
  return {
    status: isGood ? 'PASS' : 'FAIL',
    figures: [
      `sessions that go ${way}: ${(share * 100).toFixed(1)} % of the prompts were cached, ${(share / best).toFixed(3)} of the best possible ${(best * 100).toFixed(1)} %; load ${loads.map((load) => load.toFixed(2)).join(', ')} of the mean; the metrics ${isCounted ? 'say so' : `say ${told.join(', ')}`}`,
    ],
  }
}
