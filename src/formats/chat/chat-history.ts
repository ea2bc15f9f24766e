import type { JsonDocument } from '../../canonical/call.ts'
import { memberBytes, memberValue, toBuffer } from '../json-document.ts'
import { isRecord } from './chat-media.ts'
import type { ChatQuirks } from './chat-quirks.ts'

const marks = {
  developer: Buffer.from('"developer"'),
  name: Buffer.from('"name"'),
  toolCall: Buffer.from('"tool_call'),
  reasoning: Buffer.from('"reasoning'),
}

/**
 * The conversation as this provider takes it, as JSON text, or null when it may go as it came. A search of the bytes
 * decides first, because most conversations need no edit and parsing them would cost more than the whole request.
 */
export function adaptMessages(document: JsonDocument, quirks: ChatQuirks): string | null {
  const bytes = memberBytes(document, 'messages')
  if (bytes === null || !needsEdit(toBuffer(bytes), quirks)) return null
  const messages = memberValue(document, 'messages')
  if (!Array.isArray(messages)) return null
  return JSON.stringify(
    messages.map((message) => (isRecord(message) ? adaptMessage(message, quirks) : message)),
  )
}

function needsEdit(bytes: Buffer, quirks: ChatQuirks): boolean {
  if (quirks.reasoningHistory !== 'keep' && bytes.includes(marks.reasoning)) return true
  if (!quirks.developerRole && bytes.includes(marks.developer)) return true
  if (!quirks.messageNames && bytes.includes(marks.name)) return true
  return quirks.shortToolCallIds && bytes.includes(marks.toolCall)
}

function adaptMessage(message: Record<string, unknown>, quirks: ChatQuirks): Record<string, unknown> {
  const adapted = { ...message }
  if (!quirks.developerRole && adapted['role'] === 'developer') adapted['role'] = 'system'
  if (!quirks.messageNames) delete adapted['name']
  adaptReasoning(adapted, quirks)
  if (quirks.shortToolCallIds) adaptToolCallIds(adapted)
  return adapted
}

function adaptReasoning(message: Record<string, unknown>, { reasoningHistory }: ChatQuirks): void {
  if (reasoningHistory === 'keep') return
  const reasoning = message['reasoning'] ?? message['reasoning_content']
  delete message['reasoning']
  delete message['reasoning_content']
  delete message['reasoning_details']
  if (reasoningHistory !== 'drop' && typeof reasoning === 'string') message[reasoningHistory] = reasoning
}

function adaptToolCallIds(message: Record<string, unknown>): void {
  const { tool_call_id: answered, tool_calls: calls } = message
  if (typeof answered === 'string') message['tool_call_id'] = toShortId(answered)
  if (!Array.isArray(calls)) return
  message['tool_calls'] = calls.map((call: unknown) =>
    isRecord(call) && typeof call['id'] === 'string' ? { ...call, id: toShortId(call['id']) } : call,
  )
}

const shortIdPattern = /^[a-zA-Z0-9]{9}$/

/**
 * Nine letters or digits for any id, the same for the same id, so that a call and its result still belong together.
 * A hash, because the end and the beginning of foreign ids are often alike.
 */
export function toShortId(id: string): string {
  if (shortIdPattern.test(id)) return id
  return Bun.hash.xxHash64(id).toString(36).padStart(9, '0').slice(-9)
}
