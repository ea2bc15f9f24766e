import type { BodyPiece, BodyPieces } from '../../canonical/body.ts'
import type { JsonDocument, TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer, ShownCharge } from '../../canonical/upstream.ts'
import { toCredits } from '../../core/money.ts'
import type { EncodedRequest } from '../chat/chat-encode.ts'
import { isRecord } from '../chat/chat-media.ts'
import { showMetadata } from '../chat/chat-usage.ts'
import { editPieces, hasMember } from '../json-document.ts'
import { lookInto } from '../lean-json.ts'
import { nameOf } from '../member-names.ts'
import { openReasoning } from '../reasoning-envelope.ts'
import { readingOf } from '../translate.ts'
import { parseAnswer } from '../upstream-json.ts'
import { readMessagesAnswer } from './messages-answer.ts'
import type { MessagesQuirks } from './messages-quirks.ts'
import { gatewayMessagesShape } from './messages-schema.ts'
import { writeUsage } from './messages-write.ts'

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
 * there are none. Messages of nothing else are left out with them.
 */
function withoutForeignThoughts(document: JsonDocument): BodyPieces | null {
  const conversation = lookInto(document, 'messages')
  if (conversation === null || !conversation.bytes.includes(sealedMark)) return null
  const messages = conversation.value()
  if (!Array.isArray(messages)) return null
  const kept = messages
    .map((message: unknown) => withoutForeign(message))
    .filter((message) => message !== null)
  const isChanged =
    kept.some((message, index) => message !== messages[index]) || kept.length < messages.length
  return isChanged ? conversation.restore(JSON.stringify(kept)) : null
}

function withoutForeign(message: unknown): unknown {
  const content = isRecord(message) ? message['content'] : null
  if (!isRecord(message) || !Array.isArray(content) || !content.some(isForeign)) return message
  const kept = content.filter((block) => !isForeign(block))
  return kept.length === 0 ? null : { ...message, content: kept }
}

function isForeign(block: unknown): boolean {
  if (!isRecord(block)) return false
  const { type, signature, data } = block
  const bound = type === 'redacted_thinking' ? data : signature
  return typeof bound === 'string' && openReasoning(bound) !== null
}

/** A message of a provider of the same format: as it came, under the gateway's identity and with the charge. */
export function passMessagesAnswer(bytes: Uint8Array, context: AnswerContext): DecodedAnswer {
  const answer = readMessagesAnswer(bytes, context)
  const wire = parseAnswer(bytes)
  return {
    reading: readingOf(answer),
    encode: (charge) => [
      JSON.stringify({
        container: null,
        stop_details: null,
        stop_sequence: null,
        ...wire,
        ...identityOf(context),
        usage: passUsage(wire['usage'], charge, answer.usage?.serviceTier ?? null),
        ...showMetadata(charge),
      }),
    ],
  }
}

/** What a message says of itself in place of what its provider calls it. */
export function identityOf({ generationId, model, provider }: AnswerContext): Wire {
  return { id: generationId, model, provider }
}

/** The provider's own counts where they were charged by, else those that were; with the charge. */
export function passUsage(wire: unknown, charge: ShownCharge, serviceTier: string | null): Wire {
  const charged = writeUsage(charge, serviceTier)
  if (charge.isEstimated || !isRecord(wire)) return charged
  const { costNanocredits, isByok } = charge
  return {
    ...charged,
    ...wire,
    cost: costNanocredits === null ? null : toCredits(costNanocredits),
    is_byok: isByok,
  }
}
