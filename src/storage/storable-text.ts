const nul = '\0'

/**
 * A text that both databases can store. PostgreSQL refuses the character NUL, which JSON allows: a `session_id` with
 * one would make the call's capture fail for good, and the call would be free. NUL becomes U+FFFD, as does a lone half of
 * a surrogate pair.
 */
export function toStorableText(text: string): string {
  return text.includes(nul) ? text.replaceAll(nul, '\ufffd') : text
}

/** Whether a value is a text that cannot be stored unchanged. */
export function isUnstorable(value: unknown): value is string {
  return typeof value === 'string' && value.includes(nul)
}
