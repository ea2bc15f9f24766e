import { editDocument, editList, editPieces, type JsonDocument, memberBytes } from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import type { AnswerContext, DecodedAnswer, MeterReading, ShownCharge } from '../../../canonical/upstream.ts'
import { toJson, wireDocument } from '../wire-document.ts'
import { isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import { sealReasoning } from '../thoughts/reasoning-envelope.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { readingOf } from '../streams/stream-meter.ts'
import { parseAnswer } from '../../upstream-json.ts'
import { readMessage } from './read-answer.ts'
import type { MessagesQuirks } from './quirks.ts'
import { missingOf, withoutNulls } from './pass-answer-required.ts'
import { emptyMessage, writeMessagesUsage } from './write-answer.ts'
import { sealIn } from './pass-request.ts'

type Wire = Record<string, unknown>

/** The members of an answer's block that change on the way to the caller; null when the block passes unchanged. */
export function editsOf(block: Wire, sealer: string | undefined): Wire | null {
  return (sealer === undefined ? null : sealedMembers(block, sealer)) ?? missingOf(block)
}

/** The sealing member of a thought, marked with the provider that sealed it; null when the thought has no seal. */
export function sealedMembers(wire: Wire, sealer: string): Wire | null {
  const seal = sealIn(wire)
  if (seal === null) return null
  const bound = { signature: null, sealed: null, [seal.name === 'data' ? 'sealed' : 'signature']: seal.text }
  return { [seal.name]: sealReasoning({ id: null, origin: 'messages', sealer, ...bound }) }
}

/** A message of a provider of the same format, with the gateway's identity and the charge; otherwise unchanged. */
export function passMessagesAnswer(
  bytes: Uint8Array,
  context: AnswerContext,
  quirks: MessagesQuirks,
): DecodedAnswer {
  const wire = parseAnswer(bytes)
  const answer = readMessage(wire, context)
  const document = wireDocument(bytes, wire)
  const content = editContent(document, wire, sealerOf(quirks, context.providerSlug))
  return {
    reading: asTold(readingOf(answer)),
    encode: (charge) => {
      const usage = passUsage(wire['usage'], charge, answer.usage?.serviceTier ?? null)
      const set = { ...shownMembers(wire, context), usage, ...showMetadata(charge) }
      return editPieces(document, { set: { ...toJson(set), ...content } })
    },
  }
}

/**
 * The caller sees the provider's own word for the end, even one that the gateway does not know, and pays for the
 * answer.
 */
export function asTold(reading: MeterReading): MeterReading {
  return reading.finishReason === 'error' ? { ...reading, finishReason: 'stop' } : reading
}

/**
 * The content of a message, with the provider's mark on its seals and the members that clients require; empty when
 * nothing changes.
 */
export function editContent(
  document: JsonDocument,
  wire: Wire,
  sealer: string | undefined,
): { content?: Uint8Array } {
  const { content } = wire
  if (!Array.isArray(content)) return {}
  const edits = content.map((block) => (isRecord(block) ? editsOf(block, sealer) : null))
  if (edits.every((edit) => edit === null)) return {}
  const bytes = toBuffer(memberBytes(document, 'content') ?? Buffer.from('[]'))
  const editBlock = (block: Buffer, index: number) => {
    const set = edits[index] ?? null
    if (set === null) return block
    return toBuffer(editDocument(wireDocument(block, content[index] as Wire), { set: toJson(set) }))
  }
  return { content: editList(bytes, editBlock) }
}

/**
 * The members that replace the provider's identity, and required members of the contract that the provider left out.
 */
export function shownMembers(wire: Wire, context: AnswerContext): Wire {
  const { id, model, provider, ...others } = emptyMessage(context)
  const missing = Object.entries(others).filter(([name]) => wire[name] === undefined)
  return { id, model, provider, ...Object.fromEntries(missing) }
}

/** The provider's own counts if they were billed, otherwise the billed counts; with the charge. */
export function passUsage(wire: unknown, charge: ShownCharge, serviceTier: string | null): Wire {
  const charged = writeMessagesUsage(charge, serviceTier)
  if (charge.isEstimated || !isRecord(wire)) return charged
  const { cost: _theirs, ...given } = withoutNulls(wire)
  return { ...charged, ...given, is_byok: charge.isByok }
}
