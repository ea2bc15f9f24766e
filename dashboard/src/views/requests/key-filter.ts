/** A key as people and as the filter name it. */
export interface NamedKey {
  id: string
  name: string
}

/** The value of the filter `key` for what a person wrote: the ids of all keys with that name, else the text itself. */
export function keyFilterOf(text: string, keys: readonly NamedKey[]): string {
  const wanted = text.toLowerCase()
  const ids = keys.filter(({ name }) => name.toLowerCase() === wanted).map(({ id }) => id)
  return ids.length === 0 ? text : [...new Set(ids)].join(',')
}

/** The filter `key` as people read it: names in the place of the ids that are known. */
export function keyFilterWords(value: string, keys: readonly NamedKey[]): string {
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return [...new Set(value.split(',').map((id) => names.get(id) ?? id))].join(', ')
}
