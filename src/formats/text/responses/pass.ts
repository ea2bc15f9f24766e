import type { BodyPiece, BodyPieces } from '../../../core/body.ts'
import type { TextCall } from '../../../canonical/call.ts'
import {
  editDocument,
  editList,
  editPieces,
  hasMember,
  type JsonDocument,
  memberBytes,
  memberValue,
  parseJsonDocument,
} from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import type { Endpoint } from '../../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer, ShownCharge } from '../../../canonical/upstream.ts'
import type { EncodedRequest } from '../halves.ts'
import { filledTextOrNull, isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import { effortOf } from '../conversation-reading.ts'
import { fieldError } from '../../../core/errors.ts'
import { isOnlyHiding } from '../thoughts/hidden-thoughts.ts'
import { lookInto } from '../../../json/set-aside-texts.ts'
import { toJson, wireDocument } from '../wire-document.ts'
import { openReasoning, sealReasoning } from '../thoughts/reasoning-envelope.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { tierToSend } from '../../service-tier.ts'
import { readingOf } from '../streams/stream-meter.ts'
import { parseAnswer } from '../../upstream-json.ts'
import { answerOf } from './read-answer.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { isDefaultTier, sealedThoughts, takesSampling } from './write-request.ts'
import { editsOfItem, isMissing, type MemberEdits, withoutNotes } from './pass-required.ts'
import { gatewayResponsesShape } from './request-schema.ts'
import { emptyResponse, writeResponsesUsage } from './write-answer.ts'

type Wire = Record<string, unknown>

/** The provider gets the caller's end user too. */
const gatewayMembers = Object.keys(gatewayResponsesShape).filter(
  (name) => name !== 'model' && name !== 'user',
)
/** Members that the contract adds to the format. */
const contractOnly = ['top_k', 'presence_penalty', 'frequency_penalty', 'cache_control'] as const
/** Members that ask for a kind of answer that the format lacks. */
const neverSent = ['modalities', 'image_config'] as const
const openAiOnly = [
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
] as const

/** The edits so far, and the names that the caller should learn of. */
interface Edits {
  set: Record<string, BodyPiece | BodyPieces>
  /** Members to remove, whether or not they are listed. */
  remove: string[]
  dropped: string[]
  approximated: string[]
}

/**
 * A responses body for a provider of the same format, with the smallest edit. The provider is told to store nothing.
 */
export function passResponsesRequest(
  { document, userId }: TextCall,
  endpoint: Endpoint,
  quirks: ResponsesQuirks,
): EncodedRequest {
  refuseUnsent(document, quirks)
  const model = quirks.modelOf(endpoint.upstreamModel)
  const edits: Edits = {
    set: { model: JSON.stringify(endpoint.upstreamModel), store: 'false' },
    // In the contract a null means the default; some hosts refuse null.
    remove: [...document.members.keys()].filter((name) => !hasMember(document, name)),
    dropped: [],
    approximated: [],
  }
  const drop = (names: readonly string[]) =>
    edits.dropped.push(...names.filter((name) => hasMember(document, name)))
  drop(contractOnly)
  if (!quirks.hasOpenAiMembers) drop(openAiOnly)
  if (!takesSampling(model, askedEffort(document))) drop(['temperature', 'top_p'])
  if (userId !== null && [...userId].length > quirks.userLengthMax) drop(['user'])
  editTier(document, quirks, { edits, endpoint })
  if (model.reasons) editReasoning(document, edits)
  else leaveReasoning(document, edits)
  editLimit(document, quirks, edits)
  if (model.reasons && quirks.sealsThoughts) askForSeals(document, edits)
  adaptItems(document, { quirks, sealer: sealerOf(quirks, endpoint.deployment.provider) }, edits)
  const remove = [...gatewayMembers, ...neverSent, ...edits.remove, ...edits.dropped]
  return {
    body: editPieces(document, { set: edits.set, remove }),
    dropped: edits.dropped,
    approximated: edits.approximated,
  }
}

function refuseUnsent(document: JsonDocument, { hasOpenAiMembers }: ResponsesQuirks): void {
  for (const name of hasOpenAiMembers ? neverSent : [...neverSent, 'moderation']) {
    if (!hasMember(document, name)) continue
    const value = memberValue(document, name)
    if (Array.isArray(value) && value.every((modality) => modality === 'text')) continue
    throw fieldError(name, 'cannot be sent to the chosen provider. Leave it out or choose another model.')
  }
}

/** The default tier is left out. */
function editTier(
  document: JsonDocument,
  { serviceTiers }: ResponsesQuirks,
  { edits, endpoint }: { edits: Edits; endpoint: Endpoint },
): void {
  if (!hasMember(document, 'service_tier')) return
  const tier = memberValue(document, 'service_tier')
  const sent = tierToSend(tier, serviceTiers, endpoint)
  if (sent === tier) return
  if (sent !== null) {
    edits.set['service_tier'] = JSON.stringify(sent)
    return
  }
  const names = isDefaultTier(tier) ? edits.remove : edits.dropped
  names.push('service_tier')
}

function askedEffort(document: JsonDocument): unknown {
  const wish = hasMember(document, 'reasoning') ? memberValue(document, 'reasoning') : null
  if (!isRecord(wish)) return null
  return wish['enabled'] === false ? 'none' : wish['effort']
}

/**
 * A model that does not think refuses `reasoning`, so a request to think is noted as lost, and any other value is
 * removed silently.
 */
function leaveReasoning(document: JsonDocument, edits: Edits): void {
  if (!hasMember(document, 'reasoning')) return
  const wish = memberValue(document, 'reasoning')
  const isWished =
    isRecord(wish) && wish['effort'] !== 'none' && wish['enabled'] !== false && !isOnlyHiding(wish)
  const names = isWished ? edits.dropped : edits.remove
  names.push('reasoning')
}

/**
 * Replaces the contract's own options in `reasoning`: `enabled`, `max_tokens`, and `exclude`, which the gateway itself
 * honours.
 */
function editReasoning(document: JsonDocument, { set, remove, approximated }: Edits): void {
  if (!hasMember(document, 'reasoning')) return
  const wish = memberValue(document, 'reasoning')
  if (!isRecord(wish) || ['enabled', 'max_tokens', 'exclude'].every((name) => wish[name] === undefined))
    return
  if (isOnlyHiding(wish)) {
    remove.push('reasoning')
    return
  }
  const { enabled, max_tokens: budget, exclude: _hides, ...rest } = wish
  const effort = enabled === false ? 'none' : (rest['effort'] ?? (isNumber(budget) ? effortOf(budget) : null))
  if (isNumber(budget)) approximated.push('reasoning.max_tokens')
  set['reasoning'] = JSON.stringify({ ...rest, ...(effort === null ? {} : { effort }) })
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function editLimit(document: JsonDocument, { outputTokensMin }: ResponsesQuirks, edits: Edits): void {
  if (!hasMember(document, 'max_output_tokens')) return
  if (Number(memberValue(document, 'max_output_tokens')) >= outputTokensMin) return
  edits.set['max_output_tokens'] = String(outputTokensMin)
  edits.approximated.push('max_output_tokens')
}

/** Without seals, thoughts could not go back to a provider that stores nothing. */
function askForSeals(document: JsonDocument, { set }: Edits): void {
  const asked = hasMember(document, 'include') ? memberValue(document, 'include') : []
  const include: unknown[] = Array.isArray(asked) ? asked : []
  if (!include.includes(sealedThoughts)) set['include'] = JSON.stringify([...include, sealedThoughts])
}

const thoughtMark = Buffer.from('"reasoning"')
const parsedMark = Buffer.from('"parsed')

/** The provider, and the mark of its seals. */
interface Taking {
  quirks: ResponsesQuirks
  sealer: string | undefined
}

/**
 * Leaves out thoughts that this provider cannot take back: those that another provider sealed, and those without a seal
 * that it would look for in its store. Its own seals lose their mark. Notes of clients are removed; all other items
 * stay unchanged.
 */
function adaptItems(document: JsonDocument, taking: Taking, { set, dropped }: Edits): void {
  const looked = lookInto(document, 'input')
  if (looked === null || ![thoughtMark, parsedMark].some((mark) => looked.bytes.includes(mark))) return
  const items = looked.value()
  if (!Array.isArray(items)) return
  const fates = items.map((item) => fateOf(item, taking))
  if (fates.every((fate) => fate === 'kept')) return
  const kept = editList(looked.bytes, (item, index) => {
    const fate = fates[index] ?? 'kept'
    if (fate === 'kept') return item
    if (fate === 'lost') return null
    return toBuffer(editDocument(parseJsonDocument(item), { set: toJson(fate.set), remove: fate.remove }))
  })
  set['input'] = looked.restore(kept.toString('utf8'))
  if (fates.includes('lost')) dropped.push('input[].reasoning')
}

/** What happens to an item: it stays, is left out, or gets its seal in the provider's form. */
function fateOf(item: unknown, { quirks, sealer }: Taking): 'kept' | 'lost' | MemberEdits {
  if (!isRecord(item)) return 'kept'
  if (item['type'] !== 'reasoning') return withoutNotes(item) ?? 'kept'
  const sealed = item['encrypted_content']
  const { sealsThoughts, takesOpenThoughts } = quirks
  if (typeof sealed !== 'string' || sealed === '')
    return takesOpenThoughts || !sealsThoughts ? 'kept' : 'lost'
  const opened = openReasoning(sealed)
  if (opened === null) return sealer === undefined ? 'kept' : 'lost'
  if (opened.origin !== 'responses' || opened.sealer !== sealer || opened.sealed === null) return 'lost'
  return { set: { encrypted_content: opened.sealed }, remove: [] }
}

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
