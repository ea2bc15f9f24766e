import type { TextCall } from '../../../canonical/call.ts'
import { editDocument, editList, editPieces, type JsonDocument, memberBytes } from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import type { AnswerContext, DecodedAnswer, ShownCharge } from '../../../canonical/upstream.ts'
import { filledTextOrNull, isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import { toJson, wireDocument } from '../wire-document.ts'
import { sealReasoning } from '../thoughts/reasoning-envelope.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { readingOf } from '../streams/stream-meter.ts'
import { parseAnswer } from '../../upstream-json.ts'
import { answerOf } from './read-answer.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { editsOfItem, isMissing, type MemberEdits } from './pass-answer-required.ts'
import { emptyResponse, writeResponsesUsage } from './write-answer.ts'

type Wire = Record<string, unknown>

/** A response of a provider of the same format, with the gateway's identity and the charge; otherwise unchanged. */
export function passResponsesAnswer(
  bytes: Uint8Array,
  context: AnswerContext,
  quirks: ResponsesQuirks,
  call: TextCall,
): DecodedAnswer {
  const wire = parseAnswer(bytes)
  const answer = answerOf(wire, quirks, context)
  const document = wireDocument(bytes, wire)
  const output = editOutput(document, wire, sealerOf(quirks, context.providerSlug))
  return {
    reading: readingOf(answer),
    encode: (charge) => {
      const usage = passUsage(wire['usage'], charge)
      const ended = { completed_at: wire['completed_at'] ?? context.created, usage, ...showMetadata(charge) }
      const set = toJson({ ...shownMembers(wire, context, call), ...ended })
      return editPieces(document, { set: { ...set, ...output } })
    },
  }
}

/** The members of an answer's item that change on the way to the caller; null when the item passes unchanged. */
export function editsOf(item: Wire, sealer: string | undefined): MemberEdits | null {
  const seal = sealer === undefined ? null : sealedMembers(item, sealer)
  const edits = editsOfItem(item)
  if (seal === null) return edits
  return { set: { ...edits?.set, ...seal }, remove: edits?.remove ?? [] }
}

/**
 * The output of a response, with the provider's mark on its seals and the members that clients require; empty when
 * nothing changes.
 */
export function editOutput(
  document: JsonDocument,
  wire: Wire,
  sealer: string | undefined,
): { output?: Uint8Array } {
  const { output } = wire
  if (!Array.isArray(output)) return {}
  const all = output.map((item) => (isRecord(item) ? editsOf(item, sealer) : null))
  if (all.every((edits) => edits === null)) return {}
  const bytes = toBuffer(memberBytes(document, 'output') ?? Buffer.from('[]'))
  const editItem = (item: Buffer, index: number) => {
    const edits = all[index] ?? null
    if (edits === null) return item
    const { set, remove } = edits
    return toBuffer(editDocument(wireDocument(item, output[index] as Wire), { set: toJson(set), remove }))
  }
  return { output: editList(bytes, editItem) }
}

/** The sealing member of a thought, marked with the provider that sealed it; null when the thought has no seal. */
export function sealedMembers({ type, id, encrypted_content: sealed }: Wire, sealer: string): Wire | null {
  if (type !== 'reasoning' || typeof sealed !== 'string' || sealed === '') return null
  const bound = { id: filledTextOrNull(id), origin: 'responses', sealer, signature: null, sealed } as const
  return { encrypted_content: sealReasoning(bound) }
}

/**
 * The members that replace the provider's identity, and required members of the contract that the provider left out.
 */
export function shownMembers(wire: Wire, context: AnswerContext, call: TextCall): Wire {
  const { id, model, provider, store, status: _begun, ...others } = emptyResponse({ context, call })
  const missing = Object.entries(others).filter(([name]) => isMissing(name, wire[name]))
  return { id, model, provider, store, status: wire['status'] ?? 'completed', ...Object.fromEntries(missing) }
}

/** The provider's own counts if they were billed, otherwise the billed counts; with the charge. */
export function passUsage(wire: unknown, charge: ShownCharge): Wire {
  const charged = writeResponsesUsage(charge)
  if (charge.isEstimated || !isRecord(wire)) return charged
  const given = Object.entries(wire).filter(([name, value]) => value !== null && name !== 'cost')
  return { ...charged, ...Object.fromEntries(given), is_byok: charge.isByok }
}
