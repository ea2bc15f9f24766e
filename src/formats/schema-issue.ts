import type { z } from 'zod'

/** An issue that a schema found, before it has a text. */
type RawIssue<T extends z.core.$ZodIssueBase = z.core.$ZodIssue> = z.core.$ZodRawIssue<T>
type Issue = z.core.$ZodIssue

/**
 * Describes an issue as the rest of a sentence whose subject is the member: `must be a number of at least 1`. Every
 * parser of text that people wrote uses it instead of the schema library's texts; a schema's own text is kept.
 */
export function describeIssue(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_value':
      return describeKind(issue)
    case 'invalid_union':
      return describeUnion(issue)
    case 'too_small':
      return describeSize(issue, issue.minimum, 'least')
    case 'too_big':
      return describeSize(issue, issue.maximum, 'most')
    case 'invalid_format':
      return describeFormat(issue.format)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has members that are not known: ${listOf(issue.keys)}`
    case 'invalid_key':
      return `has a member with a name that ${firstMessage(issue.issues)}`
    case 'invalid_element':
      return `has an entry that ${firstMessage(issue.issues)}`
    default:
      return 'has a value that is not allowed'
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'a boolean',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  tuple: 'an array',
  null: 'null',
}

/** The expected value as a noun; null when the issue is not about the kind of value. */
function wantedOf(issue: RawIssue | Issue): string | null {
  if (issue.code === 'invalid_type') return kinds[issue.expected] ?? `a ${issue.expected}`
  if (issue.code !== 'invalid_value') return null
  return issue.values.length === 1 ? listOf(issue.values) : `one of ${listOf(issue.values)}`
}

function describeKind(issue: RawIssue<z.core.$ZodIssueInvalidType | z.core.$ZodIssueInvalidValue>): string {
  const wanted = wantedOf(issue)
  if (issue.input === undefined) return `is required; send ${wanted}`
  // A fraction where a whole number is expected has the right kind, so the kind is not repeated.
  const isOfKind = issue.code === 'invalid_value' || kindOf(issue.input) === kindBehind(issue.expected)
  return isOfKind ? `must be ${wanted}` : `must be ${wanted}, not ${kindOf(issue.input)}`
}

function kindBehind(expected: string): string {
  return expected === 'int' ? 'number' : expected
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Names all alternatives, each once. An alternative that is not a kind of value is described by its problem. */
function describeUnion({ errors, input }: RawIssue<z.core.$ZodIssueInvalidUnion>): string {
  const firsts = errors.flatMap((issues) => issues.slice(0, 1))
  const wanted = firsts.map((issue) => wantedOf(issue) ?? issue.message.replace(/^must be /, ''))
  const alternatives = [...new Set(wanted)].join(', or ')
  if (alternatives === '') return 'has none of the forms that are known'
  if (input === undefined) return `is required; send ${alternatives}`
  // The first alternative decides how the sentence begins.
  const [first] = firsts
  const isNoun = first && (wantedOf(first) !== null || first.message.startsWith('must be '))
  return isNoun ? `must be ${alternatives}` : alternatives
}

/** The noun that a bound counts; absent where the value itself is bounded. */
const counted: Readonly<Record<string, readonly [one: string, several: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
  set: ['entry', 'entries'],
  object: ['member', 'members'],
}

function describeSize(
  issue: RawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>,
  bound: number | bigint,
  side: 'least' | 'most',
): string {
  const noun = counted[issue.origin]
  if (noun) {
    const [one, several] = noun
    const much = issue.exact === true ? 'exactly' : `at ${side}`
    if (Number(bound) === 1 && issue.exact !== true && side === 'least' && one === 'character')
      return 'must not be empty'
    return `must have ${much} ${bound} ${Number(bound) === 1 ? one : several}`
  }
  if (issue.inclusive !== false) return `must be a number of at ${side} ${bound}`
  return `must be a number ${side === 'least' ? 'above' : 'below'} ${bound}`
}

const formats: Readonly<Record<string, string>> = {
  url: 'must be an address, such as https://example.com',
  email: 'must be an e-mail address',
  datetime: 'must be a time, such as 2026-01-31T12:00:00Z',
  base64: 'must be base64',
}

function describeFormat(format: string): string {
  return formats[format] ?? 'has another form than expected'
}

function firstMessage(issues: readonly Issue[]): string {
  return issues[0]?.message ?? 'is not allowed'
}

function listOf(values: readonly unknown[]): string {
  return values
    .slice(0, shownMax)
    .map((value) => (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)))
    .join(', ')
}

/** Unknown names come from the caller, and there may be many. */
const shownMax = 20
