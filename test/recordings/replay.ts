import { joinPieces, type BodyPiece } from '../../src/core/body.ts'
import type { TextCall } from '../../src/canonical/call.ts'
import type { TextFormat } from '../../src/canonical/operation.ts'
import type { AnswerContext, ShownCharge } from '../../src/canonical/upstream.ts'
import { noUsage, type Usage } from '../../src/canonical/usage.ts'
import { decodeChatRequest } from '../../src/formats/text/chat/read-request.ts'
import { selectCodec } from '../../src/formats/text/formats.ts'
import { decodeMessagesRequest } from '../../src/formats/text/messages/read-request.ts'
import { decodeResponsesRequest } from '../../src/formats/text/responses/read-request.ts'
import { callers as callerHalves } from '../../src/formats/text/formats.ts'
import type { TextCodec, TextQuirks } from '../../src/formats/text/codec.ts'
import { translate } from '../../src/formats/text/translate.ts'
import { upstreams } from '../../src/formats/text/formats.ts'
import { presetOf } from '../../src/providers/deployments.ts'
import { callers, expectedStop, type Caller } from './expected.ts'
import type { RecordedReply } from './recorded.ts'
import { toldByGemini } from './told-by-gemini.ts'
import {
  argumentsOf,
  blocksOfStream,
  textOfResponsesDeltas,
  toldByChat,
  toldByMessages,
  toldByResponses,
  type Told,
  type ToldCall,
} from './told.ts'
import { listAt, objectsOfStream, type Wire } from './wire.ts'

/** What a caller is shown of a reply, and what the meter read of it. */
export interface Shown {
  /** Everything that was sent to the caller. */
  text: string
  usage: Usage | null
}

const context: AnswerContext = {
  generationId: 'gen-1-replayed',
  model: 'author/model',
  provider: 'Recorded',
  providerSlug: 'recorded',
  created: 1_700_000_000,
  hideSecrets: (text) => text,
  modelNames: [],
}

const calls: Readonly<Record<Caller, TextCall>> = {
  chat: decode(decodeChatRequest, { messages: [{ role: 'user', content: 'x' }] }),
  responses: decode(decodeResponsesRequest, { input: 'x' }),
  messages: decode(decodeMessagesRequest, { messages: [{ role: 'user', content: 'x' }], max_tokens: 9 }),
}

function decode(
  read: (bytes: Uint8Array, context: { sessionIdHeader: null }) => TextCall,
  body: Record<string, unknown>,
): TextCall {
  return read(Buffer.from(JSON.stringify({ model: 'author/model', ...body })), { sessionIdHeader: null })
}

function costOfUsage(usage: Usage | null): ShownCharge {
  return {
    costNanocredits: 30n,
    promptNanocredits: 10n,
    completionNanocredits: 20n,
    isByok: false,
    usage: usage ?? noUsage,
    isEstimated: usage === null,
    metadata: null,
    metadataAlias: false,
  }
}

function quirksOf(reply: RecordedReply<TextFormat>): TextQuirks {
  const { preset, name } = reply
  const quirks = presetOf(preset).adapters.language?.find(({ format }) => format === reply.format)?.quirks
  if (!quirks) throw new Error(`${name}: the preset ${preset} answers no text`)
  return quirks
}

/** What a caller of this format is shown of a reply that comes in pieces, cut at these offsets. Throws what broke it. */
export function showReply(
  reply: RecordedReply<TextFormat>,
  caller: Caller,
  cuts: readonly number[] = [],
  codec: TextCodec = selectCodec(caller, reply.format),
): Shown {
  if (!reply.isStream) {
    const { encode, reading } = codec.decodeAnswer(reply.bytes, context, quirksOf(reply), calls[caller])
    return { text: textOf(encode(costOfUsage(reading.usage))), usage: reading.usage }
  }
  const rewriter = codec.createStream(context, quirksOf(reply), calls[caller])
  const pieces: BodyPiece[] = []
  let from = 0
  for (const cut of [...cuts, reply.bytes.length]) {
    const piece = rewriter.push(reply.bytes.subarray(from, cut))
    if (piece !== null) pieces.push(piece)
    from = cut
  }
  rewriter.end()
  if (rewriter.failure) throw rewriter.failure
  const { usage } = rewriter.reading()
  pieces.push(rewriter.encodeEnding(costOfUsage(usage)))
  return { text: textOf(pieces), usage }
}

function textOf(pieces: readonly BodyPiece[]): string {
  return new TextDecoder().decode(joinPieces(pieces))
}

const readers: Readonly<Record<Caller, (objects: readonly Wire[]) => Told>> = {
  chat: toldByChat,
  responses: toldByResponses,
  messages: toldByMessages,
}

/** What the provider itself said. It may call a tool without arguments by saying nothing; a caller is told an object. */
export function toldByReply({ format, objects }: RecordedReply): Told {
  const told = format === 'gemini' ? toldByGemini(objects) : readers[format](objects)
  return { ...told, calls: told.calls.map(withArguments) }
}

function withArguments(call: ToldCall): ToldCall {
  const isEmpty = typeof call.arguments === 'string' && call.arguments.trim() === ''
  return isEmpty ? { ...call, arguments: {} } : call
}

/** What a text that a caller was sent says. */
export function toldToCaller(caller: Caller, text: string, isStream: boolean): Told {
  return readers[caller](isStream ? objectsOfStream(text) : [JSON.parse(text) as Wire])
}

/** What of a reply the caller is told otherwise than the provider told it; empty when nothing is. */
export function problemsOf(reply: RecordedReply, caller: Caller, text: string): string[] {
  const told = toldByReply(reply)
  const shown = toldToCaller(caller, text, reply.isStream)
  const problems: string[] = []
  const same = (what: string, found: unknown, wanted: unknown) => {
    if (Bun.deepEquals(found, wanted)) return
    problems.push(`${reply.name} to ${caller}: ${what}: ${shorten(found)}, not ${shorten(wanted)}`)
  }
  same('text', shown.text, told.text)
  same('thoughts', shown.thoughts, told.thoughts)
  same('signatures', shown.signatures.map(withoutSeal), told.signatures)
  const toldCalls =
    caller === 'messages' && reply.format === 'responses' ? told.calls.map(asObject) : told.calls
  same('calls', withIdsOf(shown.calls, told.calls), toldCalls)
  same('ids of calls', new Set(shown.calls.map(({ id }) => id)).size, shown.calls.length)
  same('citations', shown.citations, told.citations)
  if (told.usage !== null) same('usage', shown.usage, told.usage)
  same('stop', shown.stop, expectedStop(told, reply.format, caller))
  if (caller === 'messages' && reply.format === 'messages') {
    const of = (objects: readonly Wire[]) =>
      reply.isStream ? blocksOfStream(objects) : listAt(objects[0] ?? {}, 'content')
    const objects = reply.isStream ? objectsOfStream(text) : [JSON.parse(text) as Wire]
    same('blocks', of(objects), of(reply.objects).map(withRequired))
  }
  if (caller === 'responses' && reply.isStream) {
    const deltas = textOfResponsesDeltas(objectsOfStream(text))
    same('deltas of the text', deltas.text, told.text)
    same('deltas of thoughts', deltas.thoughts, told.thoughts)
    const wanted = told.calls.map((call) => call.arguments)
    same('deltas of calls', deltas.calls.map(argumentsOf), wanted)
  }
  return problems
}

const calledBlocks = new Set<unknown>([
  'tool_use',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
])

/** A block with the members that the contract requires, also where its provider left them out. */
function withRequired(block: Wire): Wire {
  const { type, citations, caller } = block
  if (type === 'text') return { ...block, citations: citations ?? [] }
  if (!calledBlocks.has(type)) return block
  return { ...block, caller: caller ?? { type: 'direct' } }
}

/** What a custom tool is given is a text, and in messages a member of an object. */
function asObject(call: ToldCall): ToldCall {
  return typeof call.arguments === 'string' ? { ...call, arguments: { input: call.arguments } } : call
}

/** Calls to which the provider gave no id get one each, which nobody can foretell. */
function withIdsOf(shown: readonly ToldCall[], told: readonly ToldCall[]): ToldCall[] {
  return shown.map((call, index) => (told[index]?.id === '' && call.id !== '' ? { ...call, id: '' } : call))
}

/** What binds a thought to its provider travels in an envelope through formats that are not its own, behind what tells whose it is. */
function withoutSeal(signature: string): string {
  const [lead = '', kind] = /^hr1\.[a-z]+(?:@[^.]*)?\.([sdt])\.[^.]*\./.exec(signature) ?? []
  const bound = signature.slice(lead.length)
  return kind === 't' ? bound.slice(bound.indexOf('.') + 1) : bound
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 240 ? `${text.slice(0, 240)}…` : text
}

/** What a replay found. */
export interface ReplayResult {
  /** Replies read through one caller without a cut. */
  read: number
  /** Streams read again with cuts. */
  splits: number
  problems: string[]
}

/** Every stream of up to so many bytes is cut everywhere. */
const cutEverywhereBytesMax = 4_096
const seededCuts = 200

/** Where only a few places are cut, a longer stream is read in pieces of a few bytes in place of single ones. */
const byteByByteMax = 8_192
const sampledStep = 7

/** Where a stream is cut, one place at a time. */
function placesOf({ bytes, frameEnds }: RecordedReply, seeded: number): number[] {
  const inside = Array.from({ length: Math.max(0, bytes.length - 1) }, (_, index) => index + 1)
  if (seeded < seededCuts) return seededPlaces(bytes.length, seeded)
  if (bytes.length <= cutEverywhereBytesMax) return inside
  const secondEnd = frameEnds[1] ?? bytes.length
  const secondLastStart = frameEnds.at(-3) ?? 0
  const edges = inside.filter((place) => place <= secondEnd || place >= secondLastStart)
  return [...edges, ...seededPlaces(bytes.length, seeded)]
}

/** The same places in every run. */
function seededPlaces(length: number, count: number): number[] {
  let state = length
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return 1 + (state % Math.max(1, length - 1))
  })
}

/**
 * Replays one reply to every caller: whole, byte by byte, and cut at one place after the other; fewer `seeded` places than
 * `seededCuts` are only those.
 */
export function replay(reply: RecordedReply, seeded = seededCuts): ReplayResult {
  const result: ReplayResult = { read: 0, splits: 0, problems: [] }
  for (const caller of callers) {
    try {
      const shown = showReply(reply, caller)
      result.read += 1
      result.problems.push(...problemsOf(reply, caller, shown.text))
      if (caller === reply.format) result.problems.push(...problemsOfPassage(reply, caller, shown))
      if (reply.isStream) cutStream(reply, caller, { shown, seeded, result })
    } catch (error) {
      result.problems.push(`${reply.name} to ${caller}: ${String(error)}`)
    }
  }
  return result
}

/** What passes as bytes says what the two halves of the format would say. */
function problemsOfPassage(reply: RecordedReply, caller: Caller, passed: Shown): string[] {
  const halves = showReply(reply, caller, [], translate(callerHalves[caller], upstreams[caller]))
  const told = [passed, halves].map(({ text }) => {
    const read = toldToCaller(caller, text, reply.isStream)
    const each = { ...read, signatures: read.signatures.map(withoutSeal) }
    // A provider that called a tool and says that it has ended passes as it came; read, it waits for the tool.
    return each.calls.length > 0 && each.stop === 'end_turn' ? { ...each, stop: 'tool_use' } : each
  })
  const isSame = Bun.deepEquals(told[0], told[1]) && Bun.deepEquals(passed.usage, halves.usage)
  return isSame
    ? []
    : [`${reply.name} as bytes: ${shorten(told[0])}, and through both halves ${shorten(told[1])}`]
}

interface Cutting {
  shown: Shown
  seeded: number
  result: ReplayResult
}

/** A stream says the same wherever its reads end: to the byte, or at least in everything that it says. */
function cutStream(reply: RecordedReply, caller: Caller, { shown, seeded, result }: Cutting): void {
  const step = seeded < seededCuts && reply.bytes.length > byteByByteMax ? sampledStep : 1
  const everywhere = Array.from(
    { length: Math.floor((reply.bytes.length - 1) / step) },
    (_, index) => (index + 1) * step,
  )
  const cuttings = [everywhere, ...placesOf(reply, seeded).map((place) => [place])]
  for (const cuts of cuttings) {
    const again = showReply(reply, caller, cuts)
    result.splits += 1
    if (again.text === shown.text && Bun.deepEquals(again.usage, shown.usage)) continue
    const where = cuts.length === 1 ? `cut at ${cuts[0]}` : 'byte by byte'
    const problems = problemsOf(reply, caller, again.text)
    if (Bun.deepEquals(again.usage, shown.usage) && problems.length === 0) continue
    result.problems.push(`${reply.name} to ${caller}, ${where}: ${problems[0] ?? 'another usage'}`)
    return
  }
}
