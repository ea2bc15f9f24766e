import { invalidRequest, unknownParameter } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'

/** Refuses a value that the named member may not have, by throwing an `ApiError`; returns nothing when it may. */
export type Check = (value: unknown, param: string) => void

function describe(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function wrongType(param: string, expected: string, value: unknown) {
  return invalidRequest(
    `Invalid type for '${param}': expected ${expected}, got ${describe(value)}.`,
    param,
    'invalid_type',
  )
}

/** Any string, of at most `lengthMax` characters when given. */
export function string(lengthMax = Number.POSITIVE_INFINITY): Check {
  return (value, param) => {
    if (typeof value !== 'string') throw wrongType(param, 'a string', value)
    if (value.length <= lengthMax) return
    const message = `Invalid '${param}': at most ${lengthMax} characters are allowed, got ${value.length}.`
    throw invalidRequest(message, param, 'string_above_max_length')
  }
}

function inRange(value: number, param: string, range: { kind: string; min: number; max: number }): void {
  if (value < range.min) {
    const message = `Invalid '${param}': ${value} is below the smallest allowed value, ${range.min}.`
    throw invalidRequest(message, param, `${range.kind}_below_min_value`)
  }
  if (value > range.max) {
    const message = `Invalid '${param}': ${value} is above the largest allowed value, ${range.max}.`
    throw invalidRequest(message, param, `${range.kind}_above_max_value`)
  }
}

/** A number within the bounds, both included. */
export function decimal(min: number, max: number): Check {
  return (value, param) => {
    if (typeof value !== 'number') throw wrongType(param, 'a decimal', value)
    inRange(value, param, { kind: 'decimal', min, max })
  }
}

/** A whole number within the bounds, both included. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  return (value, param) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(param, 'an integer', value)
    inRange(value, param, { kind: 'integer', min, max })
  }
}

export const boolean: Check = (value, param) => {
  if (typeof value !== 'boolean') throw wrongType(param, 'a boolean', value)
}

/** One of the listed strings. */
export function oneOf(...allowed: readonly string[]): Check {
  return (value, param) => {
    if (typeof value !== 'string') throw wrongType(param, `one of ${allowed.join(', ')}`, value)
    if (allowed.includes(value)) return
    const message = `Invalid value: '${value}'. Supported values of '${param}' are ${allowed.join(', ')}.`
    throw invalidRequest(message, param, 'invalid_value')
  }
}

/** A list whose entries all pass, of at most `lengthMax`. */
export function listOf(entry: Check, lengthMax = Number.POSITIVE_INFINITY): Check {
  return (value, param) => {
    if (!Array.isArray(value)) throw wrongType(param, 'an array', value)
    if (value.length > lengthMax) {
      const message = `Invalid '${param}': at most ${lengthMax} entries are allowed, got ${value.length}.`
      throw invalidRequest(message, param, 'array_above_max_length')
    }
    for (const [index, item] of value.entries()) entry(item, `${param}[${index}]`)
  }
}

export const object: Check = (value, param) => {
  if (!isObject(value)) throw wrongType(param, 'an object', value)
}

/** An object with the listed members and no other; null members count as absent. */
export function members(fields: Record<string, Check>, required: readonly string[] = []): Check {
  return (value, param) => {
    if (!isObject(value)) throw wrongType(param, 'an object', value)
    checkMembers(value, { fields, required, strict: true, prefix: `${param}.` })
  }
}

interface MemberRules {
  fields: Record<string, Check>
  required?: readonly string[]
  /** Refuse members that are not listed, as OpenAI does. */
  strict: boolean
  prefix?: string
}

/** Checks the members of an object by their rules. A null member counts as absent. */
export function checkMembers(body: JsonObject, rules: MemberRules): void {
  const prefix = rules.prefix ?? ''
  for (const [name, value] of Object.entries(body)) {
    const check = Object.hasOwn(rules.fields, name) ? rules.fields[name] : undefined
    if (check === undefined) {
      if (rules.strict) throw unknownParameter(prefix + name)
    } else if (value !== null) {
      check(value, prefix + name)
    }
  }
  for (const name of rules.required ?? []) {
    if (body[name] !== undefined && body[name] !== null) continue
    throw invalidRequest(
      `Missing required parameter: '${prefix}${name}'.`,
      prefix + name,
      'missing_required_parameter',
    )
  }
}

/** Passes when one of the checks passes; otherwise the refusal of the last one stands. */
export function either(...checks: readonly [Check, ...Check[]]): Check {
  return (value, param) => {
    let refusal: unknown
    for (const check of checks) {
      try {
        check(value, param)
        return
      } catch (error) {
        refusal = error
      }
    }
    throw refusal
  }
}
