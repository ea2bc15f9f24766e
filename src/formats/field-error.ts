import type { z } from 'zod'
import { GatewayError } from '../core/errors.ts'

/** An `invalid_request` about one field: its path, what is wrong with it, and what to do. */
export function fieldError(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `"${param}" ${problem}`, { param })
}

/**
 * Checks one member of a request against its schema and returns the parsed value. Throws `invalid_request` that names
 * the first member at fault by its whole path, such as `provider.max_price.prompt`.
 */
export function parseField<T>(schema: z.ZodType<T>, name: string, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw toFieldError(name, result.error)
}

/** The first problem of a failed parse as a GatewayError; `prefix` is the path of the value that was parsed. */
export function toFieldError(prefix: string, error: z.ZodError): GatewayError {
  const issue = deepest(error.issues[0])
  const path = issue ? formatPath(prefix, issue.path) : prefix
  if (issue?.code === 'unrecognized_keys') {
    const key = `${path}.${issue.keys[0]?.slice(0, 64) ?? ''}`
    return fieldError(key, 'is not a known member. Leave it out or correct its name.')
  }
  return fieldError(path, `is not valid: ${describe(issue?.message)}. Correct it or leave it out.`)
}

type Issue = z.core.$ZodIssue

/** Of a union the alternative that got furthest explains most; when none got anywhere, all of them. */
function deepest(issue: Issue | undefined, outer: readonly PropertyKey[] = []): Issue | undefined {
  if (issue?.code !== 'invalid_union') return issue && { ...issue, path: [...outer, ...issue.path] }
  const path = [...outer, ...issue.path]
  const nested = issue.errors.flatMap((issues) => (issues[0] ? [issues[0]] : []))
  const furthest = nested.toSorted((a, b) => b.path.length - a.path.length)[0]
  if (!furthest || furthest.path.length === 0) {
    const alternatives = [...new Set(nested.map(({ message }) => describe(message)))]
    return { ...issue, path, ...(alternatives.length > 0 ? { message: alternatives.join(', or ') } : {}) }
  }
  return deepest(furthest, path)
}

function formatPath(prefix: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key).slice(0, 64)}`),
    prefix,
  )
}

function describe(message: string | undefined): string {
  if (!message) return 'it has another form than expected'
  return message.replace(/^Invalid input: /, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase())
}
