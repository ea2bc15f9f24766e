import { join } from 'node:path'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../../support/scripted-upstream.ts'
import { chatProvider, metricsOf, proofKey } from '../observed-gateway.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'

const program = join(import.meta.dir, '../../clients/socket-actions.mjs')
const managementKey = 'proof-management-key-of-forty-characters-1'

const connections = 300
const rounds = 4
const stallMs = 4_000
/** After each round, all are read to the end, and the gateway rests before its memory is measured. */
const restMs = 6_000
const settledReadings = 8
const settledEveryMs = 1_000
/** What each of them is to read. The kernels on the way take up to eight megabytes of it. */
const slowBytes = 9_000_000
const growthMax = 1.1
const turns = 3_000
const ratioMax = 1.2

export const proof: Proof = {
  title:
    'WebSockets and a client of another runtime: 300 slow readers in flat memory, close codes, frames, limits, a stop; CPU a turn',
  async run() {
    if (Bun.which('node') === null) return notRun('node is not on the path')
    const upstream = startScriptedUpstream()
    try {
      return combine([
        await withGateway(upstream, proveClosing),
        await withGateway(upstream, proveFrames),
        await withGateway(upstream, proveLimits),
        await withGateway(upstream, proveStop),
        await withGateway(upstream, proveSlowReaders),
        await withGateway(upstream, proveCost),
      ])
    } finally {
      await upstream.stop()
    }
  },
}

interface Observed {
  gateway: RealGateway
  upstream: ScriptedUpstream
}

async function withGateway(
  upstream: ScriptedUpstream,
  prove: (observed: Observed) => Promise<ProofResult>,
): Promise<ProofResult> {
  const gateway = prepareGateway({ providers: [chatProvider(upstream.url), responsesProvider(upstream.url)] })
  try {
    await gateway.start({
      HEADRACE_BOOTSTRAP_KEY: proofKey,
      HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
      HEADRACE_BOOTSTRAP_CREDITS: '1000',
      HEADRACE_LOG_LEVEL: 'error',
    })
    upstream.answer(() => answerOf('Yes.'))
    return await prove({ gateway, upstream })
  } finally {
    await gateway.remove()
  }
}

/** A provider whose streams pass through: nothing of a long answer has to be kept for its last events. */
function responsesProvider(url: string): Record<string, unknown> {
  const prices = { input_per_million: '0.01', output_per_million: '0.01' }
  const models = [{ id: 'own/responses', upstream: 'gpt-5.4', prices }]
  return {
    preset: 'openai',
    id: 'passed',
    base_url: url,
    api_key: 'x',
    discover: false,
    only_models: true,
    models,
  }
}

type Seen = Record<string, unknown>

/** Runs the client; `onSeen` may answer a line. Resolves with all that it saw. */
async function act(
  { baseUrl }: RealGateway,
  action: string,
  options: Record<string, unknown> = {},
  onSeen: (seen: Seen, go: () => void) => Promise<void> = () => Promise.resolve(),
): Promise<Seen[]> {
  const url = `${baseUrl.replace(/^http/, 'ws')}/responses`
  const given = { url, http: baseUrl, key: proofKey, managementKey, model: 'acme/chat', ...options }
  const child = Bun.spawn(['node', program, action, JSON.stringify(given)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const seen: Seen[] = []
  const errors = new Response(child.stderr).text()
  let rest = ''
  for await (const piece of child.stdout) {
    const lines = (rest + new TextDecoder().decode(piece)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const one = JSON.parse(line) as Seen
      seen.push(one)
      await onSeen(one, () => {
        void child.stdin.write('\n')
        void child.stdin.flush()
      })
    }
  }
  const code = await child.exited
  return code === 0 ? seen : [...seen, { failed: code, errors: (await errors).slice(-500) }]
}

function compared(name: string, seen: unknown, wanted: unknown): ProofResult {
  const [left, right] = [JSON.stringify(seen), JSON.stringify(wanted)]
  return left === right
    ? { status: 'PASS', figures: [`${name}: ${left}`] }
    : { status: 'FAIL', figures: [`${name}: ${left} and not ${right}`] }
}

async function proveClosing({ gateway }: Observed): Promise<ProofResult> {
  const seen = await act(gateway, 'codes')
  return compared(
    'close codes',
    seen.map(({ name, code }) => [name, code]),
    [
      ['the client leaves', 1000],
      ['bytes', 1003],
      ['no UTF-8', 1007],
      ['too large', 1009],
      ['no mask', 1002],
    ],
  )
}

async function proveFrames({ gateway }: Observed): Promise<ProofResult> {
  const seen = await act(gateway, 'frames')
  return compared(
    'frames',
    seen.map(({ name, answer, type }) => [name, answer ?? type]),
    [
      ['ping', 'are you there'],
      ['fragments', 'response.completed'],
      ['a message of 17 MB', 'response.completed'],
    ],
  )
}

async function proveLimits({ gateway }: Observed): Promise<ProofResult> {
  const [used, revoked, ...rest] = await act(gateway, 'limits')
  const shown = [used, revoked].map((each) => [each?.['status'], each?.['code'], each?.['isOpen'] ?? null])
  return compared(
    'a used up and a revoked key',
    [...shown, ...rest],
    [
      [402, 'insufficient_quota', true],
      [401, 1008, null],
    ],
  )
}

async function proveStop({ gateway, upstream }: Observed): Promise<ProofResult> {
  upstream.answer(() => slowAnswer(3_000))
  let stopping: Promise<void> | null = null
  const seen = await act(gateway, 'stop', {}, async ({ name }) => {
    if (name === 'running') stopping = gateway.end('SIGTERM')
  })
  await stopping
  const told = seen
    .filter(({ name }) => name !== 'running')
    .map(({ name, type, code }) => [name, type ?? null, code])
  return compared('a stop', told, [
    ['resting', null, 1012],
    ['busy', 'response.completed', 1012],
  ])
}

async function proveSlowReaders({ gateway, upstream }: Observed): Promise<ProofResult> {
  let sent = 0
  upstream.answer(() => largeAnswer((bytes) => (sent += bytes)))
  const stalled: number[] = []
  const rested: number[] = []
  const read: unknown[] = []
  let sentBefore = 0
  const shares: number[] = []
  const seen = await act(
    gateway,
    'slow',
    { model: 'own/responses', connections, rounds, stallMs },
    async (each, go) => {
      if (each['stalled'] === true) {
        stalled.push(await settledOf(gateway))
        shares.push((sent - sentBefore) / (connections * slowBytes))
        sentBefore += connections * slowBytes
      } else {
        if (each['completed'] !== connections) read.push(each['others'])
        read.push(each['completed'])
        await Bun.sleep(restMs)
        rested.push(await residentOf(gateway))
      }
      go()
    },
  )
  const growthOf = ([, first = 0, ...later]: readonly number[]): number => Math.max(first, ...later) / first
  const growth = Math.max(growthOf(stalled), growthOf(rested))
  const isGood =
    rested.length === rounds &&
    growth <= growthMax &&
    read.every((count) => count === connections) &&
    shares.every((share) => share < 0.9)
  const megabytes = (figures: readonly number[]): string =>
    figures.map((bytes) => Math.round(bytes / 1e6)).join(', ')
  const waiting = shares.map((share) => `${Math.round(share * 100)} %`).join(', ')
  const failed = seen.filter((each) => 'failed' in each).map((each) => JSON.stringify(each))
  return {
    status: isGood ? 'PASS' : 'FAIL',
    figures: [
      `${connections} slow readers of ${slowBytes / 1e6} MB each: ${megabytes(rested)} MB resident when all is read, while they stall ${megabytes(stalled)} MB; after the first round at most ${growth.toFixed(3)} of the second; read of the provider meanwhile: ${waiting}; all answers came whole: ${read.join(', ')}`,
      ...failed,
    ],
  }
}

async function proveCost({ gateway }: Observed): Promise<ProofResult> {
  const cost = async (way: 'socket' | 'http'): Promise<number> => {
    const before = await cpuOf(gateway)
    const seen = await act(gateway, 'turns', { way, turns, lanes: 8 })
    if (seen.at(-1)?.['done'] !== true) throw new Error(JSON.stringify(seen))
    return ((await cpuOf(gateway)) - before) / turns
  }
  // Warm on both ways, and then in turns.
  await cost('http')
  await cost('socket')
  const pairs: [number, number][] = []
  for (let round = 0; round < 4; round += 1) pairs.push([await cost('http'), await cost('socket')])
  const ratios = pairs.map(([http, socket]) => socket / http).toSorted((left, right) => left - right)
  const ratio = ((ratios[1] ?? 0) + (ratios[2] ?? 0)) / 2
  const micro = (index: 0 | 1): number =>
    Math.round((pairs.reduce((sum, pair) => sum + pair[index], 0) / pairs.length) * 1e6)
  return {
    status: ratio <= ratioMax ? 'PASS' : 'FAIL',
    figures: [
      `a turn: ${ratio.toFixed(3)} of the same call by HTTP (${ratios.map((each) => each.toFixed(3)).join(', ')}); ${micro(1)} and ${micro(0)} µs of CPU`,
    ],
  }
}

async function figureOf(gateway: RealGateway, name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await metricsOf(gateway))?.[1])
}

/** Resident memory while nothing moves: the least of some readings, because what was passed on is collected a little later. */
async function settledOf(gateway: RealGateway): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let reading = 0; reading < settledReadings; reading += 1) {
    least = Math.min(least, await residentOf(gateway))
    await Bun.sleep(settledEveryMs)
  }
  return least
}

const residentOf = (gateway: RealGateway): Promise<number> =>
  figureOf(gateway, 'process_resident_memory_bytes')
const cpuOf = (gateway: RealGateway): Promise<number> => figureOf(gateway, 'process_cpu_seconds_total')

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

function chunk(content: string, finish: string | null = null): Uint8Array {
  const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: finish }]
  const told = finish === null ? {} : { usage }
  const body = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'chat', choices, ...told }
  return Buffer.from(`data: ${JSON.stringify(body)}\n\n${finish === null ? '' : 'data: [DONE]\n\n'}`)
}

const streamed = (body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>): Response =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } })

function answerOf(text: string): Response {
  return streamed(Buffer.concat([chunk(text), chunk('', 'stop')]))
}

function slowAnswer(waitMs: number): Response {
  return streamed(
    new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(chunk('Ye'))
        await Bun.sleep(waitMs)
        controller.enqueue(chunk('s.', 'stop'))
        controller.close()
      },
    }),
  )
}

const event = (type: string, more: Record<string, unknown>): Uint8Array =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)

/** Responses' own events, sent only as fast as they are read. */
function largeAnswer(onSent: (bytes: number) => void): Response {
  const delta = 'x'.repeat(30_000)
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-5.4', output: [] }
  const counted = {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: slowBytes / 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 5 + slowBytes / 4,
  }
  let left = slowBytes
  let number = 0
  return streamed(
    new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (number === 0) {
            controller.enqueue(
              event('response.created', {
                sequence_number: number++,
                response: { ...response, status: 'in_progress' },
              }),
            )
            return
          }
          await Bun.sleep(0)
          if (left <= 0) {
            controller.enqueue(
              event('response.completed', {
                sequence_number: number,
                response: { ...response, status: 'completed', usage: counted },
              }),
            )
            return controller.close()
          }
          left -= delta.length
          onSent(delta.length)
          controller.enqueue(
            event('response.output_text.delta', {
              sequence_number: number++,
              item_id: 'm',
              output_index: 0,
              content_index: 0,
              delta,
            }),
          )
        },
      },
      { highWaterMark: 0 },
    ),
  )
}
