/** A JSON object as it was sent. */
export type Wire = Readonly<Record<string, unknown>>

/** The object at a member, or an empty one. */
export function objectAt(wire: Wire, name: string): Wire {
  const value = wire[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Wire) : {}
}

/** The objects of a list, or none. */
export function listAt(wire: Wire, name: string): Wire[] {
  const value = wire[name]
  return Array.isArray(value) ? (value as Wire[]) : []
}

/** The text at a member, or an empty one. */
export function textAt(wire: Wire, name: string): string {
  const value = wire[name]
  return typeof value === 'string' ? value : ''
}

/** The number at a member, or 0. */
export function countAt(wire: Wire, name: string): number {
  const value = wire[name]
  return typeof value === 'number' ? value : 0
}

/** The objects of an event stream, without terminators and comments. */
export function objectsOfStream(text: string): Wire[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)) as Wire)
}
