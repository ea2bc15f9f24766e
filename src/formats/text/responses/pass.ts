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

/** The caller's end user is told to the provider too. */
const gatewayMembers = Object.keys(gatewayResponsesShape).filter(
  (name) => name !== 'model' && name !== 'user',
)
/** Of the contract, and not of the format. */
const contractOnly = ['top_k', 'presence_penalty', 'frequency_penalty', 'cache_control'] as const
/** What asks for another kind of answer than the format has. */
const neverSent = ['modalities', 'image_config'] as const
const openAiOnly = [
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
] as const

/** The edits under way, and what of the request the caller is to hear of. */
interface Edits {
  set: Record<string, BodyPiece | BodyPieces>
  /** What is left out, said or unsaid. */
  remove: string[]
  dropped: string[]
  approximated: string[]
}

/** A responses body for a provider of the same format: as it came, with the smallest edit. Nothing is stored for it. */
export function passResponsesRequest(
  { document, userId }: TextCall,
  endpoint: Endpoint,
  quirks: ResponsesQuirks,
): EncodedRequest {
  refuseUnsent(document, quirks)
  const model = quirks.modelOf(endpoint.upstreamModel)
  const edits: Edits = {
    set: { model: JSON.stringify(endpoint.upstreamModel), store: 'false' },
    // A null means the default in the contract, and some hosts refuse it.
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

/** The default tier need not be named. */
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

/** A model that does not think refuses the member, and need not be told not to. */
function leaveReasoning(document: JsonDocument, edits: Edits): void {
  if (!hasMember(document, 'reasoning')) return
  const wish = memberValue(document, 'reasoning')
  const isWished =
    isRecord(wish) && wish['effort'] !== 'none' && wish['enabled'] !== false && !isOnlyHiding(wish)
  const names = isWished ? edits.dropped : edits.remove
  names.push('reasoning')
}

/** The contract's own words for how much to think, and that it is not to be shown, which the gateway sees to. */
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

/** Without them a thought could not be given back to a provider that keeps nothing. */
function askForSeals(document: JsonDocument, { set }: Edits): void {
  const asked = hasMember(document, 'include') ? memberValue(document, 'include') : []
  const include: unknown[] = Array.isArray(asked) ? asked : []
  if (!include.includes(sealedThoughts)) set['include'] = JSON.stringify([...include, sealedThoughts])
}

const thoughtMark = Buffer.from('"reasoning"')
const parsedMark = Buffer.from('"parsed')

/** Of whom seals are taken, and which other thoughts. */
interface Taking {
  quirks: ResponsesQuirks
  sealer: string | undefined
}

/**
 * Leaves out thoughts that this provider cannot take back: those that another has sealed, and those without a seal where
 * it would look for them among what it has stored. Its own seals go back without their mark. What a client has noted of an
 * answer is left out, and all other items stay as they came.
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

/** What becomes of an item: it stays, it is left out, or gets its seal as its provider knows it. */
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

/** A response of a provider of the same format: as it came, under the gateway's identity and with the charge. */
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

/** Members of an item of an answer that its provider did not send so; null where it is shown as it came. */
export function editsOf(item: Wire, sealer: string | undefined): MemberEdits | null {
  const seal = sealer === undefined ? null : sealedMembers(item, sealer)
  const edits = editsOfItem(item)
  if (seal === null) return edits
  return { set: { ...edits?.set, ...seal }, remove: edits?.remove ?? [] }
}

/** The output of a response, its seals marked as those of their provider, and as clients want it; nothing where it stays. */
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

/** The member of a thought that binds it, with the mark of who has sealed it; null where nothing does. */
export function sealedMembers({ type, id, encrypted_content: sealed }: Wire, sealer: string): Wire | null {
  if (type !== 'reasoning' || typeof sealed !== 'string' || sealed === '') return null
  const bound = { id: filledTextOrNull(id), origin: 'responses', sealer, signature: null, sealed } as const
  return { encrypted_content: sealReasoning(bound) }
}

/** What a response says in place of what its provider calls itself, and what the contract requires and it left out. */
export function shownMembers(wire: Wire, context: AnswerContext, call: TextCall): Wire {
  const { id, model, provider, store, status: _begun, ...others } = emptyResponse({ context, call })
  const missing = Object.entries(others).filter(([name]) => isMissing(name, wire[name]))
  return { id, model, provider, store, status: wire['status'] ?? 'completed', ...Object.fromEntries(missing) }
}

/** The provider's own counts where they were charged by, else those that were; with the charge. */
export function passUsage(wire: unknown, charge: ShownCharge): Wire {
  const charged = writeResponsesUsage(charge)
  if (charge.isEstimated || !isRecord(wire)) return charged
  const given = Object.entries(wire).filter(([name, value]) => value !== null && name !== 'cost')
  return { ...charged, ...Object.fromEntries(given), is_byok: charge.isByok }
}
