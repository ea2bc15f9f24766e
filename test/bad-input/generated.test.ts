import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startTestGateway, until } from '../support/gateway.ts'
import { isThorough } from '../support/thorough.ts'
import { startBadInputGateway, type Operation } from './bad-input-gateway.ts'
import { judgeAll, type Trial } from './judge.ts'
import { triedMutationsOf } from './mutations.ts'
import { SchemaWalker } from './schema-fields.ts'

// Bodies and headers that nobody thought of, the same in every run; `npm run prove -- bad-input` sends ten thousand.

const runs = isThorough ? 10_000 : 300
const seed = 20_261_120

const started = await startBadInputGateway()
const { gateway, operations, components } = started
afterAll(() => started.stop())

const walker = new SchemaWalker(components)
const jsonOperations = operations.filter(({ contentType }) => contentType === 'application/json')

/** Any JSON, with member names that mean something somewhere. */
const names = [
  ...new Set(
    jsonOperations.flatMap(({ schema }) => walker.pathsOf(schema)).flatMap((path) => path.split(/[.[\]*]+/)),
  ),
]
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(null, true, false, '', 0, -1, 1e21, Number.MAX_SAFE_INTEGER),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 5 }),
  ),
})).value

type Shape = (operation: Operation) => fc.Arbitrary<string | Uint8Array<ArrayBuffer>>

/** A valid request with some members replaced. */
const disturbed: Shape = ({ valid, schema }) => {
  const members = Object.keys(schema['properties'] ?? valid)
  const own = fc.constantFrom(
    ...(members.length > 0 ? [...members, ...Object.keys(valid)] : Object.keys(valid)),
  )
  return fc
    .dictionary(own, anyJson, { maxKeys: 4 })
    .map((changes) => JSON.stringify({ ...valid, ...changes }))
}

/** A valid request's text, cut, doubled, or with bytes changed. */
const damaged: Shape = ({ valid }) => {
  const whole = Buffer.from(JSON.stringify(valid))
  const place = fc.nat({ max: whole.length - 1 })
  return fc.tuple(place, fc.uint8Array({ maxLength: 6 }), fc.nat({ max: 8 })).map(([at, bytes, gone]) => {
    const pieces = [whole.subarray(0, at), bytes, whole.subarray(at + gone)]
    return new Uint8Array(Buffer.concat(pieces))
  })
}

const bodyOf: Shape = (operation) =>
  fc.oneof(
    { weight: 4, arbitrary: disturbed(operation) },
    { weight: 3, arbitrary: damaged(operation) },
    { weight: 2, arbitrary: anyJson.map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => new Uint8Array(bytes)) },
  )

/** What HTTP lets through: Latin-1 without control characters. */
const headerText = fc.string({
  unit: fc
    .integer({ min: 32, max: 255 })
    .filter((code) => code !== 127)
    .map((code) => String.fromCharCode(code)),
  maxLength: 300,
})
const contentType = fc.oneof(
  { weight: 9, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-16',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'text/json',
      ';;;',
    ),
  },
)

const headers = fc
  .dictionary(
    fc.constantFrom(
      'accept',
      'x-session-id',
      'idempotency-key',
      'content-encoding',
      'x-headrace-metadata',
      'x-openrouter-metadata',
      'x-forwarded-for',
      'cookie',
      'x-api-key',
      'range',
      'http-referer',
    ),
    fc.oneof(
      headerText,
      fc.constantFrom('gzip', 'br', 'zstd', 'enabled', 'text/vtt;q=2', '*/*;q=0', ',,,;;;'),
    ),
    { maxKeys: 3 },
  )
  .chain((given) => contentType.map((type): Record<string, string> => ({ ...given, 'content-type': type })))

const trial = fc.constantFrom(...jsonOperations).chain((operation) =>
  fc.tuple(bodyOf(operation), headers).map(([body, sent]): Trial => {
    const { id, method, path, key } = operation
    const label = `${id} ${JSON.stringify(sent)} ${Buffer.from(body).toString('latin1').slice(0, 400)}`
    return { label, path, init: { method, key, body, headers: { ...operation.headers, ...trimmed(sent) } } }
  }),
)

// Leading and trailing blanks are no part of a header's value, and the client refuses them.
const trimmed = (sent: Record<string, string>) =>
  Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, value.trim()]))

test(`${runs} generated requests get an answer with an envelope and no 5xx`, async () => {
  const startedMs = performance.now()
  const { count, answered, problems } = await judgeAll(gateway, fc.sample(trial, { numRuns: runs, seed }))
  if (isThorough)
    console.log(
      `bad input: ${count} generated requests, ${answered} answered, in ${Math.round(performance.now() - startedMs)} ms`,
    )
  expect(problems.slice(0, 10)).toEqual([])
  expect(count).toBe(runs)
  // Noise alone would only ever test the first check.
  expect(answered).toBeGreaterThan(runs / 20)
}, 180_000)

test('every wrong chat request is an error of its own item when it comes in a batch', async () => {
  const chat = jsonOperations.find(({ id }) => id === 'createChatCompletion')
  if (!chat) throw new Error('the description has no chat completions')
  const bodies = walker
    .fieldsOf(chat.schema, chat.valid)
    .flatMap(triedMutationsOf)
    .flatMap(({ kind, body }) => (typeof body === 'string' && kind !== 'too long' ? [body] : []))
    .filter((body) => isItemBody(body))
  const worker = await startTestGateway()
  try {
    const requests = bodies.map((body, index) => `{"custom_id":"${index}","body":${body}}`)
    const batch = `{"endpoint":"/v1/chat/completions","model":"openai/gpt-4o-mini","requests":[${requests.join(',')}]}`
    const accepted = await worker.post('/batches', batch)
    expect([accepted.status, accepted.text.slice(0, 300)]).toEqual([202, accepted.text.slice(0, 300)])
    const ended = await until(
      () => worker.get(`/batches/${String(accepted.json['id'])}`),
      ({ json }) => json['status'] === 'completed',
      60_000,
    )
    const results = ended.json['results'] as { custom_id: string; error: { error_type?: string } | null }[]
    expect(results.length).toBe(bodies.length)
    const internal = results.filter(({ error }) => error?.error_type === 'server')
    expect(internal.slice(0, 5).map((result) => [result.error, bodies[Number(result.custom_id)]])).toEqual([])
  } finally {
    await worker.stop()
  }
}, 120_000)

/** Whether a batch takes it as an item: an object whose model, if any, is the batch's, and that does not stream. */
function isItemBody(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
    const { model, stream } = body as Record<string, unknown>
    return (model === undefined || model === 'openai/gpt-4o-mini') && stream !== true
  } catch {
    return false
  }
}
