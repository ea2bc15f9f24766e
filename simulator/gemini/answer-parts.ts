import type { Answer, AnsweredCall } from '../answer.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { logprobsOf } from '../logprobs.ts'
import { seal } from '../seals.ts'
import { splitTokens } from '../tokens.ts'
import { signedSubject } from './contents.ts'
import type { ContentRequest } from './request.ts'

/** One candidate: its whole parts, and the parts of each frame of its stream. */
export interface Candidate {
  index: number
  whole: JsonObject[]
  /** The tokens up to and with each frame, without thoughts. */
  frames: { parts: JsonObject[]; tokens: number; logprobs?: JsonObject }[]
  /** Further members of the last frame. */
  end: JsonObject
}

/** An answer as a candidate. */
export function candidateOf(answer: Answer, request: ContentRequest, faults: Faults): Candidate {
  const frames: Candidate['frames'] = []
  const whole: JsonObject[] = []
  let tokens = 0
  const tell = (parts: JsonObject[], said: number, more: { logprobs?: JsonObject } = {}) => {
    tokens += said
    frames.push({ parts, tokens, ...more })
  }
  const signs = answer.reasoningTokens > 0 || (answer.isScripted && answer.thoughts !== '')
  if (signs && answer.thoughts !== '' && (request.showsThoughts || answer.isScripted)) {
    for (const text of splitTokens(answer.thoughts)) tell([{ text, thought: true }], 0)
    whole.push({ text: answer.thoughts, thought: true })
  }
  const pieces = answer.pieces ?? []
  for (const text of pieces) {
    const logprobs = request.logprobs === null ? {} : { logprobs: logprobsResult([text], request.logprobs) }
    tell([{ text }], 1, logprobs)
  }
  const signsText = signs && answer.calls.length === 0
  if (pieces.length > 0)
    whole.push({ text: pieces.join(''), ...(signsText ? { thoughtSignature: seal('words') } : {}) })
  for (const [at, call] of answer.calls.entries()) {
    const part = callPart(call)
    const signature = signs && at === 0 ? { thoughtSignature: seal(signedSubject(part)) } : {}
    whole.push({ ...part, ...signature })
    const said = splitTokens(call.name).length + splitTokens(call.arguments).length
    const isPieceByPiece = request.streamsArguments || faults.interleaveTools === true
    const told = isPieceByPiece ? partialParts(call) : [part]
    for (const [place, each] of told.entries())
      tell([place === 0 ? { ...each, ...signature } : each], place === 0 ? said : 0)
  }
  // As in recordings: the finish reason comes after the last text, with an empty text that carries the text's
  // signature.
  tell([{ text: '', ...(signsText ? { thoughtSignature: seal('words') } : {}) }], 0)
  return { index: answer.index, whole, frames, end: endOf(answer, request, faults) }
}

/** Gemini gives its calls no ids. */
function callPart({ name, arguments: text }: AnsweredCall): JsonObject {
  return { functionCall: { name, args: argsOf(text) } }
}

/**
 * The arguments as an object; invalid JSON of a script becomes an empty object, because the format cannot carry
 * it.
 */
function argsOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** A call whose arguments come value by value, texts in halves. */
function partialParts({ name, arguments: text }: AnsweredCall): JsonObject[] {
  const pieces = Object.entries(argsOf(text)).flatMap(([key, value]) => piecesOf(`$.${key}`, value))
  return [
    { functionCall: { name, willContinue: true } },
    ...pieces.map((piece) => ({ functionCall: { partialArgs: [piece], willContinue: true } })),
    { functionCall: {} },
  ]
}

function piecesOf(jsonPath: string, value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => piecesOf(`${jsonPath}[${at}]`, each))
  if (isObject(value))
    return Object.entries(value).flatMap(([key, each]) => piecesOf(`${jsonPath}.${key}`, each))
  if (typeof value === 'number') return [{ jsonPath, numberValue: value }]
  if (typeof value === 'boolean') return [{ jsonPath, boolValue: value }]
  if (typeof value !== 'string') return [{ jsonPath, nullValue: 'NULL_VALUE' }]
  const half = Math.ceil(value.length / 2)
  return [
    { jsonPath, stringValue: value.slice(0, half), willContinue: true },
    { jsonPath, stringValue: value.slice(half) },
  ]
}

/** Finish reasons of a fault or a script in Google's words; others stay as they are. */
const finishReasons: Record<string, string> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
  error: 'OTHER',
}

function endOf(answer: Answer, request: ContentRequest, faults: Faults): JsonObject {
  const finishReason = finishReasons[answer.finish] ?? answer.finish
  const all = answer.pieces ?? []
  return {
    finishReason,
    ...(request.logprobs === null
      ? {}
      : { avgLogprobs: -0.1, logprobsResult: logprobsResult(all, request.logprobs) }),
    ...(faults.citations === undefined ? {} : { groundingMetadata: groundingOf(all.join('')) }),
  }
}

/** Tokens of a stream's frame, or of a whole answer. */
function logprobsResult(pieces: readonly string[], top: number): JsonObject {
  const { content } = logprobsOf(pieces, top)
  return {
    chosenCandidates: content.map(({ token, logprob }) => ({ token, tokenId: 1, logProbability: logprob })),
    topCandidates: content.map((each) => ({
      candidates: each.top_logprobs.map(({ token, logprob }) => ({
        token,
        tokenId: 1,
        logProbability: logprob,
      })),
    })),
  }
}

function groundingOf(text: string): JsonObject {
  const endIndex = Buffer.byteLength(text)
  return {
    webSearchQueries: ['an example'],
    groundingChunks: [{ web: { uri: 'https://example.com/', title: 'Example Domain' } }],
    groundingSupports: [{ segment: { endIndex, text }, groundingChunkIndices: [0] }],
  }
}
