import type { BodyPiece, BodyPieces } from '../../../core/body.ts'
import type { TextCall } from '../../../canonical/call.ts'
import { knownNameOf, type Endpoint } from '../../../canonical/endpoint.ts'
import { fieldError } from '../../../core/errors.ts'
import { quoted } from '../../../core/remembered.ts'
import { isOnlyHiding } from '../thoughts/hidden-thoughts.ts'
import { editPieces, hasMember, memberBytes, memberValue } from '../../../json/document.ts'
import { tierToSend } from '../../service-tier.ts'
import { type AdaptedMessages, adaptMessages, adaptMessagesInSteps } from './pass-request-history.ts'
import { isRecord } from '../../../json/values.ts'
import { type ChatModel, type ChatQuirks, hasSwitch } from './quirks.ts'
import type { EncodedRequest } from '../halves.ts'

/** A chat completions body, and the parts of it that are already read. */
export interface ChatBody extends Pick<
  TextCall,
  'document' | 'stream' | 'userId' | 'completed' | 'hasKnownMembers' | 'isPlain'
> {
  demand: { choices: number }
}

/** The edits so far: members to set, members to remove, and the names that the caller should learn of. */
interface Edits {
  set: Record<string, BodyPiece | BodyPieces>
  remove: string[]
  dropped: string[]
  approximated: string[]
}

/**
 * The caller's body with the smallest edit that this provider needs: the provider's model name, and without the members
 * of the gateway and those that the provider refuses. Throws `invalid_request` for a member that must not be left out
 * silently, such as `n` above the provider's limit; `callersName` gives the name of a member in the caller's format.
 */
export function encodeChatRequest(
  call: ChatBody,
  endpoint: Endpoint,
  quirks: ChatQuirks,
  callersName = ownName,
): EncodedRequest {
  const edits = editsOf(call, endpoint, quirks, callersName)
  return edited(call, edits, adaptMessages(call, quirks))
}

/** The same in steps, so that other calls get their turn. */
export function* encodeChatInSteps(
  call: ChatBody,
  endpoint: Endpoint,
  quirks: ChatQuirks,
  callersName = ownName,
): Generator<void, EncodedRequest> {
  const edits = editsOf(call, endpoint, quirks, callersName)
  return edited(call, edits, yield* adaptMessagesInSteps(call, quirks))
}

function ownName(name: string): string {
  return name
}

function editsOf(
  call: ChatBody,
  endpoint: Endpoint,
  quirks: ChatQuirks,
  callersName: (name: string) => string,
): Edits {
  refuseLost(call, quirks, callersName)
  const edits: Edits = {
    set: { model: quoted(endpoint.upstreamModel) },
    remove: [],
    dropped: [],
    approximated: [],
  }
  applyRules(call, quirks, edits)
  const model = quirks.modelOf(knownNameOf(endpoint))
  if (model !== null) applyModel(call, model, edits, callersName)
  if (call.completed) encodeCompleted(call.completed, quirks, edits)
  encodeOutputLimit(call, endpoint.deployment.maxTokensField ?? quirks.maxTokensField, edits)
  encodeReasoning(call, quirks, edits)
  encodeStream(call, quirks, edits)
  encodeValues(call, quirks, edits)
  encodeServiceTier(call, quirks, { edits, endpoint })
  return edits
}

function edited(call: ChatBody, edits: Edits, adapted: AdaptedMessages | null): EncodedRequest {
  if (adapted !== null) {
    edits.set['messages'] = adapted.messages
    edits.dropped.push(...adapted.dropped)
  }
  const { dropped, approximated } = edits
  return { body: editPieces(call.document, edits), dropped, approximated }
}

/** Throws for members that this provider would ignore although they change the answer. */
function refuseLost(
  { document }: ChatBody,
  { refused }: ChatQuirks,
  callersName: (name: string) => string,
): void {
  for (const name of refused) {
    if (!hasMember(document, name) || isDefault(document, name)) continue
    throw fieldError(
      callersName(name),
      'is not heeded by the chosen provider. Leave it out or choose another model.',
    )
  }
}

/** Leaves out or refuses members that this model does not take, although other models of the provider do. */
function applyModel(
  { document }: ChatBody,
  { drops, refuses, takesUnthinking }: ChatModel,
  edits: Edits,
  callersName: (name: string) => string,
): void {
  const taken = isNotToThink(document) ? takesUnthinking : []
  const isRefused = (name: string) => hasMember(document, name) && !taken.includes(name)
  for (const name of refuses.filter(isRefused)) {
    if (!isDefault(document, name)) {
      throw fieldError(
        callersName(name),
        'is refused by the chosen model. Leave it out or choose another model.',
      )
    }
    edits.remove.push(name)
  }
  for (const name of drops.filter(isRefused)) drop(edits, name)
}

function isNotToThink(document: TextCall['document']): boolean {
  const reasoning = hasMember(document, 'reasoning') ? memberValue(document, 'reasoning') : null
  const effort = isRecord(reasoning) ? effortOf(reasoning) : null
  return (effort ?? memberValue(document, 'reasoning_effort')) === 'none'
}

/** Whether the answer would be the same without the member; known only for a few members. */
export function isDefault(document: TextCall['document'], name: string): boolean {
  const value = memberValue(document, name)
  switch (name) {
    case 'tool_choice':
      return value === 'auto' || !hasMember(document, 'tools')
    case 'function_call':
      return value === 'auto' || !hasMember(document, 'functions')
    case 'logprobs':
      return value === false
    case 'top_logprobs':
      return value === 0
    // Hiding thoughts asks nothing of the provider; the gateway itself hides them.
    case 'reasoning':
      return isOnlyHiding(value)
    case 'include_reasoning':
      return value === false
    case 'stop':
      return Array.isArray(value) && value.length === 0
    case 'modalities':
      return Array.isArray(value) && value.every((modality) => modality === 'text')
    default:
      return false
  }
}

function applyRules({ document }: ChatBody, { rules, unknownRule }: ChatQuirks, edits: Edits): void {
  for (const name of document.members.keys()) {
    const rule = rules.get(name) ?? unknownRule
    if (name === 'model') continue
    // In the contract a null always means the default, and several hosts refuse null.
    if (rule === 'remove' || rule === 'refuse' || !hasMember(document, name)) edits.remove.push(name)
    // Leaving out a default value loses nothing.
    else if (rule === 'drop' && isDefault(document, name)) edits.remove.push(name)
    else if (rule === 'drop') drop(edits, name)
    else if (rule !== 'keep') {
      edits.remove.push(name)
      edits.set[rule.rename] = memberBytes(document, name) ?? 'null'
    }
  }
}

function encodeCompleted(
  completed: Readonly<Record<string, string>>,
  { rules }: ChatQuirks,
  edits: Edits,
): void {
  for (const [name, json] of Object.entries(completed)) if (rules.get(name) === 'keep') edits.set[name] = json
}

function drop(edits: Edits, name: string, shown = name): void {
  edits.remove.push(name)
  edits.dropped.push(shown)
}

/**
 * Sends one of the two spellings; the newer one wins when the caller sent both. A server that takes both may obey the
 * older one, so both then get the value that the hold was computed from.
 */
function encodeOutputLimit(
  { document }: ChatBody,
  maxTokensField: ChatQuirks['maxTokensField'],
  edits: Edits,
): void {
  const newer = hasMember(document, 'max_completion_tokens')
  const older = hasMember(document, 'max_tokens')
  if (!newer && !older) return
  if (maxTokensField === 'as_sent' && !(newer && older)) return
  const value = memberBytes(document, newer ? 'max_completion_tokens' : 'max_tokens')
  if (maxTokensField === 'as_sent') {
    if (value !== null) edits.set['max_tokens'] = value
    return
  }
  edits.remove.push('max_tokens', 'max_completion_tokens')
  if (value !== null) edits.set[maxTokensField] = value
}

function encodeReasoning({ document }: ChatBody, quirks: ChatQuirks, edits: Edits): void {
  if (hasSwitch(quirks)) return encodeSwitch(document, quirks, edits)
  if (!hasMember(document, 'reasoning')) return
  if (isDefault(document, 'reasoning')) {
    edits.remove.push('reasoning')
    return
  }
  if (quirks.reasoning === 'as_sent') return
  if (quirks.reasoning === 'drop') {
    drop(edits, 'reasoning')
    return
  }
  const reasoning = memberValue(document, 'reasoning')
  const effort = isRecord(reasoning) ? effortOf(reasoning) : null
  if (effort !== null) leaveOtherEffort(document, effort, edits)
  if (quirks.reasoning === 'object') return
  edits.remove.push('reasoning')
  if (!isRecord(reasoning)) return
  if (effort !== null) edits.set['reasoning_effort'] = JSON.stringify(effort)
  noteLostWishes(reasoning, effort, edits)
}

/** Notes the members of `reasoning` that neither an effort nor a switch expresses. */
function noteLostWishes(
  reasoning: Readonly<Record<string, unknown>>,
  effort: string | null,
  { dropped }: Edits,
): void {
  if (effort === 'none' && isSaid(reasoning['effort']) && reasoning['effort'] !== 'none')
    dropped.push('reasoning.effort')
  for (const name of ['max_tokens', 'summary']) {
    if (isSaid(reasoning[name])) dropped.push(`reasoning.${name}`)
  }
}

/** For a host whose object only switches thinking on or off; the effort goes into its own member. */
function encodeSwitch(document: TextCall['document'], quirks: ChatQuirks, edits: Edits): void {
  const { set, remove, approximated } = edits
  const value = hasMember(document, 'reasoning') ? memberValue(document, 'reasoning') : null
  const reasoning = isRecord(value) ? value : {}
  const own = effortOf(reasoning)
  if (own !== null) leaveOtherEffort(document, own, edits)
  noteLostWishes(reasoning, own, edits)
  const effort = own ?? memberValue(document, 'reasoning_effort')
  remove.push('reasoning', 'reasoning_effort')
  const isOn = effort !== 'none'
  if (!isOn || reasoning['enabled'] === true) {
    if (quirks.reasoning === 'switch') set['reasoning'] = JSON.stringify({ enabled: isOn })
    // The caller's own `thinking` object is more exact, so it stays.
    else if (!hasMember(document, 'thinking'))
      set['thinking'] = JSON.stringify({ type: isOn ? 'enabled' : 'disabled' })
  }
  if (typeof effort !== 'string' || !isOn) return
  const nearest = quirks.nearestEfforts[effort] ?? effort
  if (nearest !== effort) approximated.push(own === null ? 'reasoning_effort' : 'reasoning.effort')
  set['reasoning_effort'] = JSON.stringify(nearest)
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null
}

function effortOf({ enabled, effort }: Readonly<Record<string, unknown>>): string | null {
  if (enabled === false) return 'none'
  return typeof effort === 'string' ? effort : null
}

/** The contract's `reasoning` object wins over the older member: when both set an effort, the older one is left out. */
function leaveOtherEffort(document: TextCall['document'], effort: string, edits: Edits): void {
  if (!hasMember(document, 'reasoning_effort') || memberValue(document, 'reasoning_effort') === effort) return
  if (!edits.dropped.includes('reasoning_effort')) drop(edits, 'reasoning_effort')
}

/** The gateway bills by usage, so it asks for it whatever the caller said. */
function encodeStream({ document, stream }: ChatBody, { streamOptions }: ChatQuirks, edits: Edits): void {
  if (!stream || streamOptions === 'drop') {
    edits.remove.push('stream_options')
    return
  }
  const options = hasMember(document, 'stream_options') ? memberValue(document, 'stream_options') : null
  edits.set['stream_options'] = isRecord(options)
    ? JSON.stringify({ ...options, include_usage: true })
    : '{"include_usage":true}'
}

function encodeValues(call: ChatBody, quirks: ChatQuirks, edits: Edits): void {
  const { document } = call
  if (quirks.choicesMax !== null && call.demand.choices > quirks.choicesMax) {
    throw fieldError(
      'n',
      `must be at most ${quirks.choicesMax} with the chosen provider. Send several requests instead.`,
    )
  }
  if (quirks.toolChoiceRequired === 'any' && memberValue(document, 'tool_choice') === 'required') {
    edits.set['tool_choice'] = '"any"'
  }
  if (quirks.temperatureMin > 0 && memberValue(document, 'temperature') === 0) {
    edits.set['temperature'] = String(quirks.temperatureMin)
  }
  if (call.userId !== null && [...call.userId].length > quirks.userLengthMax) drop(edits, 'user')
}

/** Whether the caller asks for an answer that follows a schema and the host does not know schemas. */
export function isUnknownSchema(
  { document }: Pick<ChatBody, 'document'>,
  { jsonSchema }: ChatQuirks,
): boolean {
  if (jsonSchema || !hasMember(document, 'response_format')) return false
  const format = memberValue(document, 'response_format')
  return isRecord(format) && format['type'] === 'json_schema'
}

function encodeServiceTier(
  { document }: ChatBody,
  { serviceTiers }: ChatQuirks,
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
  if (tier === 'auto' || tier === 'default') edits.remove.push('service_tier')
  else drop(edits, 'service_tier')
}
