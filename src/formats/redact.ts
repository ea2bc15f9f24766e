/** Code points of an upstream's own error text that a caller may see. */
const upstreamMessageLengthMax = 400

const secrets: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"')>]+/gi,
  /\b(?:sk|pk|rk|gsk|key|api|tok|org|proj|acct|user|req|fw|xai|hf|r8|AIza)[-_][\w*.-]{6,}/gi,
  /\bBearer\s+\S+/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g,
  /\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g,
  /\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|ai|net|org|io|dev|cloud|local|internal|xyz|svc)\b(?::\d+)?[^\s"')]*/gi,
  /\blocalhost(?::\d+)?[^\s"')]*/gi,
  /\S*\*{4,}\S*/g,
  /\b(?=[\w-]*\d)[\w-]{24,}\b/g,
]

/**
 * A provider's text as callers may see it: one line of bounded length, without addresses, hosts, ids and anything like
 * a key. Names of known models stay, even when they look like one of those.
 */
export function redactForCaller(text: string, names: readonly string[] = []): string {
  if (isMarkup(text)) return ''
  const kept = names
    .filter((name) => name.length >= keptNameLengthMin)
    .toSorted((a, b) => b.length - a.length)
  let shown = text.slice(0, upstreamMessageLengthMax * 4).replace(unshown, ' ')
  for (const [index, name] of kept.entries()) shown = shown.replaceAll(name, stand(index))
  for (const secret of secrets) shown = shown.replace(secret, '[removed]')
  for (const [index, name] of kept.entries()) shown = shown.replaceAll(stand(index), name)
  const characters = [...shown.trim()]
  return characters.length <= upstreamMessageLengthMax
    ? characters.join('')
    : `${characters.slice(0, upstreamMessageLengthMax - 1).join('')}…`
}

/**
 * Control characters, and the private-use characters that stand for kept names during the replacement. Neither means
 * anything in a message.
 */
const unshown = /[\u0000-\u001f\u007f-\u009f\ue000-\uf8ff\s]+/g
/** Shorter names match none of the secret patterns. */
const keptNameLengthMin = 4

function stand(index: number): string {
  return String.fromCharCode(0xe000 + index)
}

/** Whether a text is a web page; firewalls and proxies answer with such pages. */
export function isMarkup(text: string): boolean {
  return /<(?:!doctype|html|head|body)\b/i.test(text)
}
