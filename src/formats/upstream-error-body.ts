import { recordOrNull, type WireRecord } from '../json/values.ts'
/** What an error body says, whatever its shape. Upstream text: not for callers as it is. */
export interface ReportedError {
  message: string
  type: string
  code: string
  param: string | null
  /** Google's own word for what went wrong, such as `API_KEY_INVALID`, beside a status that says less. */
  reason: string
  /** When to try again, where the body says so; in milliseconds. */
  retryDelayMs: number | null
}

/** An error body as it came; what is not JSON is a message of its own. Never throws. */
export function parseErrorBody(body: Uint8Array): ReportedError {
  const text = new TextDecoder().decode(body).trim()
  try {
    return readShape(JSON.parse(text))
  } catch {
    return { message: text, type: '', code: '', param: null, reason: '', retryDelayMs: null }
  }
}

/** Of ElevenLabs; the second one is for a voice that the account's plan may not use. */
const voiceCodes: ReadonlySet<string> = new Set(['voice_not_found', 'invalid_uid'])

/** Every shape seen in the wild, in the order that finds the most telling one. */
export function readShape(wire: unknown): ReportedError {
  const body = recordOrNull(Array.isArray(wire) ? wire[0] : wire)
  const error = recordOrNull(body?.['error'])
  const fault = recordOrNull(body?.['fault'])
  const detail = recordOrNull(body?.['detail'])
  const source = error ?? detail ?? body ?? {}
  const code = firstText([
    source['code'],
    source['err_code'],
    source['error_code'],
    source['error_name'],
    detail?.['status'],
    body?.['category'],
    source['error_type'],
    recordOrNull(fault?.['detail'])?.['errorcode'],
  ])
  return {
    message: firstText([
      error?.['message'],
      body?.['error'],
      body?.['message'],
      body?.['err_msg'],
      detail?.['message'],
      body?.['detail'],
      listMessages(body?.['detail']),
      fault?.['faultstring'],
      problemOf(body),
      typeof wire === 'string' ? wire : undefined,
    ]),
    type: firstText([source['type'], source['status']]),
    code,
    param: firstText([source['param'], voiceCodes.has(code) ? 'voice' : undefined]) || null,
    ...readDetails(source['details']),
  }
}

const delayPattern = /^(\d{1,9}(?:\.\d{1,9})?)s$/

/** What Google adds to an error: a list of objects, of which each says one thing. */
function readDetails(details: unknown): Pick<ReportedError, 'reason' | 'retryDelayMs'> {
  const list = Array.isArray(details) ? details.map(recordOrNull) : []
  const [, seconds] = delayPattern.exec(firstText(list.map((detail) => detail?.['retryDelay']))) ?? []
  return {
    reason: firstText(list.map((detail) => detail?.['reason'])),
    retryDelayMs: seconds === undefined ? null : Math.ceil(Number(seconds) * 1000),
  }
}

/** A problem as Rev AI words it: a title, and by the name of each wrong parameter a list of what is wrong. */
function problemOf(body: WireRecord | null): string | undefined {
  const title = body?.['title']
  if (typeof title !== 'string') return undefined
  const wrong = Object.entries(recordOrNull(body?.['parameters']) ?? {}).flatMap(([name, reasons]) =>
    Array.isArray(reasons) ? `${name}: ${reasons.join(' ')}` : [],
  )
  return [title, ...wrong].join('; ')
}

function listMessages(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined
  return detail.flatMap((entry) => recordOrNull(entry)?.['msg'] ?? []).join('; ')
}

function firstText(candidates: readonly unknown[]): string {
  for (const candidate of candidates) {
    if (typeof candidate === 'string' && candidate !== '') return candidate
    if (typeof candidate === 'number') return String(candidate)
  }
  return ''
}
