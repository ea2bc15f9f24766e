import { recordOrNull, type WireRecord } from '../json/values.ts'
/** The contents of an error body of any form. It is the provider's text and must not reach callers unchanged. */
export interface ReportedError {
  message: string
  type: string
  code: string
  param: string | null
  /** Google's own reason, such as `API_KEY_INVALID`, which is more exact than the status. */
  reason: string
  /** The wait before a retry, in milliseconds, when the body names one. */
  retryDelayMs: number | null
}

/** Parses an error body; text that is not JSON becomes the message. Never throws. */
export function parseErrorBody(body: Uint8Array): ReportedError {
  const text = new TextDecoder().decode(body).trim()
  try {
    return readShape(JSON.parse(text))
  } catch {
    return { message: text, type: '', code: '', param: null, reason: '', retryDelayMs: null }
  }
}

/** ElevenLabs's codes; the second is for a voice that the account's plan may not use. */
const voiceCodes: ReadonlySet<string> = new Set(['voice_not_found', 'invalid_uid'])

/** Every form seen so far, in the order that finds the most specific one. */
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

/** Google's additions to an error: a list of objects with one fact each. */
function readDetails(details: unknown): Pick<ReportedError, 'reason' | 'retryDelayMs'> {
  const list = Array.isArray(details) ? details.map(recordOrNull) : []
  const [, seconds] = delayPattern.exec(firstText(list.map((detail) => detail?.['retryDelay']))) ?? []
  return {
    reason: firstText(list.map((detail) => detail?.['reason'])),
    retryDelayMs: seconds === undefined ? null : Math.ceil(Number(seconds) * 1000),
  }
}

/** A problem in Rev AI's form: a title, and a list of problems for each wrong parameter. */
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
