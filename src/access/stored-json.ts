import { GatewayError } from '../core/errors.ts'

/**
 * An object from a column or a request. `source` is its name in messages, such as `policy`. Throws `invalid_request`
 * when the value is not an object, and for the first unknown member.
 */
export function parseObject(
  value: unknown,
  source: string,
  known: readonly string[],
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError('invalid_request', `${source} must be an object.`, { param: source })
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue
    const param = `${source}.${name.slice(0, 64)}`
    throw new GatewayError('invalid_request', `${param} is not known; ${source} has ${known.join(', ')}.`, {
      param,
    })
  }
  return value as Record<string, unknown>
}

/** Parses a stored column. A column that the gateway wrote and cannot read is a defect, never "no rules". */
export function parseColumn<T>(text: string, column: string, parse: (value: unknown) => T): T {
  try {
    return parse(JSON.parse(text))
  } catch (error) {
    throw new GatewayError('internal', 'Internal server error.', {
      cause: new Error(`${column} cannot be read`, { cause: error }),
    })
  }
}
