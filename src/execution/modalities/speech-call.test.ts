import { describe, expect, test } from 'bun:test'
import { endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import { createLearning } from '../../billing/metering/learning.ts'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { SpeechReader } from '../../canonical/audio.ts'
import { defaultPreferences, type SpeechCall } from '../../canonical/call.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { speechTailBytes } from '../../audio/speech-stream.ts'
import { SharedTurns } from '../../core/shared-turns.ts'
import { rawSpeech } from '../../formats/speech/raw-speech.ts'
import { wrappedSpeech } from '../../formats/speech/wrapped-speech.ts'
import { createHealth } from '../../routing/health.ts'
import { createLimiter } from '../../routing/limiter.ts'
import { createStickyRoutes } from '../../routing/sticky.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { noFacts, type RequestScope } from '../call/scope.ts'
import { createExecutor } from '../executor.ts'

const endpoint = endpointOf(
  'speech',
  { character: 1_000_000n },
  { model: 'a/m', audio: { ...leastAudio, speechFormats: ['pcm'], defaultVoice: 'v' } },
)

const call: SpeechCall = {
  kind: 'speech',
  operation: 'speech',
  model: 'a/m',
  fallbackModels: [],
  preferences: defaultPreferences,
  parameters: [],
  demand: { inputTokens: 0, outputTokensMax: null, choices: 1, audioMilliseconds: 0, characters: 7 },
  sessionId: null,
  userId: null,
  trace: null,
  dropped: [],
  input: 'seven..',
  voice: null,
  responseFormat: 'pcm',
  isWav: false,
  speed: 1,
  references: [],
}

const usualReader = () => rawSpeech({ container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 })

/** A provider whose bytes come from `read`, and a watch whose deadlines the test triggers. */
function setUp(
  read: (leave: () => void) => Promise<Uint8Array | null>,
  open: (context: unknown, headers: Headers) => SpeechReader = usualReader,
) {
  const leaving = new AbortController()
  const deadlines: (() => void)[] = []
  const captured: bigint[] = []
  let cancels = 0
  let stepMs = 0
  const dependencies = {
    // By this clock a step takes a millisecond, so two steps use a turn up.
    speechTurns: new SharedTurns(2, { monotonicMs: () => (stepMs += 1) }),
    clock: systemClock,
    learning: createLearning(),
    health: createHealth({ clock: systemClock }),
    limiter: createLimiter({ clock: systemClock }),
    sticky: createStickyRoutes({ clock: systemClock }),
    random: () => 0,
    serving: () => ({
      catalog: {
        model: () => ({}),
        resolve: (base: string) => ({ base, variant: null }),
        endpointsOf: () => [endpoint],
        placesOf: () => null,
      },
      credentialOf: () => ({ reference: { id: 'operator:one', isByok: false }, auth: { type: 'none' } }),
      adaptersOf: () => ({
        speech: {
          first: () => ({
            type: 'stream',
            exchange: { request: { method: 'POST', path: '/', headers: {}, body: null } },
            open,
          }),
        },
      }),
    }),
    spendTokens: () => undefined,
    billing: {
      canAccept: () => true,
      databaseNowMs: () => 0,
      hold: () => ({ id: 'hold_1', amount: 0n }),
      capture: async (_: unknown, row: { costNanocredits: bigint }) =>
        void captured.push(row.costNanocredits),
      release: () => void captured.push(-1n),
    },
    transport: {
      send: async () => ({
        status: 200,
        headers: new Headers(),
        readAll: () => Promise.reject(new Error('not read at once')),
        body: {
          read: async () => {
            const value = await read(() => leaving.abort())
            return value === null ? { done: true, value: undefined } : { done: false, value }
          },
          cancel: () => {
            cancels += 1
          },
        },
      }),
    },
    streamWatch: {
      add: ({ onDeadline }: { onDeadline: () => void }) => {
        deadlines.push(onDeadline)
        return { touch: () => undefined, stop: () => undefined }
      },
    },
    warn: () => undefined,
  } as unknown as ExecutionDependencies
  const scope = {
    principal: {
      organizationId: 'org_a',
      keyId: 'key_a',
      accountMode: 'tracked',
      keyLimitNanocredits: null,
      constraints: {
        allowedModels: null,
        ignoredModels: [],
        allowedProviders: null,
        ignoredProviders: [],
        enforceZdr: false,
        denyDataCollection: false,
      },
    },
    requestId: 'req_1',
    signal: leaving.signal,
    priority: 'live',
    metadata: 'none',
    batch: null,
    facts: noFacts(),
  } as unknown as RequestScope
  return { dependencies, scope, deadlines, captured, cancels: () => cancels }
}

test('a caller who has left when the first audio comes pays for it, and the provider’s stream is closed', async () => {
  const { dependencies, scope, captured, cancels } = setUp(async (leave) => {
    leave()
    return new Uint8Array(48_000)
  })
  const outcome = await createExecutor(dependencies).speech(call, scope)
  await Promise.race([outcome.ended, Bun.sleep(10_000).then(() => expect.unreachable())])
  expect([captured, cancels()]).toEqual([[7n], 1])
})

test('a caller who hangs up in the middle of speech pays for its input', async () => {
  const { dependencies, scope, captured, cancels } = setUp(async () => new Uint8Array(4_096))
  const outcome = await createExecutor(dependencies).speech(call, scope)
  const reader = (outcome.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  await reader.cancel()
  await outcome.ended
  expect([captured, cancels()]).toEqual([[7n], 1])
})

describe('speech that the provider breaks off', () => {
  const breakAfter = (sound: Uint8Array, open = usualReader) => {
    let reads = 0
    return setUp(async () => {
      reads += 1
      if (reads > 1) throw new GatewayError('provider_failed', 'The connection broke.')
      return sound
    }, open)
  }
  /** Silent frames of MPEG, of 288 bytes each; the last one is kept back. */
  const frames = (count: number) => {
    const bytes = Buffer.alloc(Math.ceil(count) * 288)
    for (let at = 0; at < bytes.length; at += 288) bytes.writeUInt32BE(0xff_f3_a4_c0, at)
    return bytes.subarray(0, count * 288)
  }

  test('is a failed attempt, and its endpoint is asked last', async () => {
    const { dependencies, scope } = breakAfter(new Uint8Array(4_096))
    const outcome = await createExecutor(dependencies).speech(call, scope)
    await new Response(outcome.body as ReadableStream<Uint8Array>).bytes().catch(() => null)
    await outcome.ended
    expect(scope.facts.tried).toMatchObject([{ outcome: 'failed', errorType: 'provider_failed' }])
    expect(dependencies.health.stateOf(endpoint)).toBe('failing')
  })

  test.each([
    ['mp3', 'after half a frame is not charged', frames(1.5), -1n],
    ['mp3', 'after a whole frame is charged in full', frames(2), 7n],
    ['pcm', 'after a whole sample is charged in full', new Uint8Array(speechTailBytes + 2), 7n],
  ] as const)('as %s %s', async (responseFormat, _, sound, cost) => {
    const isMpeg = responseFormat === 'mp3'
    const { dependencies, scope, captured } = breakAfter(sound, () =>
      isMpeg ? rawSpeech({ container: 'mpeg' }) : usualReader(),
    )
    const outcome = await createExecutor(dependencies).speech({ ...call, responseFormat }, scope)
    const ending = new Response(outcome.body as ReadableStream<Uint8Array>).bytes().then(
      () => 'whole',
      () => 'broken off',
    )
    expect(await ending).toBe('broken off')
    await outcome.ended
    expect(captured).toEqual([cost])
  })
})

test('speech whose time is over breaks off, so that no caller takes a part for the whole or waits for more', async () => {
  let reads = 0
  const ending = Promise.withResolvers<Uint8Array | null>()
  const { dependencies, scope, deadlines, captured } = setUp(async () =>
    (reads += 1) === 1 ? new Uint8Array(4_096) : ending.promise,
  )
  const outcome = await createExecutor(dependencies).speech(call, scope)
  const reader = (outcome.body as ReadableStream<Uint8Array>).getReader()
  expect((await reader.read()).value?.byteLength).toBeGreaterThan(0)
  for (const pass of deadlines) pass()
  ending.resolve(null)
  const next = reader.read().then(
    ({ done }) => (done ? 'ended' : 'went on'),
    () => 'broke off',
  )
  expect(await Promise.race([next, Bun.sleep(10_000).then(() => 'waits')])).toBe('broke off')
  await outcome.ended
  expect(captured).toEqual([7n])
})

test('speech is charged by the amount that its provider reports as billed, in the body or in the headers', async () => {
  const chunks = [new Uint8Array(4_096), null]
  const { dependencies, scope, captured } = setUp(
    async () => chunks.shift() ?? null,
    (_, headers) => ({ ...usualReader(), billed: { characters: Number(headers.get('x-billed') ?? 3) } }),
  )
  const outcome = await createExecutor(dependencies).speech(call, scope)
  await new Response(outcome.body as ReadableStream<Uint8Array>).bytes()
  await outcome.ended
  expect(captured).toEqual([3n])
})

test('a failure that a body reports before its first sound is treated like a refusal', async () => {
  const chunks = [Buffer.from('{"status":1004}'), null]
  const { dependencies, scope, captured } = setUp(
    async () => chunks.shift() ?? null,
    () =>
      wrappedSpeech({
        framing: 'json',
        at: ['audio'],
        encoding: 'hex',
        output: { container: 'mpeg' },
        read: () => {
          throw new AttemptFailed({
            error: new GatewayError('upstream_rate_limited', 'The provider limits the rate of requests.'),
            retryElsewhere: true,
            retrySame: false,
            credentialFault: false,
            retryAfterMs: null,
          })
        },
      }),
  )
  const failed = await createExecutor(dependencies)
    .speech(call, scope)
    .catch((error: unknown) => error)
  expect(failed).toMatchObject({ type: 'upstream_rate_limited' })
  expect(captured).toEqual([-1n])
})

test('a long read is converted in pieces, and other work runs after two of them', async () => {
  const chunks = [new Uint8Array(2_000_000), null]
  const { dependencies, scope } = setUp(async () => chunks.shift() ?? null)
  const outcome = await createExecutor(dependencies).speech(call, scope)
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  turn()
  const bytes = await new Response(outcome.body as ReadableStream<Uint8Array>).bytes()
  isOver = true
  expect(bytes.length).toBe(2_000_000)
  expect(turns).toBeGreaterThanOrEqual(2_000_000 / 65_536 / 2 - 1)
})

test('streams that are ready at once share the turns of the loop', async () => {
  const count = 20
  const asked: number[] = []
  let turn = 0
  let isOver = false
  const next = () => {
    turn += 1
    if (!isOver) setImmediate(next)
  }
  next()
  const { dependencies, scope } = setUp(async () => {
    asked.push(turn)
    return new Uint8Array(48_000)
  })
  const calls = Array.from({ length: count }, () => createExecutor(dependencies).speech(call, scope))
  const outcomes = await Promise.all(calls)
  isOver = true
  for (const { body } of outcomes) await (body as ReadableStream<Uint8Array>).cancel()
  const inOneTurn = Math.max(...asked.map((at) => asked.filter((other) => other === at).length))
  expect(asked).toHaveLength(count)
  expect(inOneTurn).toBeLessThanOrEqual(4)
})
