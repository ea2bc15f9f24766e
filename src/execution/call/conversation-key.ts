import type { Call, TextCall } from '../../canonical/call.ts'
import { toBuffer } from '../../json/bytes.ts'
import { eachElement, memberBytes, memberValue } from '../../json/document.ts'
import { findMember } from '../../json/scan.ts'
import type { StickyConversation } from '../../routing/sticky.ts'
import { operations } from '../operations.ts'

/** Of a conversation's beginning, so many messages and bytes are looked at. */
const openingMessagesMax = 32
const openingBytesMax = 1_000_000
/** Shorter prompts are cached nowhere (OpenAI, Anthropic and Google begin at 1,024 tokens), so that they may go anywhere. */
const cachedTokensMin = 1_024
const openBracket = 0x5b

/**
 * The conversation a call belongs to, so that its next call finds the provider's prompt cache again; null for none. A call
 * that names none belongs to the one that begins like it, which counts only where there was a choice of endpoints.
 */
export function conversationOf(
  call: Call,
  {
    organizationId,
    model,
    hadChoice,
  }: Pick<StickyConversation, 'organizationId' | 'model'> & { hadChoice: boolean },
): StickyConversation | null {
  const named = call.sessionId ?? promptCacheKey(call)
  const key = named ?? (hadChoice ? conversationKey(call) : null)
  return key === null ? null : { organizationId, model, key }
}

/** What identifies the conversation of a call without a session: the caller's key of the prompt cache, else how it begins. */
export function conversationKey(call: Call): string | null {
  return call.kind === 'text' ? (promptCacheKey(call) ?? openingKey(call)) : null
}

/**
 * The value of the member in which the caller's format has the key of the prompt cache; null where the format has no
 * such member, or the call no value.
 */
function promptCacheKey(call: Call): string | null {
  const name = operations[call.operation].text?.cacheKey ?? null
  if (call.kind !== 'text' || name === null || !call.document.members.has(name)) return null
  const value = memberValue(call.document, name)
  return typeof value === 'string' ? value : null
}

/**
 * A hash of the tools, the system prompt and the messages before the model's first: they stay the same as the conversation
 * goes on, and providers cache prompts from their beginning. Marks of the cache move from call to call and are left out.
 */
function openingKey({ operation, document, demand }: TextCall): string | null {
  const text = operations[operation].text
  if (!text?.opening || text.bulk === null || demand.inputTokens < cachedTokensMin) return null
  let hash = 0n
  const add = (bytes: Uint8Array): void => void (hash = Bun.hash.wyhash(withoutMarks(bytes), hash))
  for (const name of text.opening) add(memberBytes(document, name) ?? new Uint8Array(0))
  const said = toBuffer(memberBytes(document, text.bulk.member) ?? new Uint8Array(0))
  if (said[0] !== openBracket) add(said.subarray(0, openingBytesMax))
  else for (const message of openingOf(said)) add(message)
  return `opening-${hash.toString(36)}`
}

function* openingOf(said: Buffer): Generator<Buffer> {
  let count = 0
  let bytes = 0
  for (const message of eachElement(said)) {
    count += 1
    bytes += message.length
    if (count > openingMessagesMax || bytes > openingBytesMax || isOfModel(message)) return
    yield message
  }
}

/** A message of the model, or another item than a message, which only follows one. */
function isOfModel(message: Buffer): boolean {
  const valueOf = (name: string): string | null => findMember(message, name).value?.toString('latin1') ?? null
  return valueOf('role') === '"assistant"' || (valueOf('type') ?? '"message"') !== '"message"'
}

const marks = /(,\s*)?"cache_control"\s*:\s*\{[^{}]*\}(\s*,)?/g

function withoutMarks(bytes: Uint8Array): Uint8Array | string {
  const buffer = toBuffer(bytes)
  return buffer.includes('"cache_control"')
    ? buffer.toString('latin1').replace(marks, (_, before, after) => (before && after ? ',' : ''))
    : buffer
}
