import { isRecord } from '../../../json/values.ts'

/** The provider's reason why an answer ended, or null while it goes on; an empty string means nothing. */
export function readNativeReason(choice: Readonly<Record<string, unknown>>): string | null {
  const reason = choice['finish_reason']
  return typeof reason === 'string' && reason !== '' ? reason : null
}

/** The model's own reason: a provider that is a gateway itself sends it beside its own. */
export function shownNativeReason(choice: Readonly<Record<string, unknown>>): string | null {
  const native = choice['native_finish_reason']
  return typeof native === 'string' && native !== '' ? native : readNativeReason(choice)
}

/** Log probabilities with every member that the contract requires of a token; null when the provider sent none. */
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

/**
 * `bytes` stays null when the provider does not send them: the bytes of half a character cannot be derived from its
 * text.
 */
function withBytes(token: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...token, bytes: Array.isArray(token['bytes']) ? token['bytes'] : null }
}

/**
 * Brings a message or delta into the contract's form, in place. Content becomes a string, reasoning goes under
 * `reasoning`, and content parts of reasoning models are taken apart. Left out are objects that hold only empty texts,
 * roles other than the assistant's, and members that must not be null and are.
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
  // Cloudflare sends a JSON answer as the object itself.
  else if (isRecord(content)) message['content'] = JSON.stringify(content)
  if (isRecord(older) && isHollow(older)) delete message['function_call']
  if (isRecord(audio) && isHollow(audio)) delete message['audio']
  for (const name of neverNull) if (message[name] === null) delete message[name]
  if (message['role'] !== undefined && message['role'] !== 'assistant') delete message['role']
  if (Array.isArray(message['annotations']))
    message['annotations'] = message['annotations'].map(completeCitation)
}

/**
 * Members that are present or absent, but never null. Servers that write every field write null here, and clients
 * refuse it.
 */
const neverNull = ['reasoning_details', 'audio', 'images', 'annotations', 'name', 'function_call'] as const

/** Snowflake writes every object of the format, with empty texts in the unused ones. */
function isHollow(object: Readonly<Record<string, unknown>>): boolean {
  for (const name in object)
    if (object[name] !== '' && object[name] !== 0 && object[name] !== null) return false
  return true
}

/** Clients require every member of a citation; several hosts leave some out or write null. */
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

/** The bytes of everything that a model wrote in a message or delta, for estimates. */
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

/** Whether a message or delta calls a tool, in `tool_calls` or in the older `function_call`. */
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
 * Members about the operator's account or a provider's internals, and another gateway's notes about its own routes;
 * callers never see them.
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
