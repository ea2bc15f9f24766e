import type { Answer } from '../answer.ts'
import type { Faults } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import type { CacheTtl, CacheUse, PromptPiece } from '../prompt-cache.ts'
import { countTokens } from '../tokens.ts'
import { marksIn } from './conversation.ts'
import type { MessagesRequest } from './request.ts'

/** The token counts of a call. */
export interface MessagesUsage extends CacheUse {
  /** Input that is neither read from the cache nor written to it. */
  uncached: number
  output: number
  thinking: number
  serviceTier: string
  webSearches: number
}

const messageTokens = 4

/** The prompt piece by piece, in the order in which it is cached: tools, system, messages. */
export function promptPieces(request: MessagesRequest): PromptPiece[] {
  const pieces = request.rawTools.map((tool) => pieceOf(tool, countTokens(JSON.stringify(tool)), ''))
  for (const block of request.system) pieces.push(pieceOf(block.raw, block.tokens, 'system'))
  for (const { role, blocks } of request.messages) {
    for (const [at, block] of blocks.entries())
      pieces.push(pieceOf(block.raw, block.tokens + (at === 0 ? messageTokens : 0), role))
  }
  const last = pieces.at(-1)
  if (last !== undefined && request.cacheControl !== null) last.ttl ??= ttlOf(request.cacheControl)
  return pieces
}

function pieceOf(raw: JsonObject, tokens: number, role: string): PromptPiece {
  const mark = marksIn(raw).at(-1)
  const json = JSON.stringify(raw, (name, value: unknown) => (name === 'cache_control' ? undefined : value))
  return { json: `${role} ${json}`, tokens, ttl: mark === undefined ? null : ttlOf(mark) }
}

function ttlOf(mark: JsonObject): CacheTtl {
  return mark['ttl'] === '1h' ? '1h' : '5m'
}

/** Tokens of a whole prompt, with the schema of the wanted answer. */
export function inputTokensOf(request: MessagesRequest, pieces: readonly PromptPiece[]): number {
  const schema = request.answerSchema === null ? 0 : countTokens(JSON.stringify(request.answerSchema))
  return pieces.reduce((sum, piece) => sum + piece.tokens, schema)
}

/** The counts of a call: the simulator's own, or those of a script or a fault. */
export function messagesUsage(input: number, cache: CacheUse, answer: Answer, faults: Faults): MessagesUsage {
  const given = answer.usage
  const total = given.input ?? input
  const read = Math.min(
    faults.cachedTokens ?? given.cacheRead ?? (given.input === undefined ? cache.read : 0),
    total,
  )
  const isGiven = given.input !== undefined || faults.cacheWriteTokens !== undefined
  const written5m = faults.cacheWriteTokens ?? given.cacheWrite5m ?? (isGiven ? 0 : cache.written5m)
  const written1h = given.cacheWrite1h ?? (isGiven ? 0 : cache.written1h)
  return {
    read,
    written5m,
    written1h,
    uncached: Math.max(0, total - read - written5m - written1h),
    output: answer.tokens,
    thinking: answer.reasoningTokens,
    serviceTier: 'standard',
    webSearches: faults.serverTools === true ? 1 : 0,
  }
}

function serverTools({ webSearches }: MessagesUsage): JsonObject {
  return webSearches === 0
    ? {}
    : { server_tool_use: { web_search_requests: webSearches, web_fetch_requests: 0 } }
}

function thinkingDetails({ thinking }: MessagesUsage): JsonObject {
  return thinking === 0 ? {} : { output_tokens_details: { thinking_tokens: thinking } }
}

function inputCounts(usage: MessagesUsage): JsonObject {
  return {
    input_tokens: usage.uncached,
    cache_creation_input_tokens: usage.written5m + usage.written1h,
    cache_read_input_tokens: usage.read,
  }
}

/** The usage of a whole message; for a stream's first event, with the output up to then. */
export function wholeUsage(usage: MessagesUsage, output = usage.output): JsonObject {
  return {
    ...inputCounts(usage),
    cache_creation: {
      ephemeral_5m_input_tokens: usage.written5m,
      ephemeral_1h_input_tokens: usage.written1h,
    },
    output_tokens: output,
    ...(output === usage.output ? { ...thinkingDetails(usage), ...serverTools(usage) } : {}),
    service_tier: usage.serviceTier,
    inference_geo: 'not_available',
  }
}

/** The usage of the last event but one of a stream: cumulative, and right where the first event was not. */
export function deltaUsage(usage: MessagesUsage): JsonObject {
  return {
    ...inputCounts(usage),
    output_tokens: usage.output,
    ...thinkingDetails(usage),
    ...serverTools(usage),
  }
}
