import type { z } from 'zod'
import { GatewayError } from '../core/errors.ts'

/** Parses a small JSON body with a schema; throws `invalid_request` that names the first field at fault. */
export function parseWith<T>(schema: z.ZodType<T>, bytes: Uint8Array): T {
  if (bytes.byteLength === 0)
    throw new GatewayError('invalid_request', 'The request body is empty; send a JSON object.')
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { cause: error })
  }
  return parseValue(schema, value)
}

/** The same for a value that is parsed already, such as a query. */
export function parseValue<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue ? fieldOf(issue.path) : ''
  throw new GatewayError('invalid_request', messageOf(issue, field), { param: field === '' ? 'body' : field })
}

type Issue = z.core.$ZodIssue

function messageOf(issue: Issue | undefined, field: string): string {
  const subject = field === '' ? 'The request body' : field
  if (issue?.code === 'unrecognized_keys')
    return `${subject} has the member "${issue.keys[0]?.slice(0, 64) ?? ''}", which is not known here; leave it out.`
  const wrong = /^Invalid input: expected (\w+), received (\w+)$/.exec(issue?.message ?? '')
  if (!wrong) return `${subject}: ${issue?.message ?? 'is not valid'}.`
  const [, expected = '', received = ''] = wrong
  const wanted = /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`
  if (received === 'undefined') return `${subject} is required; send ${wanted}.`
  return `${subject} must be ${wanted}, not ${received}.`
}

function fieldOf(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path)
    text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`
  return text
}
