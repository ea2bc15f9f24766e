import type { BodyPieces } from '../../../core/body.ts'
import type { AnswerContext, DecodedAnswer, MeterReading, ShownCharge } from '../../../canonical/upstream.ts'
import { GatewayError } from '../../../core/errors.ts'
import { jsonDepthMax } from '../../../core/limits/text.ts'
import {
  isSetAsideWithin,
  putTextsBack,
  type SetAsideTexts,
  setTextsAside,
  wholeBytesOf,
} from '../../../json/set-aside-texts.ts'
import { isNestedWithin } from '../../../json/scan.ts'
import { toBuffer } from '../../../json/bytes.ts'
import { readReportedError } from '../../upstream-errors.ts'
import {
  hasCalls,
  normalizeMessage,
  outputBytesOf,
  readNativeReason,
  shownNativeReason,
  toLogprobs,
  upstreamOnlyMembers,
} from './choice.ts'
import { toFinishReason } from '../finish-reason.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import type { ChatQuirks } from './quirks.ts'
import { missingCallId } from '../tools/tool-indexes.ts'
import { mediaTokensOf, readChatUsage, type ReadUsage, showChatUsage } from './usage.ts'
import { hasMetadata, showMetadata } from '../shown-charge.ts'
import { noArguments, toArguments } from '../tools/tool-input.ts'
import { startReading } from '../usage-readers.ts'

/**
 * Reads a provider's whole chat answer and brings it into the contract's form. Throws `provider_failed` when the body
 * is not an answer, and the provider's error when it came with a success status.
 */
export function decodeChatAnswer(
  bytes: Uint8Array,
  context: AnswerContext,
  quirks: ChatQuirks,
): DecodedAnswer {
  const aside = setTextsAside(bytes)
  const decoded = aside === null ? null : decodeSetAside(aside, context, quirks)
  return decoded ?? decodeWire(parseAnswer(toBuffer(bytes).toString('utf8')), context, quirks, wholeTexts)
}

/** How the texts of a parsed answer are measured, and how the answer is written. */
interface Texts {
  bytesOf(text: string): number
  write(json: string): BodyPieces
}

const wholeTexts: Texts = {
  bytesOf: (text) => Buffer.byteLength(text),
  write: (json) => [json],
}

/** Decodes the answer without building its long texts; null when a step needs these texts. */
function decodeSetAside(
  aside: SetAsideTexts,
  context: AnswerContext,
  quirks: ChatQuirks,
): DecodedAnswer | null {
  const wire = parseAnswer(aside.skeleton)
  if (hasError(wire)) return null
  let isWithin = false
  const decoded = decodeWire(wire, context, quirks, {
    bytesOf: (text) => {
      isWithin ||= isSetAsideWithin(text)
      return wholeBytesOf(text, aside)
    },
    write: (json) => putTextsBack(json, aside),
  })
  return isWithin ? null : decoded
}

function hasError(wire: Readonly<Record<string, unknown>>): boolean {
  return wire['error'] !== undefined && wire['error'] !== null
}

function decodeWire(
  wire: Record<string, unknown>,
  context: AnswerContext,
  quirks: ChatQuirks,
  texts: Texts,
): DecodedAnswer {
  if (hasError(wire)) throw readReportedError(wire['error'], context)
  const choices = wire['choices']
  if (!Array.isArray(choices) || choices.length === 0) throw unreadable('it has no choices')
  const reading = startReading(wire)
  const failure = errorAmong(choices)
  for (let index = 0; index < choices.length; index += 1)
    completeChoice(choices[index], index, { reading, texts, context })
  // Without output another endpoint may answer. With output, the caller gets what came before the failure.
  if (failure !== null && reading.outputPieces === 0) throw readReportedError(failure, context)
  const read = readChatUsage(wire['usage'], quirks, wire['usage_breakdown'])
  reading.usage = read?.usage ?? null
  reading.mediaTokens = read && mediaTokensOf(read)
  reading.source = read ? 'provider' : 'estimated'
  reading.reportedCostNanocredits = read?.reportedCostNanocredits ?? null
  if (read && read.providerCalls > 0) reading.providerCalls = read.providerCalls
  return {
    reading,
    encode: (charge) => texts.write(encodeAnswer({ wire, read }, context, charge)),
  }
}

/** The first error that stands in a choice; null when all are answers. */
function errorAmong(choices: readonly unknown[]): Record<string, unknown> | null {
  for (const choice of choices) if (isRecord(choice) && isRecord(choice['error'])) return choice['error']
  return null
}

function encodeAnswer(
  { wire, read }: { wire: Record<string, unknown>; read: ReadUsage | null },
  context: AnswerContext,
  charge: ShownCharge,
): string {
  // In place, like the choices: a copy would cost a quarter of writing it.
  wire['id'] = context.generationId
  wire['object'] = 'chat.completion'
  wire['created'] = context.created
  wire['model'] = context.model
  wire['provider'] = context.provider
  wire['system_fingerprint'] ??= null
  wire['usage'] = showChatUsage(read, charge)
  for (const name of upstreamOnlyMembers) if (wire[name] !== undefined) delete wire[name]
  if (hasMetadata(charge)) Object.assign(wire, showMetadata(charge))
  return JSON.stringify(wire)
}

function parseAnswer(json: string): Record<string, unknown> {
  if (!isNestedWithin(json, jsonDepthMax)) throw unreadable('it is nested too deep')
  let wire: unknown
  try {
    wire = JSON.parse(json)
  } catch (cause) {
    throw unreadable('it is not JSON', cause)
  }
  if (!isRecord(wire)) throw unreadable('it is not an object')
  return wire
}

function unreadable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('provider_failed', 'The provider sent an answer that could not be read.', {
    cause: new Error(reason, { cause }),
  })
}

/** The answer that a choice belongs to, and where its figures are added. */
interface ChoiceReading {
  reading: MeterReading
  texts: Texts
  context: AnswerContext
}

/**
 * Brings a choice into the contract's form, in place: nobody else has the parsed answer, and copies of it would cost as
 * much as parsing it.
 */
function completeChoice(choice: unknown, index: number, { reading, texts, context }: ChoiceReading): void {
  if (!isRecord(choice)) throw unreadable('a choice is not an object')
  const native = readNativeReason(choice)
  const shownNative = shownNativeReason(choice)
  const message = messageOf(choice, native)
  completeMessage(message, `${context.generationId}_${index}`)
  const { error } = choice
  const hasFailed = isRecord(error)
  const finishReason = native === null && hasFailed ? 'error' : toFinishReason(native, hasCalls(message))
  const bytes = outputBytesOf(message, texts.bytesOf)
  const hasOutput = bytes > 0 || message['images'] !== undefined || message['audio'] !== undefined
  // A choice with neither output nor a finish reason is not billed as an answer.
  if (native !== null || hasOutput) reading.finishReason ??= finishReason
  reading.nativeFinishReason ??= shownNative
  reading.outputBytes += bytes
  if (hasOutput) reading.outputPieces += 1
  choice['index'] = tokenCountOrNull(choice['index']) ?? index
  choice['message'] = message
  choice['finish_reason'] = finishReason
  choice['native_finish_reason'] = shownNative
  choice['logprobs'] = toLogprobs(choice['logprobs'])
  if (hasFailed) choice['error'] = showError(readReportedError(error, context))
}

/**
 * Azure leaves out the message of a choice that its content filter emptied. Any other choice without a message is not an
 * answer.
 */
export function messageOf(
  wire: Readonly<Record<string, unknown>>,
  native: string | null,
): Record<string, unknown> {
  const { message } = wire
  if (isRecord(message)) return message
  const isMissing = message === undefined || message === null
  if (isMissing && native !== null && toFinishReason(native, false) === 'content_filter') return {}
  throw unreadable('a choice has no message')
}

/** An error object as callers see it, inside an answer or a stream that had begun. */
export function showError(error: GatewayError): Record<string, unknown> {
  return {
    code: error.status,
    message: error.message,
    metadata: { ...error.metadata, error_type: error.contractType },
  }
}

function completeMessage(message: Record<string, unknown>, idSuffix: string): void {
  const { tool_calls: calls } = message
  message['role'] = 'assistant'
  message['content'] ??= null
  message['refusal'] ??= null
  normalizeMessage(message)
  if (Array.isArray(calls) && calls.length > 0)
    message['tool_calls'] = withIds(calls, idSuffix).map(toToolCall)
  else if (calls !== undefined) delete message['tool_calls']
}

/** Gives each call its own id, also when the provider sent none or one id for several calls. */
function withIds(calls: readonly unknown[], idSuffix: string): unknown[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    if (!isRecord(call)) return call
    const given = filledTextOrNull(call['id'])
    const id = given === null || taken.has(given) ? missingCallId(idSuffix, index) : given
    taken.add(id)
    return { ...call, id }
  })
}

function toToolCall(wire: unknown, index: number): unknown {
  if (!isRecord(wire)) return wire
  const called = wire['function']
  return {
    ...wire,
    index,
    type: wire['type'] || 'function',
    ...(isRecord(called)
      ? {
          function: {
            ...called,
            name: called['name'] ?? '',
            arguments: toArguments(called['arguments']) || noArguments,
          },
        }
      : {}),
  }
}
