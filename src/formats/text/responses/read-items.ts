import type { Annotation } from '../../../canonical/text/conversation.ts'
import type { Finish, PartHead } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { readReportedError } from '../../upstream-errors.ts'
import { unreadable } from '../../upstream-json.ts'
import { flatToolName } from './tool-namespaces.ts'

type Wire = Readonly<Record<string, unknown>>

/** The head of a call; null for an item that is not a call, or does not name its tool yet. */
export function callHeadOf(item: Wire, id: string): PartHead | null {
  const { type, name, namespace, call_id: callId } = item
  if (type !== 'function_call' && type !== 'custom_tool_call') return null
  if (typeof name !== 'string' || name === '') return null
  return {
    type: 'tool_call',
    id: filledTextOrNull(callId) || id,
    name: typeof namespace === 'string' ? flatToolName({ namespace, name }) : name,
    kind: type === 'function_call' ? 'function' : 'custom',
  }
}

/** The head of an item that the provider made: a picture, or an item that only callers of this format can get. */
export function wholeHeadOf(item: Wire): PartHead {
  const { type, result, output_format: format } = item
  if (type !== 'image_generation_call' || typeof result !== 'string' || result === '')
    return { type: 'opaque', format: 'responses', value: item }
  return { type: 'image', mediaType: `image/${filledTextOrNull(format) ?? 'png'}`, base64: result }
}

/** The source of a text: a page, or a file that its provider keeps. */
export function readAnnotation(wire: Wire): Annotation {
  return {
    url: filledTextOrNull(wire['url']),
    title: filledTextOrNull(wire['title']) ?? filledTextOrNull(wire['filename']),
    citedText: null,
    start: tokenCountOrNull(wire['start_index']),
    end: tokenCountOrNull(wire['end_index']),
    extras: { responses: wire },
  }
}

/** The texts of a list of parts, such as the paragraphs of a summary. */
export function textsOf(wire: unknown): string[] {
  return Array.isArray(wire) ? wire.filter(isRecord).map((part) => filledTextOrNull(part['text']) ?? '') : []
}

/**
 * How a response ended. Throws the error of a failed response, and `provider_failed` for one that has not ended. The
 * format has no reason for a tool call, so `sawToolCalls` decides.
 */
export function readEnd(response: Wire, sawToolCalls: boolean, context: AnswerContext): Finish {
  const { error, incomplete_details: details } = response
  const status = filledTextOrNull(response['status']) ?? 'completed'
  if (isRecord(error) || status === 'failed') throw readResponsesError(error, context)
  const told = { stopSequence: null, refusal: null }
  if (status === 'completed') return { reason: sawToolCalls ? 'tool_calls' : 'stop', native: status, ...told }
  if (status !== 'incomplete') throw unreadable(`its status is ${status.slice(0, 40)}`)
  const reason = isRecord(details) ? filledTextOrNull(details['reason']) : null
  return { reason: reason === 'content_filter' ? reason : 'length', native: reason ?? status, ...told }
}

/** Codes of the format's closed list that blame the request. */
const requestCodes = /^(?:invalid_|image_|unsupported_image|empty_image|failed_to_download_image)/

/** The error of a failed response or of an error event. These have no type that says whose fault it is. */
export function readResponsesError(error: unknown, context: AnswerContext): GatewayError {
  if (!isRecord(error)) return readReportedError({ message: filledTextOrNull(error) ?? '' }, context)
  const code = filledTextOrNull(error['code']) ?? ''
  const type = filledTextOrNull(error['type'])
  if (type !== null && type !== 'error') return readReportedError(error, context)
  const shown = code === 'bio_policy' ? 'content_policy_violation' : 'invalid_request_error'
  const isRequest = code === 'bio_policy' || requestCodes.test(code)
  return readReportedError({ ...error, type: isRequest ? shown : 'server_error' }, context)
}
