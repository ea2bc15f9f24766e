/** What clients parse where a model called a tool without a word. */
export const noArguments = '{}'

/** Arguments are a JSON text in the contract; a few hosts give the object itself. */
export function toArguments(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
