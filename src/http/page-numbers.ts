/** A query with its `offset` and `limit` as numbers where they are written as such, for a schema to check. */
export function withPageNumbers(query: URLSearchParams): Record<string, unknown> {
  const given: Record<string, unknown> = Object.fromEntries(query)
  for (const name of ['offset', 'limit']) {
    const text = query.get(name)
    if (text !== null && /^\d{1,15}$/.test(text)) given[name] = Number(text)
  }
  return given
}
