import { afterAll, expect, test } from 'bun:test'
import { isThorough } from '../support/thorough.ts'
import { startBadInputGateway } from './bad-input-gateway.ts'
import { judgeAll, type Trial } from './judge.ts'
import { kinds, triedMutationsOf, type Kind } from './mutations.ts'
import { SchemaWalker } from './schema-fields.ts'

// Every field of every request body, made wrong in seven ways: never a 5xx, never a hang, always the envelope. An ordinary
// run tries one of the bodies of each way in turn; `npm run prove -- bad-input` tries all.

const started = await startBadInputGateway()
const { gateway, components, operations, parameters } = started
const walker = new SchemaWalker(components)
const covered = new Map<string, Set<Kind>>()
let requests = 0

afterAll(async () => {
  const known = operations.flatMap((operation) =>
    walker.pathsOf(operation.schema).map((path) => `${operation.id} ${operation.contentType} ${path}`),
  )
  const whole = known.filter((field) => covered.get(field)?.size === kinds.length).length
  const percent = ((100 * whole) / known.length).toFixed(1)
  if (isThorough)
    console.log(
      `bad input: ${whole} of ${known.length} fields × ${kinds.length} kinds (${percent} %), ${parameters.length} parameters, ${requests} requests`,
    )
  await started.stop()
})

for (const operation of operations.filter(({ contentType }) => contentType === 'application/json')) {
  const { id, method, path, key, schema, valid } = operation
  test(`${id}: its valid request is answered`, async () => {
    const response = await gateway.request(path, { method, key, body: valid, headers: operation.headers })
    await response.bytes()
    expect(response.status).toBeLessThan(300)
  })

  test(`${id}: no field can be made so wrong that the gateway fails`, async () => {
    const trials = function* (): Generator<Trial> {
      for (const field of walker.fieldsOf(schema, valid)) {
        const name = `${id} application/json ${field.path}`
        const done = covered.get(name) ?? new Set<Kind>()
        covered.set(name, done)
        for (const { kind, body } of triedMutationsOf(field)) {
          done.add(kind)
          const headers = { ...operation.headers, 'content-type': 'application/json' }
          yield { label: `${name} (${kind}) ${excerpt(body)}`, path, init: { method, key, body, headers } }
        }
      }
    }
    const { count, problems } = await judgeAll(gateway, trials())
    requests += count
    expect(problems.slice(0, 10)).toEqual([])
  }, 120_000)
}

for (const operation of operations.filter(({ contentType }) => contentType === 'multipart/form-data')) {
  const { id, method, path, key, schema, valid } = operation
  test(`${id}: no field of its form can be made so wrong that the gateway fails`, async () => {
    const trials = function* (): Generator<Trial> {
      for (const field of walker.fieldsOf(schema, {})) {
        const name = `${id} multipart/form-data ${field.path}`
        const done = covered.get(name) ?? new Set<Kind>()
        covered.set(name, done)
        const root = field.path.split(/[.[]/)[0] ?? ''
        for (const { kind, body } of triedMutationsOf(field)) {
          done.add(kind)
          const form = formOf(root, kind, body, String(valid['model']))
          yield { label: `${name} (${kind}) ${excerpt(body)}`, path, init: { method, key, ...form } }
        }
      }
    }
    const { count, problems } = await judgeAll(gateway, trials())
    requests += count
    expect(problems.slice(0, 10)).toEqual([])
  }, 120_000)
}

const strangeValues = [
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'null',
  'x'.repeat(5_000),
  'é',
  '%00',
  '../..',
  '[object Object]',
  "' or 1=1",
]

test('no parameter can be made so wrong that the gateway fails', async () => {
  const trials = function* (): Generator<Trial> {
    for (const parameter of parameters) {
      const body = operations.find(
        ({ path, method }) => path === parameter.path && method === parameter.method,
      )?.valid
      for (const value of strangeValues) {
        const { method, key } = parameter
        const label = `${method} ${parameter.path} ${parameter.in} ${parameter.name}=${value.slice(0, 40)}`
        const encoded = encodeURIComponent(value)
        const isHeader = parameter.in === 'header'
        const filled = parameter.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          name === parameter.name ? encoded : 'x',
        )
        const path =
          parameter.in === 'query'
            ? `${filled}?${parameter.name}=${encoded}&${parameter.name}=${encoded}`
            : filled
        const headers: Record<string, string> = isHeader ? { [parameter.name]: value.replace('é', 'e') } : {}
        yield { label, path, init: { method, key, headers, ...(body === undefined ? {} : { body }) } }
      }
    }
  }
  const { count, problems } = await judgeAll(gateway, trials())
  requests += count
  expect(problems.slice(0, 10)).toEqual([])
}, 120_000)

test('every field of every request body was mutated in every way', () => {
  const missing = operations.flatMap((operation) =>
    walker
      .pathsOf(operation.schema)
      .map((path) => `${operation.id} ${operation.contentType} ${path}`)
      .filter((field) => covered.get(field)?.size !== kinds.length),
  )
  expect(missing).toEqual([])
  expect(covered.size).toBeGreaterThan(100)
})

const excerpt = (body: string | Uint8Array) => Buffer.from(body).toString('latin1').slice(0, 160)

/** A form whose field `root` has the text that a JSON mutation gave it; a part of broken UTF-8 stays broken. */
function formOf(root: string, kind: Kind, body: string | Uint8Array, model: string) {
  const boundary = 'bad-input-boundary'
  const parts: Buffer[] = []
  const part = (name: string, value: Uint8Array, more = '') => {
    parts.push(Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`))
    parts.push(Buffer.from(value), Buffer.from('\r\n'))
  }
  if (root !== 'model') part('model', Buffer.from(model))
  if (root !== 'file') part('file', new Uint8Array(64), '; filename="a.wav"')
  const values = kind === 'absent' ? [] : valuesOf(root, body)
  for (const value of values) part(root, value)
  if (kind === 'duplicate') for (const value of values) part(root, value)
  parts.push(Buffer.from(`--${boundary}--\r\n`))
  return {
    body: new Uint8Array(Buffer.concat(parts)),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}

function valuesOf(root: string, body: string | Uint8Array): Uint8Array[] {
  if (typeof body !== 'string') return [body]
  try {
    const value = (JSON.parse(body) as Record<string, unknown>)[root]
    return [Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))]
  } catch {
    return [Buffer.from(body)]
  }
}
