const idPattern = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * A tool call's id in the letters that every provider takes: the same for the same id, so that a call and its result
 * still belong together, also in the next request, without anything being kept.
 */
export function toolIdOf(id: string): string {
  return idPattern.test(id) ? id : `call_${Bun.hash.xxHash64(id).toString(36)}`
}
