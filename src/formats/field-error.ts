import type { z } from 'zod'
import { fieldError, GatewayError } from '../core/errors.ts'
import { describeIssue } from './schema-issue.ts'

/**
 * Checks a part of a request against its schema and returns the parsed value. `name` is the path of the part, empty for
 * the whole body. Throws `invalid_request`, which names the first wrong member by its whole path, such as
 * `provider.max_price.prompt`.
 */
export function parseField<T>(schema: z.ZodType<T>, name: string, value: unknown): T {
  const result = schema.safeParse(value, { reportInput: true, error: describeIssue })
  if (result.success) return result.data
  throw toFieldError(name, result.error)
}

function toFieldError(prefix: string, error: z.ZodError): GatewayError {
  const issue = deepest(error.issues[0])
  const isUnknown = issue?.code === 'unrecognized_keys'
  const unknown = isUnknown ? issue.keys.slice(0, 1) : []
  const path = formatPath(prefix, [...(issue?.path ?? []), ...unknown])
  const problem = isUnknown
    ? 'is not a known member. Leave it out or correct its name.'
    : `${problemOf(issue)}.`
  if (path !== '') return fieldError(path, problem)
  return new GatewayError('invalid_request', `The request body ${problem}`, { param: 'body' })
}

type Issue = z.core.$ZodIssue

/**
 * In a union, the alternative that matched furthest explains most. When none matched at all, the union's own issue
 * names them all.
 */
function deepest(issue: Issue | undefined, outer: readonly PropertyKey[] = []): Issue | undefined {
  if (issue?.code !== 'invalid_union') return issue && { ...issue, path: [...outer, ...issue.path] }
  const path = [...outer, ...issue.path]
  const nested = issue.errors.flatMap((issues) => (issues[0] ? [issues[0]] : []))
  const furthest = nested.toSorted((a, b) => b.path.length - a.path.length)[0]
  return furthest && furthest.path.length > 0 ? deepest(furthest, path) : { ...issue, path }
}

function formatPath(prefix: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const name = String(step).slice(0, 64)
    return text === '' ? name : `${text}.${name}`
  }, prefix)
}

/** Describes the problem as the rest of a sentence whose subject is the member. */
function problemOf(issue: Issue | undefined): string {
  if (!issue) return 'has another form than expected'
  const { code, input, message } = issue
  // For a wrong value the schema's own text says what is wrong; for a missing one it does not fit.
  const isMissing = code !== 'custom' && code !== 'too_big' && input === undefined
  return isMissing && !message.startsWith('is required') ? 'is required' : message
}
