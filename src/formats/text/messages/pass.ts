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
import type { AnswerContext, DecodedAnswer, MeterReading, ShownCharge } from '../../../canonical/upstream.ts'
import type { EncodedRequest } from '../halves.ts'
import { specificFields, toJson, wireDocument } from '../wire-document.ts'
import { isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import { fieldError } from '../../../core/errors.ts'
import { lookInto } from '../../../json/set-aside-texts.ts'
import { nameOf } from '../member-names.ts'
import { openReasoning, sealedPrefix, sealReasoning } from '../thoughts/reasoning-envelope.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { readingOf } from '../streams/stream-meter.ts'
import { parseAnswer } from '../../upstream-json.ts'
import { readMessage } from './read-answer.ts'
import { isAnywhere } from './read-conversation.ts'
import type { MessagesModel, MessagesQuirks } from './quirks.ts'
import { beginsWithThought } from './write-request.ts'
import { missingOf, withoutNulls } from './pass-required.ts'
import { gatewayMessagesShape } from './request-schema.ts'
import { emptyMessage, writeMessagesUsage } from './write-answer.ts'

type Wire = Record<string, unknown>

const gatewayMembers = Object.keys(gatewayMessagesShape).filter((name) => name !== 'model')

/** A messages body for a provider of the same format, with the smallest edit. */
export function passMessagesRequest(
  { document, betas }: TextCall,
  endpoint: Endpoint,
  quirks: MessagesQuirks,
): EncodedRequest {
  const set: Record<string, BodyPiece | BodyPieces> = { model: JSON.stringify(endpoint.upstreamModel) }
  // The format requires a limit, the contract does not.
  if (!hasMember(document, 'max_tokens')) {
    const { outputTokensMax } = quirks.modelOf(endpoint.upstreamModel)
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
    dropped.push(...refusedSampling(document, quirks.modelOf(endpoint.upstreamModel)))
  // Another speed costs several times as much, and no endpoint has a price for it.
  if (hasMember(document, 'speed') && memberValue(document, 'speed') !== 'standard') dropped.push('speed')
  const body = editPieces(document, { set, remove: [...gatewayMembers, ...nulls, ...dropped] })
  return {
    body,
    dropped,
    ...(betas === undefined ? {} : { headers: { 'anthropic-beta': betas } }),
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
