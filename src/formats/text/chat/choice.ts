import { isRecord } from '../../../json/values.ts'

/** The provider's word for why an answer ended, or null while it goes on; an empty string means nothing. */
export function readNativeReason(choice: Readonly<Record<string, unknown>>): string | null {
  const reason = choice['finish_reason']
  return typeof reason === 'string' && reason !== '' ? reason : null
}

/** The word of the model itself: a provider that is a gateway of its own has it beside its own reason. */
export function shownNativeReason(choice: Readonly<Record<string, unknown>>): string | null {
  const native = choice['native_finish_reason']
  return typeof native === 'string' && native !== '' ? native : readNativeReason(choice)
}

/** Log probabilities with everything that the contract wants of each token; null where the provider gave none. */
export function toLogprobs(wire: unknown): Record<string, unknown> | null {
  if (!isRecord(wire)) return null
  return { ...wire, content: toTokens(wire['content']), refusal: toTokens(wire['refusal']) }
}

function toTokens(tokens: unknown): unknown[] | null {
  if (!Array.isArray(tokens)) return null
  return tokens.filter(isRecord).map((token) => {
    const others = token['top_logprobs']
    return {
      ...withBytes(token),
      top_logprobs: Array.isArray(others) ? others.filter(isRecord).map(withBytes) : [],
    }
  })
}

/** The bytes stay unknown where the provider does not give them: those of half a character are not those of its text. */
function withBytes(token: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...token, bytes: Array.isArray(token['bytes']) ? token['bytes'] : null }
}

/**
 * Brings a message or delta into the contract's form, in place: content as a string, reasoning under `reasoning`,
 * content parts of reasoning models taken apart, objects of nothing but empty texts left out; a role other than the assistant's, and null where nothing may be, left out.
 */
export function normalizeMessage(message: Record<string, unknown>): void {
  if (message['reasoning_content'] !== undefined) {
    if (message['reasoning'] === undefined || message['reasoning'] === null) {
      message['reasoning'] = message['reasoning_content']
    }
    delete message['reasoning_content']
  }
  const { content, function_call: older, audio } = message
  if (Array.isArray(content)) takeApart(message, content)
  // Cloudflare gives an answer in JSON as the object itself.
  else if (isRecord(content)) message['content'] = JSON.stringify(content)
  if (isRecord(older) && isHollow(older)) delete message['function_call']
  if (isRecord(audio) && isHollow(audio)) delete message['audio']
  for (const name of neverNull) if (message[name] === null) delete message[name]
  if (message['role'] !== undefined && message['role'] !== 'assistant') delete message['role']
  if (Array.isArray(message['annotations']))
    message['annotations'] = message['annotations'].map(completeCitation)
}

/** Members that are there or not. Servers that write every field of an object write them as null, and clients refuse that. */
const neverNull = ['reasoning_details', 'audio', 'images', 'annotations', 'name', 'function_call'] as const

/** Snowflake writes every object of the format, with empty texts in those that say nothing. */
function isHollow(object: Readonly<Record<string, unknown>>): boolean {
  for (const name in object)
    if (object[name] !== '' && object[name] !== 0 && object[name] !== null) return false
  return true
}

/** Clients want every member of a citation, some of which several hosts leave out or write as null. */
function completeCitation(annotation: unknown): unknown {
  const citation = isRecord(annotation) ? annotation['url_citation'] : null
  if (!isRecord(annotation) || !isRecord(citation)) return annotation
  const { url, title, start_index: start, end_index: end } = citation
  const complete = { title: title ?? url, start_index: start ?? 0, end_index: end ?? 0 }
  return { ...annotation, url_citation: { ...citation, ...complete } }
}

function takeApart(message: Record<string, unknown>, parts: readonly unknown[]): void {
  let text = ''
  let reasoning = ''
  for (const part of parts) {
    if (typeof part === 'string') text += part
    if (!isRecord(part)) continue
    if (part['type'] === 'thinking') reasoning += textOf(part['thinking'])
    else if (typeof part['text'] === 'string') text += part['text']
    else if (typeof part['refusal'] === 'string') message['refusal'] = part['refusal']
  }
  message['content'] = text
  if (reasoning !== '') message['reasoning'] = reasoning
}

function textOf(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  if (!Array.isArray(thinking)) return ''
  return thinking
    .map((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

/** Bytes of everything a model wrote in a message or delta, for estimates. */
export function outputBytesOf(
  message: Readonly<Record<string, unknown>>,
  bytesOf: (text: string) => number = byteLength,
): number {
  let bytes = 0
  for (const name of ['content', 'reasoning', 'refusal'] as const) {
    const text = message[name]
    if (typeof text === 'string') bytes += bytesOf(text)
  }
  const { audio, function_call: older, tool_calls: calls } = message
  if (isRecord(audio) && typeof audio['transcript'] === 'string') bytes += bytesOf(audio['transcript'])
  if (isRecord(older)) bytes += calledBytesOf(older, bytesOf)
  if (!Array.isArray(calls)) return bytes
  for (const call of calls) {
    if (!isRecord(call)) continue
    const called = call['function'] ?? call['custom']
    if (isRecord(called)) bytes += calledBytesOf(called, bytesOf)
  }
  return bytes
}

function calledBytesOf(called: Readonly<Record<string, unknown>>, bytesOf: (text: string) => number): number {
  let bytes = 0
  for (const text of [called['name'], called['arguments'], called['input']])
    if (typeof text === 'string') bytes += bytesOf(text)
  return bytes
}

/** Whether a message or delta calls a tool, in the newer member or the older one. */
export function hasCalls({
  tool_calls: calls,
  function_call: older,
}: Readonly<Record<string, unknown>>): boolean {
  return (Array.isArray(calls) && calls.length > 0) || isRecord(older)
}

function byteLength(text: string): number {
  return Buffer.byteLength(text)
}

/**
 * Members that tell of the operator's account or of nothing a caller knows, and what another gateway says of its own
 * routes; never shown.
 */
export const upstreamOnlyMembers = [
  'headrace_metadata',
  'openrouter_metadata',
  'user_id',
  'error',
  'x_groq',
  'usage_breakdown',
  'prompt_token_ids',
  'kv_transfer_params',
] as const
