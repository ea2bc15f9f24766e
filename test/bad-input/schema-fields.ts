/** A JSON schema as the API description has it. */
export type Schema = Readonly<Record<string, unknown>>

/** One field of a request, with a request around any value of it. */
export interface Field {
  /** As people write it: `messages[].content`. */
  path: string
  schema: Schema
  /** The member's name, null for an item of a list or a member of a map. */
  name: string | null
  /** A request that is valid but for this value. */
  place: (value: unknown) => unknown
  /** The same request without the field. */
  absent: unknown
}

/** A place in a request that a schema describes. */
interface Spot {
  path: string
  /** A valid value of this place. */
  base: unknown
  /** A request that is valid but for the value of this place. */
  place: (value: unknown) => unknown
  depth: number
}

const depthMax = 12

/** Walks schemas; `components` is the description's `components.schemas`, where references point. */
export class SchemaWalker {
  readonly #components: Schema

  constructor(components: Schema) {
    this.#components = components
  }

  /** Every field below a schema, for a valid request of it. */
  fieldsOf(schema: Schema, base: unknown): Field[] {
    return this.#fields(schema, { path: '', base, place: (value) => value, depth: 0 })
  }

  /** The paths alone, found another way, to measure what the fields cover. */
  pathsOf(schema: Schema): string[] {
    return [...new Set(this.#paths(schema, '', 0))]
  }

  #fields(given: Schema, spot: Spot): Field[] {
    if (spot.depth > depthMax) return []
    const schema = this.#resolve(given)
    const deeper = { ...spot, depth: spot.depth + 1 }
    return [
      ...branchesOf(schema).flatMap((branch) => this.#fields(branch, deeper)),
      ...this.#members(schema, deeper),
      ...this.#items(schema, deeper),
      ...this.#values(schema, deeper),
    ]
  }

  #members(schema: Schema, { path, base, place, depth }: Spot): Field[] {
    const properties = Object.entries(asSchema(schema['properties']))
    if (properties.length === 0) return []
    const whole = fits(base, schema) ? base : this.#sampleObject(schema)
    return properties.flatMap(([name, property]) => {
      const inner = asSchema(property)
      const put = (value: unknown) => place({ ...whole, [name]: value })
      const { [name]: current, ...rest } = whole
      const below = path === '' ? name : `${path}.${name}`
      const field = { path: below, schema: this.#resolve(inner), name, place: put, absent: place(rest) }
      return [
        field,
        ...this.#fields(inner, { path: below, base: current ?? this.#sample(inner), place: put, depth }),
      ]
    })
  }

  #items(schema: Schema, { path, base, place, depth }: Spot): Field[] {
    if (schema['items'] === undefined) return []
    const inner = asSchema(schema['items'])
    const put = (value: unknown) => place([value])
    const item = Array.isArray(base) ? base[0] : this.#sample(inner)
    const below = `${path}[]`
    const field = { path: below, schema: this.#resolve(inner), name: null, place: put, absent: place([]) }
    return [field, ...this.#fields(inner, { path: below, base: item, place: put, depth })]
  }

  #values(schema: Schema, { path, place, depth }: Spot): Field[] {
    const inner = asSchema(schema['additionalProperties'])
    if (Object.keys(inner).length === 0) return []
    const put = (value: unknown) => place({ any: value })
    const below = `${path}.*`
    const field = { path: below, schema: this.#resolve(inner), name: null, place: put, absent: place({}) }
    return [field, ...this.#fields(inner, { path: below, base: this.#sample(inner), place: put, depth })]
  }

  #paths(given: Schema, path: string, depth: number): string[] {
    if (depth > depthMax) return []
    const schema = this.#resolve(given)
    const below = (inner: unknown, innerPath: string) => [
      innerPath,
      ...this.#paths(asSchema(inner), innerPath, depth + 1),
    ]
    return Object.entries(schema).flatMap(([key, value]) => {
      if (key === 'properties') {
        return Object.entries(asSchema(value)).flatMap(([name, inner]) =>
          below(inner, path === '' ? name : `${path}.${name}`),
        )
      }
      if (key === 'items') return below(value, `${path}[]`)
      if (key === 'additionalProperties' && Object.keys(asSchema(value)).length > 0)
        return below(value, `${path}.*`)
      if (!Array.isArray(value) || !key.endsWith('Of')) return []
      return value.flatMap((branch) => this.#paths(asSchema(branch), path, depth + 1))
    })
  }

  #resolve(schema: Schema): Schema {
    const reference = schema['$ref']
    if (typeof reference !== 'string') return schema
    return asSchema(this.#components[reference.split('/').at(-1) ?? ''])
  }

  /** The smallest value that fits a schema. */
  #sample(given: Schema): unknown {
    const schema = this.#resolve(given)
    if ('const' in schema) return schema['const']
    if (Array.isArray(schema['enum'])) return schema['enum'][0]
    const [branch] = branchesOf(schema)
    if (branch) return this.#sample(branch)
    switch (schema['type']) {
      case 'object':
        return this.#sampleObject(schema)
      case 'array':
        return Number(schema['minItems'] ?? 0) > 0 ? [this.#sample(asSchema(schema['items']))] : []
      case 'string':
        return 'abc'
      case 'integer':
      case 'number':
        return Math.max(1, Number(schema['minimum'] ?? 1))
      case 'boolean':
        return false
      default:
        return null
    }
  }

  #sampleObject(schema: Schema): Record<string, unknown> {
    const properties = asSchema(schema['properties'])
    return Object.fromEntries(
      requiredOf(schema).map((name) => [name, this.#sample(asSchema(properties[name]))]),
    )
  }
}

/** Whatever it is, as a schema; what is none is empty. */
export function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}

/** Alternatives of a schema; the first is as good a sample as any. */
function branchesOf(schema: Schema): Schema[] {
  return ['anyOf', 'oneOf', 'allOf'].flatMap((key) => {
    const branches = schema[key]
    return Array.isArray(branches) ? branches.map(asSchema) : []
  })
}

function requiredOf(schema: Schema): string[] {
  return Array.isArray(schema['required']) ? schema['required'].map(String) : []
}

/** Whether an object is of this branch: it has what is required, and its discriminating members say so. */
function fits(value: unknown, schema: Schema): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = new Map(Object.entries(value))
  const properties = asSchema(schema['properties'])
  return requiredOf(schema).every((name) => {
    const constant = asSchema(properties[name])['const']
    return members.has(name) && (constant === undefined || members.get(name) === constant)
  })
}
