import type { BodyPiece, BodyPieces } from '../../../core/body.ts'
import type { TextCall } from '../../../canonical/call.ts'
import {
  editDocument,
  editList,
  editPieces,
  hasMember,
  type JsonDocument,
  memberValue,
  parseJsonDocument,
} from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import { knownNameOf, type Endpoint } from '../../../canonical/endpoint.ts'
import type { EncodedRequest } from '../halves.ts'
import { isRecord } from '../../../json/values.ts'
import { effortOf } from '../conversation-reading.ts'
import { fieldError } from '../../../core/errors.ts'
import { isOnlyHiding } from '../thoughts/hidden-thoughts.ts'
import { lookInto } from '../../../json/set-aside-texts.ts'
import { toJson } from '../wire-document.ts'
import { openReasoning } from '../thoughts/reasoning-envelope.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { tierToSend } from '../../service-tier.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { isDefaultTier, sealedThoughts, takesSampling } from './write-request.ts'
import type { MemberEdits } from './pass-answer-required.ts'
import { gatewayResponsesShape } from './request-schema.ts'

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
  const model = quirks.modelOf(knownNameOf(endpoint))
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

/**
 * OpenAI's own clients add their parsed values to an answer, and the provider refuses these when they come back. Null
 * when there are none.
 */
function withoutNotes(item: Wire): MemberEdits | null {
  const { content } = item
  const remove = Object.hasOwn(item, 'parsed_arguments') ? ['parsed_arguments'] : []
  if (!Array.isArray(content) || !content.some(isNoted))
    return remove.length === 0 ? null : { set: {}, remove }
  return { set: { content: content.map((part) => (isNoted(part) ? withoutParsed(part) : part)) }, remove }
}

function isNoted(part: unknown): part is Wire {
  return isRecord(part) && Object.hasOwn(part, 'parsed')
}

function withoutParsed({ parsed: _noted, ...part }: Wire): Wire {
  return part
}
