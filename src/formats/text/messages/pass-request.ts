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
import { knownNameOf, type Endpoint } from '../../../canonical/endpoint.ts'
import type { EncodedRequest } from '../halves.ts'
import { specificFields, toJson } from '../wire-document.ts'
import { isRecord } from '../../../json/values.ts'
import { fieldError } from '../../../core/errors.ts'
import { lookInto } from '../../../json/set-aside-texts.ts'
import { nameOf } from '../member-names.ts'
import { openReasoning, sealedPrefix } from '../thoughts/reasoning-envelope.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { isAnywhere } from './read-conversation.ts'
import type { MessagesModel, MessagesQuirks } from './quirks.ts'
import { cloudBody } from './cloud-body.ts'
import { beginsWithThought } from './write-request.ts'
import { gatewayMessagesShape } from './request-schema.ts'

type Wire = Record<string, unknown>

const gatewayMembers = Object.keys(gatewayMessagesShape).filter((name) => name !== 'model')

/** A messages body for a provider of the same format, with the smallest edit. */
export function passMessagesRequest(
  { document, betas }: TextCall,
  endpoint: Endpoint,
  quirks: MessagesQuirks,
): EncodedRequest {
  const { inBody } = quirks
  const set: Record<string, BodyPiece | BodyPieces> =
    inBody === null
      ? { model: JSON.stringify(endpoint.upstreamModel) }
      : { anthropic_version: JSON.stringify(inBody.version) }
  // The format requires a limit, the contract does not.
  if (!hasMember(document, 'max_tokens')) {
    const { outputTokensMax } = quirks.modelOf(knownNameOf(endpoint))
    set['max_tokens'] = String(endpoint.outputTokensMax ?? outputTokensMax)
  }
  refuseThread(document)
  refuseGeography(document, quirks)
  // In the contract a null means the default; the provider refuses null.
  const nulls = [...document.members.keys()].filter((name) => !hasMember(document, name))
  const passed = passThoughts(document, {
    sealer: sealerOf(quirks, endpoint.deployment.provider),
    signsThoughts: quirks.signsThoughts,
    asksBudget: quirks.signsThoughts && isBudgeted(document),
  })
  if (passed?.messages) set['messages'] = passed.messages
  const dropped = passed?.hasForeign === true ? [nameOf('thought', { format: 'messages' })] : []
  if (passed?.hasNotes === true) dropped.push(`messages[].content[].${specificFields}`)
  if (passed?.isInterrupted === true) dropped.push('thinking')
  if (samplingMembers.some((name) => hasMember(document, name)))
    dropped.push(...refusedSampling(document, quirks.modelOf(knownNameOf(endpoint))))
  // Another speed costs several times as much, and no endpoint has a price for it.
  if (hasMember(document, 'speed') && memberValue(document, 'speed') !== 'standard') dropped.push('speed')
  const remove = [...gatewayMembers, ...nulls, ...dropped]
  if (inBody === null)
    return {
      body: editPieces(document, { set, remove }),
      dropped,
      ...(betas === undefined ? {} : { headers: { 'anthropic-beta': betas } }),
    }
  const cloud = cloudBody(document, inBody, { betas, messages: passed?.messages ?? null })
  const hasBetas = cloud.betas.length > 0
  if (inBody.hasBetas && hasBetas) set['anthropic_beta'] = JSON.stringify(cloud.betas)
  const inPath = ['model', ...(inBody.hasStream ? [] : ['stream'])]
  return {
    body: editPieces(document, {
      set: { ...set, ...cloud.set },
      remove: [...remove, ...cloud.remove, ...inPath],
    }),
    dropped: [...dropped, ...cloud.dropped],
    ...(hasBetas && !inBody.hasBetas ? { headers: { 'anthropic-beta': cloud.betas.join(',') } } : {}),
  }
}

/** A provider keeps a thread under the ids of its own answers, and callers never see these ids. */
function refuseThread(document: JsonDocument): void {
  for (const name of ['thread', 'previous_message_id']) {
    if (!hasMember(document, name)) continue
    throw fieldError(name, 'is not served: nothing is stored. Send the whole conversation as "messages".')
  }
}

/** Only the maker of the format lets callers choose where a model runs. */
function refuseGeography(document: JsonDocument, { isMaker }: MessagesQuirks): void {
  const name = 'inference_geo'
  if (isMaker || !hasMember(document, name) || isAnywhere(name, memberValue(document, name))) return
  throw fieldError(name, 'is not heeded by the chosen provider. Leave it out or choose another model.')
}

const samplingMembers = ['temperature', 'top_p', 'top_k'] as const

/** The sampling members that the model refuses. They are left out, as for callers of other formats. */
function refusedSampling(document: JsonDocument, { sampling }: MessagesModel): readonly string[] {
  const given = samplingMembers.filter((name) => hasMember(document, name))
  if (sampling === 'none') return given
  const isBoth = given.includes('temperature') && given.includes('top_p')
  return sampling === 'one_of' && isBoth ? ['top_p'] : []
}

const thoughtMark = Buffer.from('thinking"')

const sealedMark = Buffer.from(`"${sealedPrefix}`)

const signatureMark = Buffer.from('"signature"')

const callMark = Buffer.from('"tool_use"')

const citationsMark = Buffer.from('"citations"')

const notesMark = Buffer.from(`"${specificFields}"`)

const isEmptyValue = /^\s*:\s*""/

/**
 * The provider's name, and whether the call sets a thinking budget, for which it requires its own signed thoughts
 * before it.
 */
interface Passage {
  sealer: string | undefined
  signsThoughts: boolean
  asksBudget: boolean
}

/**
 * The messages without thoughts that this provider did not seal and would refuse. The provider's own seals lose their
 * mark. Null when nothing changes. A message that held only such thoughts is left out; all others stay unchanged.
 */
function passThoughts(document: JsonDocument, passage: Passage): PassedThoughts | null {
  const conversation = lookInto(document, 'messages')
  if (conversation === null || !needsReading(conversation.bytes, passage)) return null
  const messages = conversation.value()
  if (!Array.isArray(messages)) return null
  const fates = messages.map((message) => contentOf(message).map((block) => fateOf(block, passage)))
  const found = new Set(fates.flat())
  const left = messages.map((message, index) => withoutForeign(message, fates[index] ?? []))
  const isInterrupted = passage.asksBudget && !beginsWithThought(left.filter((message) => message !== null))
  const hasForeign = found.has('foreign')
  const others = { hasForeign, hasNotes: found.has('noted'), isInterrupted }
  if (found.size === 0 || (found.size === 1 && found.has('kept'))) return { messages: null, ...others }
  const kept = editList(conversation.bytes, (message, index) => {
    const fate = fates[index] ?? []
    if (fate.every((each) => each === 'kept')) return message
    return fate.every((each) => each === 'foreign') ? null : passMessage(message, fate, messages[index])
  })
  return { messages: conversation.restore(kept.toString('utf8')), ...others }
}

/** Whether the messages may need a change: most are never parsed. */
function needsReading(bytes: Buffer, { sealer, signsThoughts, asksBudget }: Passage): boolean {
  // The maker of the format accepts every seal without a mark.
  if (bytes.includes(sealer === undefined ? sealedMark : thoughtMark)) return true
  if (bytes.includes(citationsMark) || bytes.includes(notesMark)) return true
  return (asksBudget && bytes.includes(callMark)) || (signsThoughts && hasUnsigned(bytes))
}

function hasUnsigned(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(signatureMark); at >= 0; at = bytes.indexOf(signatureMark, at + 1)) {
    const end = at + signatureMark.length
    if (isEmptyValue.test(bytes.toString('latin1', end, end + 16))) return true
  }
  return false
}

/** Null for a message that has no other block. */
function withoutForeign(message: unknown, fates: readonly Fate[]): unknown {
  if (!isRecord(message) || !fates.includes('foreign')) return message
  const content = contentOf(message).filter((_, index) => fates[index] !== 'foreign')
  return content.length === 0 ? null : { ...message, content }
}

/** Whether the call sets a budget for thinking. */
function isBudgeted(document: JsonDocument): boolean {
  const thinking = hasMember(document, 'thinking') ? memberValue(document, 'thinking') : null
  return isRecord(thinking) && thinking['type'] === 'enabled'
}

interface PassedThoughts {
  /** Null when they pass unchanged. */
  messages: BodyPieces | null
  hasForeign: boolean
  /** Whether blocks had notes of LiteLLM. */
  hasNotes: boolean
  /** Whether the model cannot continue with thoughts, because the last assistant message lacks its own thought. */
  isInterrupted: boolean
}

/**
 * What happens to a block: it stays, or it is left out, or it loses the envelope of its seal, an empty list of
 * citations, or LiteLLM's notes.
 */
type Fate = 'kept' | 'foreign' | 'sealed' | 'uncited' | 'noted'

function contentOf(message: unknown): readonly unknown[] {
  const content = isRecord(message) ? message['content'] : null
  return Array.isArray(content) ? content : []
}

function passMessage(message: Buffer, fates: readonly Fate[], wire: unknown): Buffer {
  const content = contentOf(wire)
  const document = parseJsonDocument(message)
  const blocks = toBuffer(memberBytes(document, 'content') ?? message)
  const kept = editList(blocks, (block, index) => {
    if (fates[index] === 'kept') return block
    if (fates[index] === 'uncited' || fates[index] === 'noted') return withoutExtras(block, content[index])
    return fates[index] === 'foreign' ? null : openBlock(block, content[index])
  })
  return toBuffer(editDocument(document, { set: { content: kept } }))
}

function fateOf(block: unknown, { sealer, signsThoughts }: Passage): Fate {
  const seal = isRecord(block) ? sealIn(block) : null
  if (seal === null && isRecord(block) && block[specificFields] !== undefined) return 'noted'
  if (hasEmptyCitations(block)) return 'uncited'
  if (seal === null) return signsThoughts && isUnsigned(block) ? 'foreign' : 'kept'
  const opened = openReasoning(seal.text)
  if (opened === null) return sealer === undefined ? 'kept' : 'foreign'
  return opened.origin === 'messages' && opened.sealer === sealer ? 'sealed' : 'foreign'
}

/** Callers see a text without citations with an empty list. */
function hasEmptyCitations(block: unknown): boolean {
  return isRecord(block) && Array.isArray(block['citations']) && block['citations'].length === 0
}

/** Callers see the thoughts of hosts that do not sign them with an empty signature. */
function isUnsigned(block: unknown): boolean {
  return isRecord(block) && block['type'] === 'thinking' && block['signature'] === ''
}

/** The member that seals a thought, and its text; null for other blocks and for a thought without a seal. */
export function sealIn({ type, signature, data }: Wire): { name: 'signature' | 'data'; text: string } | null {
  const name = type === 'redacted_thinking' ? 'data' : 'signature'
  const text = name === 'data' ? data : signature
  const isThought = type === 'thinking' || type === 'redacted_thinking'
  return isThought && typeof text === 'string' && text !== '' ? { name, text } : null
}

function withoutExtras(block: Buffer, wire: unknown): Buffer {
  const remove = hasEmptyCitations(wire) ? ['citations', specificFields] : [specificFields]
  return toBuffer(editDocument(parseJsonDocument(block), { remove }))
}

function openBlock(block: Buffer, wire: unknown): Buffer {
  const seal = isRecord(wire) ? sealIn(wire) : null
  const opened = seal === null ? null : openReasoning(seal.text)
  if (seal === null || opened === null) return block
  const set = toJson({ [seal.name]: opened.sealed ?? opened.signature })
  return toBuffer(editDocument(parseJsonDocument(block), { set }))
}
