import type { BodyPieces } from '../../../core/body.ts'
import type { TextCall } from '../../../canonical/call.ts'
import { atOnce } from '../../../core/turns.ts'
import { fieldError } from '../../../core/errors.ts'
import { droppedNamesMax, steppedMessagesMax } from '../../../core/limits/text.ts'
import { type LookedInto, lookInto } from '../../../json/set-aside-texts.ts'
import { sealedPrefix } from '../thoughts/reasoning-envelope.ts'
import { isRecord } from '../../../json/values.ts'
import { hasUnknownMember, type KnownMembers, messageMembers } from './message-members.ts'
import type { ChatQuirks } from './quirks.ts'
import { specificFields } from '../wire-document.ts'

const marks = {
  developer: Buffer.from('"developer"'),
  name: Buffer.from('"name"'),
  arguments: Buffer.from('"arguments"'),
  index: Buffer.from('"index"'),
  toolCall: Buffer.from('"tool_call'),
  reasoning: Buffer.from('"reasoning'),
  sealed: Buffer.from(`"${sealedPrefix}`),
  cacheControl: Buffer.from('"cache_control"'),
  images: Buffer.from('"images"'),
  annotations: Buffer.from('"annotations"'),
  refusal: Buffer.from('"refusal"'),
  specific: Buffer.from(`"${specificFields}"`),
}

/**
 * The conversation as this provider takes it, as JSON text; null when it may pass unchanged. A search of the bytes
 * decides first, because most conversations need no edit and parsing them would cost more than the rest of the request.
 */
export function adaptMessages(call: AdaptedCall, quirks: ChatQuirks): AdaptedMessages | null {
  const conversation = toBeAdapted(call, quirks)
  return conversation === null ? null : atOnce(adapt(conversation, quirks))
}

/** The same in steps, so that other calls get their turn. */
export function* adaptMessagesInSteps(
  call: AdaptedCall,
  quirks: ChatQuirks,
): Generator<void, AdaptedMessages | null> {
  const conversation = toBeAdapted(call, quirks)
  return conversation === null ? null : yield* adapt(conversation, quirks)
}

type AdaptedCall = Pick<TextCall, 'document' | 'hasKnownMembers' | 'isPlain'>

/** The conversation if it needs an edit, otherwise null. */
function toBeAdapted(
  { document, hasKnownMembers, isPlain }: AdaptedCall,
  quirks: ChatQuirks,
): LookedInto | null {
  if (isPlain) return null
  const conversation = lookInto(document, 'messages')
  if (conversation === null) return null
  const { bytes } = conversation
  if (needsEdit(bytes, quirks)) return conversation
  return isStrict(quirks) && !(hasKnownMembers ?? !hasUnknownMember(bytes)) ? conversation : null
}

function* adapt(conversation: LookedInto, quirks: ChatQuirks): Generator<void, AdaptedMessages | null> {
  yield
  const messages = conversation.exactValue()
  if (!Array.isArray(messages)) return null
  yield
  const dropped = new Set<string>()
  if (isStrict(quirks)) refuseImages(messages)
  const adapted: unknown[] = []
  for (const message of messages) {
    if (adapted.length % steppedMessagesMax === steppedMessagesMax - 1) yield
    adapted.push(isRecord(message) ? adaptMessage(message, quirks, dropped) : message)
  }
  yield
  const json = JSON.stringify(adapted)
  yield
  return { messages: conversation.restore(json), dropped }
}

/** A picture that an assistant drew is part of the conversation, and no strict host of this format takes it back. */
function refuseImages(messages: readonly unknown[]): void {
  for (const [index, message] of messages.entries()) {
    const images = isRecord(message) ? (message['images'] ?? []) : []
    if (Array.isArray(images) && images.length === 0) continue
    throw fieldError(
      `messages[${index}].images`,
      'cannot be sent to the chosen provider. Send the images in a user message or choose another model.',
    )
  }
}

/** Messages in a form that the host takes, and the paths of removed members that had a value. */
export interface AdaptedMessages {
  messages: BodyPieces
  dropped: ReadonlySet<string>
}

function needsEdit(bytes: Buffer, quirks: ChatQuirks): boolean {
  if (quirks.reasoningHistory !== 'keep' && bytes.includes(marks.reasoning)) return true
  if (bytes.includes(marks.sealed)) return true
  if (!quirks.developerRole && bytes.includes(marks.developer)) return true
  if (!quirks.messageNames && bytes.includes(marks.name)) return true
  if (isStrict(quirks) ? hasAdditions(bytes, quirks) : bytes.includes(marks.specific)) return true
  return bytes.includes(marks.toolCall) && needsEditOfTools(bytes, quirks)
}

/** Strict hosts refuse unknown members, so members that only the contract has are not sent to them. */
function isStrict({ unknownMembers }: ChatQuirks): boolean {
  return unknownMembers === 'drop'
}

function hasAdditions(bytes: Buffer, { answerMembers }: ChatQuirks): boolean {
  if (bytes.includes(marks.cacheControl) || bytes.includes(marks.images)) return true
  return !answerMembers && (bytes.includes(marks.refusal) || bytes.includes(marks.annotations))
}

/**
 * Every tool call has one `name` and one `arguments`. If there are more names, another object has one, perhaps a tool's
 * message.
 */
function needsEditOfTools(bytes: Buffer, quirks: ChatQuirks): boolean {
  if (quirks.shortToolCallIds || bytes.includes(marks.index)) return true
  return isStrict(quirks) && countOf(marks.name, bytes) > countOf(marks.arguments, bytes)
}

function countOf(mark: Buffer, bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) count += 1
  return count
}

function adaptMessage(
  message: Record<string, unknown>,
  quirks: ChatQuirks,
  dropped: Set<string>,
): Record<string, unknown> {
  const removing = new Removing(dropped)
  const adapted = isStrict(quirks) ? withoutUnknown(message, messageMembers, removing) : { ...message }
  if (!quirks.developerRole && adapted['role'] === 'developer') adapted['role'] = 'system'
  // The name of a tool stands in its call as well, so nothing is lost.
  if (!mayHaveName(adapted['role'], quirks)) removing.remove(adapted, 'name', adapted['role'] === 'tool')
  adaptReasoning(adapted, quirks, removing)
  if (isStrict(quirks)) removeAdditions(adapted, quirks, removing)
  else removeSpecificFields(adapted, 'messages[]', removing)
  adaptToolCalls(adapted, quirks)
  return adapted
}

/** Removes members from messages and notes those that had a value. */
class Removing {
  readonly #dropped: Set<string>

  constructor(dropped: Set<string>) {
    this.#dropped = dropped
  }

  /** Removes a member of a message. `isTold`: the host learns the value in another way, so nothing is noted. */
  remove(message: Record<string, unknown>, name: string, isTold = false): void {
    if (!isTold) this.note(message[name], `messages[].${name}`)
    delete message[name]
  }

  note(value: unknown, path: string): void {
    const isEmpty =
      value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
    if (!isEmpty && this.#dropped.size < droppedNamesMax) this.#dropped.add(path)
  }
}

/** The object, and the objects inside it, with only known members. */
function withoutUnknown(
  wire: Record<string, unknown>,
  { names, inside }: KnownMembers,
  removing: Removing,
  path = 'messages[]',
): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(wire)) {
    const members = inside[name]
    if (!names.has(name)) removing.note(value, `${path}.${name.slice(0, shownNameLengthMax)}`)
    else if (members === undefined) kept[name] = value
    else if (isRecord(value)) kept[name] = withoutUnknown(value, members, removing, `${path}.${name}`)
    else if (!Array.isArray(value)) kept[name] = value
    else {
      kept[name] = value.map((each: unknown) =>
        isRecord(each) ? withoutUnknown(each, members, removing, `${path}.${name}[]`) : each,
      )
    }
  }
  return kept
}

/** The caller chooses the name of an unknown member, so it is cut when shown. */
const shownNameLengthMax = 64

/**
 * Hosts that are not strict take any name. Strict hosts take a name on a tool's message only if their quirks say so.
 */
function mayHaveName(role: unknown, quirks: ChatQuirks): boolean {
  if (role !== 'tool') return quirks.messageNames
  return quirks.toolMessageNames || (quirks.messageNames && !isStrict(quirks))
}

/** Removes members that clients of the contract add, and members of the gateway's own answers that they send back. */
function removeAdditions(
  message: Record<string, unknown>,
  { answerMembers }: ChatQuirks,
  removing: Removing,
): void {
  removing.remove(message, 'cache_control')
  delete message['images']
  if (Array.isArray(message['content']))
    message['content'] = message['content'].map((part: unknown) => withoutCacheControl(part, removing))
  if (answerMembers) return
  const { refusal } = message
  removing.remove(message, 'annotations')
  delete message['refusal']
  if (typeof refusal === 'string') message['content'] ??= refusal
}

/** Members of a message whose objects may have provider-specific fields. */
const specificWithin = ['content', 'tool_calls', 'function'] as const

function removeSpecificFields(wire: Record<string, unknown>, path: string, removing: Removing): void {
  removing.note(wire[specificFields], `${path}.${specificFields}`)
  delete wire[specificFields]
  for (const name of specificWithin) {
    const inner = wire[name]
    const leave = (each: unknown, at: string): unknown => {
      if (!isRecord(each)) return each
      const copy = { ...each }
      removeSpecificFields(copy, at, removing)
      return copy
    }
    if (Array.isArray(inner)) wire[name] = inner.map((each: unknown) => leave(each, `${path}.${name}[]`))
    else if (isRecord(inner)) wire[name] = leave(inner, `${path}.${name}`)
  }
}

function withoutCacheControl(part: unknown, removing: Removing): unknown {
  if (!isRecord(part) || part['cache_control'] === undefined) return part
  const { cache_control: mark, ...rest } = part
  removing.note(mark, 'messages[].content[].cache_control')
  return rest
}

function adaptReasoning(
  message: Record<string, unknown>,
  { reasoningHistory }: ChatQuirks,
  removing: Removing,
): void {
  if (reasoningHistory === 'keep') {
    leaveSealed(message, removing)
    return
  }
  const reasoning = message['reasoning'] ?? message['reasoning_content']
  const isTold = reasoningHistory !== 'drop' && typeof reasoning === 'string'
  // A thought that stands in several members is noted once.
  if (!isTold) removing.note(reasoning ?? message['reasoning_details'], 'messages[].reasoning')
  delete message['reasoning']
  delete message['reasoning_content']
  delete message['reasoning_details']
  if (isTold) message[reasoningHistory] = reasoning
}

/** Removes thoughts that this gateway sealed for another provider; their text stands in `reasoning` as well. */
function leaveSealed(message: Record<string, unknown>, removing: Removing): void {
  const { reasoning_details: details } = message
  if (!Array.isArray(details)) return
  const kept = details.filter((detail) => !isRecord(detail) || !isSealed(detail))
  if (kept.length === details.length) return
  removing.note(details, 'messages[].reasoning')
  message['reasoning_details'] = kept
}

function isSealed({ signature, data }: Record<string, unknown>): boolean {
  return [signature, data].some((text) => typeof text === 'string' && text.startsWith(sealedPrefix))
}

function adaptToolCalls(message: Record<string, unknown>, { shortToolCallIds }: ChatQuirks): void {
  const { tool_call_id: answered, tool_calls: calls } = message
  if (shortToolCallIds && typeof answered === 'string') message['tool_call_id'] = toShortId(answered)
  if (!Array.isArray(calls)) return
  message['tool_calls'] = calls.map((call: unknown) => {
    if (!isRecord(call)) return call
    // The contract's answers number the calls; OpenAI refuses this number in a request.
    const { index: _removed, ...rest } = call
    const { id } = rest
    return shortToolCallIds && typeof id === 'string' ? { ...rest, id: toShortId(id) } : rest
  })
}

const shortIdPattern = /^[a-zA-Z0-9]{9}$/

/**
 * Nine letters or digits for any id, and always the same for the same id, so that a call and its result still match. It
 * is a hash, because ids of other providers often share their beginning or end.
 */
export function toShortId(id: string): string {
  if (shortIdPattern.test(id)) return id
  return Bun.hash.xxHash64(id).toString(36).padStart(9, '0').slice(-9)
}
