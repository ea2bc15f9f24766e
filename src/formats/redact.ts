import { upstreamMessageLengthMax } from '../core/limits.ts'

const secrets: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"')>]+/gi,
  /\b(?:sk|pk|rk|gsk|key|api|tok|org|proj|acct|user|req|fw|xai|AIza)[-_][\w*.-]{6,}/gi,
  /\bBearer\s+\S+/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g,
  /\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g,
  /\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|ai|net|org|io|dev|cloud|local|internal|xyz|svc)\b(?::\d+)?[^\s"')]*/gi,
  /\blocalhost(?::\d+)?[^\s"')]*/gi,
  /\S*\*{4,}\S*/g,
  /\b(?=[\w-]*\d)[\w-]{24,}\b/g,
]

/** Upstream text that may be shown: one line, bounded, with addresses, hosts, ids and anything like a key taken out. */
export function redact(text: string): string {
  if (isMarkup(text)) return ''
  let shown = text.slice(0, upstreamMessageLengthMax * 4).replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
  for (const secret of secrets) shown = shown.replace(secret, '[removed]')
  const characters = [...shown.trim()]
  return characters.length <= upstreamMessageLengthMax
    ? characters.join('')
    : `${characters.slice(0, upstreamMessageLengthMax - 1).join('')}…`
}

/** Whether a text is a web page, as firewalls and proxies answer. */
export function isMarkup(text: string): boolean {
  return /<(?:!doctype|html|head|body)\b/i.test(text)
}
