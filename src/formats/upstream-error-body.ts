/** What an error body says, whatever its shape. Upstream text: not for callers as it is. */
export interface ReportedError {
  message: string
  type: string
  code: string
  param: string | null
}

/** An error body as it came; what is not JSON is a message of its own. Never throws. */
export function parseErrorBody(body: Uint8Array): ReportedError {
  const text = new TextDecoder().decode(body).trim()
  try {
    return readShape(JSON.parse(text))
  } catch {
    return { message: text, type: '', code: '', param: null }
  }
}

/** Every shape seen in the wild, in the order that finds the most telling one. */
export function readShape(wire: unknown): ReportedError {
  const body = isObject(Array.isArray(wire) ? wire[0] : wire)
  const error = isObject(body?.['error'])
  const fault = isObject(body?.['fault'])
  const source = error ?? body ?? {}
  return {
    message: firstText([
      error?.['message'],
      body?.['error'],
      body?.['message'],
      body?.['detail'],
      listMessages(body?.['detail']),
      fault?.['faultstring'],
      typeof wire === 'string' ? wire : undefined,
    ]),
    type: firstText([source['type'], source['status']]),
    code: firstText([source['code'], source['error_type'], isObject(fault?.['detail'])?.['errorcode']]),
    param: firstText([source['param']]) || null,
  }
}

function listMessages(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined
  return detail.flatMap((entry) => isObject(entry)?.['msg'] ?? []).join('; ')
}

function firstText(candidates: readonly unknown[]): string {
  for (const candidate of candidates) {
    if (typeof candidate === 'string' && candidate !== '') return candidate
    if (typeof candidate === 'number') return String(candidate)
  }
  return ''
}

function isObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
