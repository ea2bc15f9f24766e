const nul = '\0'

/**
 * A text as both databases keep it. PostgreSQL refuses the character NUL, which JSON may carry: a caller's `session_id`
 * with one would make its capture fail for good, and the call free. It becomes U+FFFD, as half a surrogate pair does.
 */
export function toStorableText(text: string): string {
  return text.includes(nul) ? text.replaceAll(nul, '\ufffd') : text
}

/** Whether a value is a text that cannot be kept as it is. */
export function isUnstorable(value: unknown): value is string {
  return typeof value === 'string' && value.includes(nul)
}
