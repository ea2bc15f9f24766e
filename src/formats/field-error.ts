import type { z } from 'zod'
import { GatewayError } from '../core/errors.ts'

/** An `invalid_request` about one field: its path, what is wrong with it, and what to do. */
export function fieldError(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `"${param}" ${problem}`, { param })
}

/**
 * Checks a part of a request against its schema and returns what it parsed to. `name` is the part's own path, empty for
 * the whole body. Throws `invalid_request` that names the first member at fault by its whole path, such as
 * `provider.max_price.prompt`.
 */
export function parseField<T>(schema: z.ZodType<T>, name: string, value: unknown): T {
  const result = schema.safeParse(value, { reportInput: true })
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
    : sentenceOf(describe(issue))
  if (path !== '') return fieldError(path, problem)
  return new GatewayError('invalid_request', `The request body ${problem}`, { param: 'body' })
}

type Issue = z.core.$ZodIssue

/** Of a union the alternative that got furthest explains most; when none got anywhere, all of them. */
function deepest(issue: Issue | undefined, outer: readonly PropertyKey[] = []): Issue | undefined {
  if (issue?.code !== 'invalid_union') return issue && { ...issue, path: [...outer, ...issue.path] }
  const path = [...outer, ...issue.path]
  const nested = issue.errors.flatMap((issues) => (issues[0] ? [issues[0]] : []))
  const furthest = nested.toSorted((a, b) => b.path.length - a.path.length)[0]
  if (!furthest || furthest.path.length === 0) {
    const [first, ...others] = new Set(nested.map(({ message }) => message))
    if (first === undefined) return { ...issue, path }
    return { ...issue, path, message: [first, ...others.map(withoutLead)].join(', or ') }
  }
  return deepest(furthest, path)
}

function formatPath(prefix: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const name = String(step).slice(0, 64)
    return text === '' ? name : `${text}.${name}`
  }, prefix)
}

/** What is wrong, as the rest of a sentence whose subject is the member. */
function describe(issue: Issue | undefined): string {
  if (!issue?.message) return 'has another form than expected'
  const isMissing = issue.code !== 'custom' && issue.code !== 'too_big' && issue.input === undefined
  const wrong = /^Invalid input: expected (\w+), received (\w+)$/.exec(issue.message)
  if (!wrong) return isMissing ? 'is required' : issue.message
  const [, expected = '', received = ''] = wrong
  const wanted = /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`
  return isMissing ? `is required; send ${wanted}` : `must be ${wanted}, not ${received}`
}

/** Our own messages continue the sentence; the schema library's begin one. */
function sentenceOf(problem: string): string {
  return /^[a-z]/.test(problem)
    ? `${problem}.`
    : `is not valid: ${withoutLead(problem)}. Correct it or leave it out.`
}

function withoutLead(message: string): string {
  return message.replace(/^Invalid input: /, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase())
}
