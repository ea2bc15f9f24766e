import { isUtf8 } from 'node:buffer'
import type { BodyPiece, BodyPieces } from '../../canonical/body.ts'
import type { JsonDocument, TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer, ShownCharge } from '../../canonical/upstream.ts'
import { toCredits } from '../../core/money.ts'
import type { EncodedRequest } from '../chat/chat-encode.ts'
import { isRecord } from '../chat/chat-media.ts'
import { showMetadata } from '../chat/chat-usage.ts'
import {
  editDocument,
  editPieces,
  hasMember,
  memberBytes,
  parseJsonDocument,
  toBuffer,
} from '../json-document.ts'
import { editList } from '../json-list.ts'
import { lookInto } from '../lean-json.ts'
import { nameOf } from '../member-names.ts'
import { openReasoning } from '../reasoning-envelope.ts'
import { readingOf } from '../translate.ts'
import { parseAnswer, unreadable } from '../upstream-json.ts'
import { readMessage } from './messages-answer.ts'
import type { MessagesQuirks } from './messages-quirks.ts'
import { gatewayMessagesShape } from './messages-schema.ts'
import { emptyMessage, writeMessagesUsage } from './messages-write.ts'

type Wire = Record<string, unknown>

const gatewayMembers = Object.keys(gatewayMessagesShape).filter((name) => name !== 'model')

/** A messages body for a provider of the same format: as it came, with the smallest edit. */
export function passMessagesRequest(
  { document, betas }: TextCall,
  endpoint: Endpoint,
  quirks: MessagesQuirks,
): EncodedRequest {
  const set: Record<string, BodyPiece | BodyPieces> = { model: JSON.stringify(endpoint.upstreamModel) }
  // The format needs a limit, which the contract does not.
  if (!hasMember(document, 'max_tokens')) {
    const { outputTokensMax } = quirks.modelOf(endpoint.upstreamModel)
    set['max_tokens'] = String(endpoint.outputTokensMax ?? outputTokensMax)
  }
  // A null means the default in the contract, and the provider refuses it.
  const nulls = [...document.members.keys()].filter((name) => !hasMember(document, name))
  const messages = withoutForeignThoughts(document)
  if (messages !== null) set['messages'] = messages
  const body = editPieces(document, { set, remove: [...gatewayMembers, ...nulls] })
  return {
    body,
    dropped: messages === null ? [] : [nameOf('thought', { format: 'messages' })],
    ...(betas === undefined ? {} : { headers: { 'anthropic-beta': betas } }),
  }
}

const sealedMark = Buffer.from('"hr1.')

/**
 * The messages without thoughts that this gateway sealed for another provider, which this one would refuse; null when
 * there are none. Messages of nothing else are left out with them, and all others stay as they came.
 */
function withoutForeignThoughts(document: JsonDocument): BodyPieces | null {
  const conversation = lookInto(document, 'messages')
  if (conversation === null || !conversation.bytes.includes(sealedMark)) return null
  const messages = conversation.value()
  if (!Array.isArray(messages) || !messages.some((message) => contentOf(message).some(isForeign))) return null
  const kept = editList(conversation.bytes, (message, index) => {
    const content = contentOf(messages[index])
    if (!content.some(isForeign)) return message
    return content.every(isForeign) ? null : withoutForeign(message, content)
  })
  return conversation.restore(kept.toString('utf8'))
}

function contentOf(message: unknown): readonly unknown[] {
  const content = isRecord(message) ? message['content'] : null
  return Array.isArray(content) ? content : []
}

function withoutForeign(message: Buffer, content: readonly unknown[]): Buffer {
  const document = parseJsonDocument(message)
  const blocks = toBuffer(memberBytes(document, 'content') ?? message)
  const kept = editList(blocks, (block, index) => (isForeign(content[index]) ? null : block))
  return toBuffer(editDocument(document, { set: { content: kept } }))
}

function isForeign(block: unknown): boolean {
  if (!isRecord(block)) return false
  const { type, signature, data } = block
  const bound = type === 'redacted_thinking' ? data : signature
  return typeof bound === 'string' && openReasoning(bound) !== null
}

/** A message of a provider of the same format: as it came, under the gateway's identity and with the charge. */
export function passMessagesAnswer(bytes: Uint8Array, context: AnswerContext): DecodedAnswer {
  const wire = parseAnswer(bytes)
  const answer = readMessage(wire, context)
  const document = wireDocument(bytes, wire)
  return {
    reading: readingOf(answer),
    encode: (charge) => {
      const usage = passUsage(wire['usage'], charge, answer.usage?.serviceTier ?? null)
      const set = { ...shownMembers(wire, context), usage, ...showMetadata(charge) }
      return editPieces(document, { set: toJson(set) })
    },
  }
}

/**
 * A provider's JSON, which was parsed as `wire`, as a document to edit. What clients would not read alike, because a member
 * stands there twice or the bytes are no UTF-8, is written anew.
 */
export function wireDocument(bytes: Uint8Array, wire: Wire): JsonDocument {
  const document =
    (isUtf8(bytes) ? documentOrNull(bytes) : null) ?? documentOrNull(Buffer.from(JSON.stringify(wire)))
  if (document === null) throw unreadable('it has too many members')
  return document
}

function documentOrNull(bytes: Uint8Array): JsonDocument | null {
  try {
    return parseJsonDocument(bytes)
  } catch {
    return null
  }
}

/** Values as the JSON that `editPieces` sets. */
export function toJson(members: Wire): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]))
}

/** What a message says in place of what its provider calls itself, and what the contract requires and it left out. */
export function shownMembers(wire: Wire, context: AnswerContext): Wire {
  const { id, model, provider, ...others } = emptyMessage(context)
  const missing = Object.entries(others).filter(([name]) => wire[name] === undefined)
  return { id, model, provider, ...Object.fromEntries(missing) }
}

/** The provider's own counts where they were charged by, else those that were; with the charge. */
export function passUsage(wire: unknown, charge: ShownCharge, serviceTier: string | null): Wire {
  const charged = writeMessagesUsage(charge, serviceTier)
  if (charge.isEstimated || !isRecord(wire)) return charged
  const { costNanocredits, isByok } = charge
  return {
    ...charged,
    ...wire,
    cost: costNanocredits === null ? null : toCredits(costNanocredits),
    is_byok: isByok,
  }
}
