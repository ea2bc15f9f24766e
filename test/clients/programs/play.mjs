// What the programs share: the task, the address, and the line that each case prints.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

export const task = JSON.parse(readFileSync(new URL('task.json', import.meta.url), 'utf8'))
export const root = process.env.GATEWAY_ROOT
export const key = process.env.GATEWAY_KEY
export const model = process.env.GATEWAY_MODEL
export const sealedThoughts = Number(process.env.GATEWAY_SEALED_THOUGHTS)
export const embeddingModel = process.env.GATEWAY_EMBEDDING_MODEL ?? ''

let calls = 0
const send = globalThis.fetch
// The clients take the global function, so that every call of theirs is counted here.
globalThis.fetch = Object.assign((...args) => {
  calls += 1
  return send(...args)
}, send)

/** Plays the cases one after another and prints a line of JSON for each. */
export async function play(cases) {
  for (const [name, run] of Object.entries(cases)) {
    const before = calls
    let failure = null
    try {
      await run()
    } catch (error) {
      failure = { name: error?.name ?? '', message: describe(error) }
    }
    console.log(JSON.stringify({ case: name, calls: calls - before, failure }))
  }
  process.exit(0)
}

function describe(error) {
  const cause = error?.cause === undefined ? '' : ` <- ${error.cause}`
  return `${error?.stack ?? error}${cause}`.slice(0, 1500)
}

/** What the tools answer, and what they were called with. */
export function createTools() {
  const called = { weather: [], convert: [], note: [] }
  const { results } = task.tools
  return {
    called,
    weather(input) {
      called.weather.push(input)
      return `${results.weather}${input.city}`
    },
    convert(input) {
      called.convert.push(input)
      return results.convert
    },
    note(input) {
      called.note.push(input ?? {})
      return results.note
    },
    /** Every tool was called with the model's own arguments, in its order. */
    check() {
      assert.deepEqual(called.weather, task.tools.weather)
      assert.deepEqual(called.convert, task.tools.convert)
      assert.deepEqual(called.note, [{}])
    },
  }
}

export const tools = [
  {
    name: 'weather',
    description: 'The weather of a city',
    schema: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['C', 'F'] } },
      required: ['city', 'unit'],
      additionalProperties: false,
    },
  },
  {
    name: 'convert',
    description: 'Degrees in Fahrenheit',
    schema: {
      type: 'object',
      properties: {
        celsius: { type: 'number' },
        flags: {
          type: 'object',
          properties: { exact: { type: 'boolean' } },
          required: ['exact'],
          additionalProperties: false,
        },
        labels: { type: 'array', items: { type: 'string' } },
      },
      required: ['celsius', 'flags', 'labels'],
      additionalProperties: false,
    },
  },
  {
    name: 'note',
    description: 'Remembers',
    schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
  },
]

export const placeSchema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    degrees: { type: 'number' },
    labels: { type: 'array', items: { type: 'string' } },
  },
  required: ['city', 'degrees', 'labels'],
  additionalProperties: false,
}

/** Holds that this is one of the embedding model's vectors. */
export function isVector(values) {
  assert.equal(values.length, task.embeddings.dimensions)
  const length = values.reduce((sum, value) => sum + value * value, 0)
  assert.ok(Math.abs(length - 1) < 0.01, `the square of its length is ${length}`)
}

/** The error that a call ends with, which must be of this class and have this status. */
export async function refusal(call, { kind, status, says = '' }) {
  let seen = null
  try {
    await call()
  } catch (error) {
    seen = error
  }
  assert.ok(seen !== null, 'the call was answered')
  assert.ok(seen instanceof kind, `it is ${seen?.name}: ${seen?.message}, not ${kind.name}`)
  const shown = seen.status ?? seen.statusCode ?? null
  if (status !== null) assert.equal(shown, status, seen.message)
  assert.ok(`${seen.message}`.includes(says), `"${seen.message}" does not say "${says}"`)
  return seen
}

export { assert }
