import { networkFailure, toFailure } from './failure.ts'
import type { Operations } from './openapi.gen.ts'
import { basePath } from './place.ts'

/** Marks a request as made by the console's own script: the cookie of a session counts only beside it. */
export const consoleHeader = { 'x-headrace-console': '1' } as const

export type OperationName = keyof Operations
type QueryValue = string | number | boolean | null | undefined | readonly (string | number)[]

interface Parameters<K extends OperationName> {
  /** Values for `{…}` of the path. */
  path?: Readonly<Record<string, string>>
  query?: Operations[K]['query']
  body?: Operations[K]['body']
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
}

/** Calls an operation of the API description. Throws an `ApiFailure` for everything but a 2xx. */
export async function call<K extends OperationName>(
  name: K,
  given: Parameters<K> = {},
): Promise<Operations[K]['answer']> {
  const [method = 'GET', template = ''] = name.split(' ')
  const response = await send(method, address(template, given.path, given.query), {
    ...(given.body === undefined ? {} : { body: JSON.stringify(given.body), type: 'application/json' }),
    ...(given.signal === undefined ? {} : { signal: given.signal }),
    ...(given.headers === undefined ? {} : { headers: given.headers }),
  })
  const text = await response.text()
  return (text === '' ? null : JSON.parse(text)) as Operations[K]['answer']
}

interface Sent {
  body?: BodyInit
  type?: string
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
}

/** Sends a request below `/v1` and gives the answer with its body unread. Throws for everything but a 2xx. */
export async function send(method: string, path: string, sent: Sent = {}): Promise<Response> {
  let response: Response
  try {
    response = await fetch(`${basePath}/v1${path}`, {
      method,
      headers: {
        ...consoleHeader,
        ...(sent.type === undefined ? {} : { 'content-type': sent.type }),
        ...sent.headers,
      },
      credentials: 'same-origin',
      cache: 'no-store',
      ...(sent.body === undefined ? {} : { body: sent.body }),
      ...(sent.signal === undefined ? {} : { signal: sent.signal }),
    })
  } catch (error) {
    if (sent.signal?.aborted === true) throw error
    throw networkFailure(error)
  }
  if (!response.ok) {
    const failure = toFailure(response.status, response.headers, await response.text())
    if (failure.status === 401) window.dispatchEvent(new Event('headrace:signed-out'))
    throw failure
  }
  return response
}

/** A path with its `{…}` filled in and its query; a list is repeated. */
export function address(
  template: string,
  path: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, QueryValue>> = {},
): string {
  // An id of a model has a slash that belongs to the path.
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    (path[name] ?? '').split('/').map(encodeURIComponent).join('/'),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue
    for (const one of Array.isArray(value) ? (value as readonly (string | number)[]) : [value])
      search.append(name, String(one))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}
