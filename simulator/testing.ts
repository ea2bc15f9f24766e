import { afterAll, beforeAll } from 'bun:test'
import { isObject, type JsonObject } from './json.ts'
import { type Simulator, startSimulator } from './server.ts'

/** An answer with its body read as JSON where it is JSON. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  json: JsonObject
}

interface Post {
  body: unknown
  fault?: string
  mount?: string
  key?: string
  /** Headers that add to or replace the usual ones; undefined removes one. */
  headers?: Record<string, string | undefined>
  signal?: AbortSignal
}

/** One simulator for all tests of a file. */
export function simulatorForTests() {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator({ seed: 7 })
  })
  afterAll(() => simulator.stop())

  const base = (mount?: string) => (mount === undefined ? simulator.url : `${simulator.url}/p/${mount}`)
  const self = {
    url: base,
    port: () => simulator.port,
    /** Posts to a path below `/v1` and returns the response as it begins. */
    fetch(
      path: string,
      { body, fault, mount, key = 'test-key', headers = {}, signal }: Post,
    ): Promise<Response> {
      const isForm = body instanceof FormData
      return fetch(`${base(mount)}/v1${path}`, {
        method: 'POST',
        headers: givenOnly({
          authorization: `Bearer ${key}`,
          ...(fault === undefined ? {} : { 'x-simulator-fault': fault }),
          ...(isForm ? {} : { 'content-type': 'application/json' }),
          ...(path.startsWith('/messages') ? { 'anthropic-version': '2023-06-01' } : {}),
          ...headers,
        }),
        body: isForm || typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      })
    },
    async post(path: string, post: Post): Promise<Answer> {
      return readAnswer(await self.fetch(path, post))
    },
    async admin(path: string, body?: unknown): Promise<JsonObject> {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return (await readAnswer(await fetch(`${simulator.url}/admin/${path}`, init))).json
    },
  }
  return self
}

function givenOnly(headers: Record<string, string | undefined>): [string, string][] {
  return Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
}

/** Reads a whole answer. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parsedOrEmpty(text) }
}

function parsedOrEmpty(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** The member at a path such as `choices.0.message.content`. */
export function at(value: unknown, path: string): unknown {
  let found = value
  for (const step of path.split('.')) {
    if (Array.isArray(found)) found = found[Number(step)]
    else found = isObject(found) ? found[step] : undefined
  }
  return found
}

/** The data of every event of a stream, with the end mark unchanged. */
export function eventsOf(text: string): unknown[] {
  const blocks = text.split(/\r?\n\r?\n/).filter((block) => block.startsWith('data: '))
  return blocks.map((block) => {
    const data = block.slice('data: '.length)
    return data === '[DONE]' ? data : JSON.parse(data)
  })
}

/** A chat request that says one thing. */
export function say(text: string, more: JsonObject = {}): JsonObject {
  return { model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }], ...more }
}

/** A Messages request that says one thing. */
export function ask(text: string, more: JsonObject = {}): JsonObject {
  return {
    model: 'claude-sonnet-4-5',
    max_tokens: 2048,
    messages: [{ role: 'user', content: text }],
    ...more,
  }
}

/** The data of every event of a stream whose events have names, checked to be named after their types. */
export function namedEventsOf(text: string): JsonObject[] {
  const blocks = text.split(/\r?\n\r?\n/).filter((block) => block.startsWith('event: '))
  return blocks.map((block) => {
    const [name = '', data = ''] = block.split(/\r?\n/)
    const event: unknown = JSON.parse(data.slice('data: '.length))
    if (!isObject(event) || name !== `event: ${String(event['type'])}`)
      throw new Error(`An event is not named after its type: ${block}`)
    return event
  })
}

/** A Responses request that says one thing. */
export function respondTo(input: unknown, more: JsonObject = {}): JsonObject {
  return { model: 'gpt-4o-mini', input, ...more }
}

/** The error of a call that must fail. The client's promises run only when they are awaited. */
export async function refusalOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('The call was answered.')
}
