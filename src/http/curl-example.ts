import { recordOrEmpty } from '../json/values.ts'

type Json = Readonly<Record<string, unknown>>

/** An operation of the OpenAPI document, for a call from a shell. */
export interface CurlOperation {
  method: string
  /** The path, with `{name}` for a value that the caller fills in. */
  path: string
  /** The OpenAPI operation itself. */
  operation: Json
  /** Whether it needs a management key. */
  isManagement: boolean
  /** Whether it needs a session, and no key does. */
  isSession: boolean
}

/**
 * A command that works once HEADRACE_URL and the key are set; a value that the caller fills in is a variable of the
 * shell, such as `$ID`.
 */
export function curlExample({ method, path, operation, isManagement, isSession }: CurlOperation): string {
  const content = memberOf(operation['requestBody'], 'content')
  const key = isManagement ? 'HEADRACE_MANAGEMENT_KEY' : 'HEADRACE_API_KEY'
  const body = bodyOptions(content)
  const verb = method === (body.length > 0 ? 'POST' : 'GET') ? '' : ` -X ${method}`
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variableOf(name))
  return [
    `curl${verb} "$HEADRACE_URL${target}${requiredQuery(operation)}"`,
    ...(isSession ? sessionOptions(method) : [`-H "Authorization: Bearer $${key}"`]),
    ...body,
    ...outputOptions(operation),
  ].join(' \\\n  ')
}

/** The headers that a browser and the console send, and a file in the place of the browser's cookies. */
function sessionOptions(method: string): string[] {
  const origin = method === 'GET' ? [] : ['-H "Origin: ${HEADRACE_URL%/v1}"']
  return ['-b cookies.txt -c cookies.txt -H "X-Headrace-Console: 1"', ...origin]
}

function bodyOptions(content: unknown): string[] {
  const example = memberOf(memberOf(content, 'application/json'), 'example')
  // A form uses a real file; a JSON example can contain only a piece of one.
  if (memberOf(content, 'multipart/form-data') !== undefined)
    return [`-F model=${String(memberOf(example, 'model'))}`, '-F file=@speech.mp3']
  if (example === undefined) return []
  const json = JSON.stringify(example, null, 2).replaceAll("'", String.raw`'\''`)
  return ['-H "Content-Type: application/json"', `-d '${json}'`]
}

function requiredQuery(operation: Json): string {
  const parameters = Array.isArray(operation['parameters']) ? operation['parameters'] : []
  const names = parameters.flatMap((parameter: unknown) => {
    const { in: where, required, name } = recordOrEmpty(parameter)
    return where === 'query' && required === true ? [String(name)] : []
  })
  return names.length === 0 ? '' : `?${names.map((name) => `${name}=${variableOf(name)}`).join('&')}`
}

/** Audio must not be printed to a terminal. */
function outputOptions(operation: Json): string[] {
  const answer = memberOf(memberOf(operation['responses'], '200'), 'content')
  return Object.keys(recordOrEmpty(answer)).some((type) => type.startsWith('audio/')) ? ['-o speech.mp3'] : []
}

function variableOf(name: string): string {
  return `$${name.toUpperCase()}`
}

function memberOf(value: unknown, name: string): unknown {
  return recordOrEmpty(value)[name]
}
