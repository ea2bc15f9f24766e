import { isRecord } from '../../../json/values.ts'
import { type JsonSchema, schemasIn } from './json-schema.ts'

/** Steps of checking an answer against its schema, which a caller's references could make endless: some milliseconds. */
const outputCheckStepsMax = 100_000

/**
 * Keywords of JSON schema (2020-12) that constrain an answer and are not checked here. With some of them a caller's
 * text could keep the check busy for hours; the others are not used for answers. A schema with one of them is refused.
 */
const uncheckedKeywords = [
  'pattern',
  'patternProperties',
  'propertyNames',
  'uniqueItems',
  'contains',
  'additionalItems',
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  '$id',
  'id',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
] as const

/** Keywords among these that only exclude answers: without them a schema accepts more. */
const narrowing: ReadonlySet<string> = new Set([
  'pattern',
  'propertyNames',
  'uniqueItems',
  'contains',
  'dependentRequired',
  'dependentSchemas',
])
/** Inside these keywords the effect reverses: a laxer inner schema excludes answers. */
const turning = ['not', 'oneOf', 'if'] as const

/**
 * The keyword that cannot be enforced; null when there is none. With `isHeldElsewhere`, keywords that the provider can
 * enforce itself do not count.
 */
export function uncheckedKeyword(schema: JsonSchema, isHeldElsewhere = false): string | null {
  const inside: ReadonlySet<Record<string, unknown>> = new Set(schemasIn(schema))
  const mayNarrow =
    isHeldElsewhere && ![...inside].some((each) => turning.some((word) => each[word] !== undefined))
  for (const each of inside) {
    const found = uncheckedKeywords.find(
      (word) => each[word] !== undefined && !(mayNarrow && narrowing.has(word)),
    )
    if (found !== undefined) return found
    // A target that is no schema was not searched for keywords.
    const { $ref: reference } = each
    if (reference !== undefined && !isInside(targetOf(schema, reference), inside)) return '$ref'
  }
  return null
}

function isInside(target: unknown, inside: ReadonlySet<Record<string, unknown>>): boolean {
  return isRecord(target) && inside.has(target)
}

/** The target of a reference within the schema; undefined for any other reference, and for one without a target. */
function targetOf(schema: JsonSchema, reference: unknown): unknown {
  if (reference === '#') return schema
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
  let target: unknown = schema
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const isThere = typeof target === 'object' && target !== null && Object.hasOwn(target, name)
    if (!isThere) return undefined
    target = (target as Record<string, unknown>)[name]
  }
  return target
}

/**
 * Whether a value fits a schema that has only checked keywords. Throws RangeError when the check takes more than a few
 * milliseconds: references can make it endless even for a small schema.
 */
export function fitsSchema(value: unknown, schema: JsonSchema): boolean {
  return new SchemaCheck(schema).fits(value, schema)
}

/** One check, of bounded length: each value and schema that it looks at is a step. */
class SchemaCheck {
  readonly #root: JsonSchema
  #left = outputCheckStepsMax

  constructor(root: JsonSchema) {
    this.#root = root
  }

  fits(value: unknown, schema: unknown): boolean {
    this.#spend(1)
    if (typeof schema === 'boolean') return schema
    if (!isRecord(schema)) return true
    if (schema['$ref'] !== undefined && !this.fits(value, targetOf(this.#root, schema['$ref']))) return false
    return (
      this.#fitsType(value, schema['type']) &&
      this.#fitsValues(value, schema) &&
      this.#fitsKind(value, schema) &&
      this.#fitsSchemas(value, schema)
    )
  }

  #spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new RangeError('the check takes too many steps')
  }

  #fitsType(value: unknown, type: unknown): boolean {
    if (typeof type === 'string') return hasType(value, type)
    if (!Array.isArray(type)) return true
    return type.some((each) => {
      this.#spend(1)
      return typeof each === 'string' && hasType(value, each)
    })
  }

  #fitsValues(value: unknown, schema: JsonSchema): boolean {
    const { enum: values } = schema
    if (Object.hasOwn(schema, 'const') && !this.#isEqual(value, schema['const'])) return false
    return !Array.isArray(values) || values.some((each) => this.#isEqual(value, each))
  }

  #isEqual(left: unknown, right: unknown): boolean {
    this.#spend(1)
    if (Array.isArray(left) && Array.isArray(right))
      return left.length === right.length && left.every((each, index) => this.#isEqual(each, right[index]))
    if (!isRecord(left) || !isRecord(right)) return left === right
    const names = Object.keys(left)
    this.#spend(names.length)
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && this.#isEqual(left[name], right[name]))
    )
  }

  #fitsKind(value: unknown, schema: JsonSchema): boolean {
    if (typeof value === 'number') return fitsNumber(value, schema)
    if (typeof value === 'string') return this.#fitsText(value, schema)
    if (Array.isArray(value)) return this.#fitsItems(value, schema)
    return !isRecord(value) || this.#fitsMembers(value, schema)
  }

  #fitsText(text: string, { minLength, maxLength }: JsonSchema): boolean {
    if (minLength === undefined && maxLength === undefined) return true
    this.#spend(Math.ceil(text.length / 16))
    let length = 0
    for (const _ of text) length += 1
    return isBetween(length, minLength, maxLength)
  }

  #fitsItems(items: readonly unknown[], schema: JsonSchema): boolean {
    const { prefixItems, items: rest, minItems, maxItems } = schema
    if (!isBetween(items.length, minItems, maxItems)) return false
    // Before 2020-12, `items` held this list.
    const listed = [prefixItems, rest].find((each) => Array.isArray(each)) ?? []
    return items.every((item, index) => {
      if (index < listed.length) return this.fits(item, listed[index])
      return rest === undefined || Array.isArray(rest) || this.fits(item, rest)
    })
  }

  #fitsMembers(members: Readonly<Record<string, unknown>>, schema: JsonSchema): boolean {
    const { required, minProperties, maxProperties, additionalProperties } = schema
    const properties = isRecord(schema['properties']) ? schema['properties'] : {}
    const names = Object.keys(members)
    this.#spend(names.length)
    if (!isBetween(names.length, minProperties, maxProperties)) return false
    if (Array.isArray(required)) {
      this.#spend(required.length)
      if (!required.every((name) => typeof name === 'string' && Object.hasOwn(members, name))) return false
    }
    return names.every((name) => {
      if (Object.hasOwn(properties, name)) return this.fits(members[name], properties[name])
      return additionalProperties === undefined || this.fits(members[name], additionalProperties)
    })
  }

  #fitsSchemas(value: unknown, schema: JsonSchema): boolean {
    const { allOf, anyOf, oneOf, not, if: condition } = schema
    const fits = (each: unknown) => this.fits(value, each)
    if (Array.isArray(allOf) && !allOf.every(fits)) return false
    if (Array.isArray(anyOf) && !anyOf.some(fits)) return false
    if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1) return false
    if (not !== undefined && fits(not)) return false
    if (condition === undefined) return true
    const branch = fits(condition) ? schema['then'] : schema['else']
    return branch === undefined || fits(branch)
  }
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function fitsNumber(value: number, schema: JsonSchema): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  return (
    isBetween(value, minimum, maximum) &&
    !(typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) &&
    !(typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) &&
    (typeof multipleOf !== 'number' || isMultiple(value, multipleOf))
  )
}

/** Decimals have no exact binary form, but 0.3 must count as a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
}

function isBetween(value: number, min: unknown, max: unknown): boolean {
  return !(typeof min === 'number' && value < min) && !(typeof max === 'number' && value > max)
}
