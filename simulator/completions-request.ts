import * as check from './checks.ts'
import { ApiError, invalidRequest } from './errors.ts'
import type { Faults } from './faults.ts'
import { isObject, type JsonObject } from './json.ts'
import { completionPromptsMax } from './limits.ts'
import { findModel, type Model, modelNamed } from './models.ts'
import { countTokens } from './tokens.ts'

/** A legacy completions request that has passed every check. */
export interface CompletionsRequest {
  model: Model
  prompts: CompletionPrompt[]
  stream: boolean
  includeUsage: boolean
  outputTokensMax: number
  /** The number of answers to each prompt. */
  choices: number
  /** The number of answers made for each prompt; the best of them are shown. */
  bestOf: number
  echo: boolean
  /** The number of alternatives shown with each token; null when none are requested. */
  logprobs: number | null
  stop: string[]
}

interface CompletionPrompt {
  /** For a prompt of token numbers, the numbers themselves: the simulator does not know their text. */
  text: string
  tokens: number
}

const outputTokensUsual = 16
const tokenNumbers = check.listOf(check.integer(0))

const fields: Record<string, check.Check> = {
  model: check.string(),
  prompt: check.either(
    check.string(),
    check.listOf(check.string(), completionPromptsMax),
    tokenNumbers,
    check.listOf(tokenNumbers, completionPromptsMax),
  ),
  suffix: check.string(),
  max_tokens: check.integer(0),
  n: check.integer(1, 128),
  best_of: check.integer(0, 20),
  echo: check.boolean,
  logprobs: check.integer(0, 5),
  stop: check.either(check.string(), check.listOf(check.string(), 4)),
  stream: check.boolean,
  stream_options: check.members({ include_usage: check.boolean, include_obfuscation: check.boolean }),
  temperature: check.decimal(0, 2),
  top_p: check.decimal(0, 1),
  frequency_penalty: check.decimal(-2, 2),
  presence_penalty: check.decimal(-2, 2),
  logit_bias: check.object,
  seed: check.integer(Number.MIN_SAFE_INTEGER),
  user: check.string(),
}

/** Reads a completions request as strictly as OpenAI does; the faults may make it milder. Throws `ApiError`. */
export function parseCompletionsRequest(body: JsonObject, faults: Faults): CompletionsRequest {
  check.checkMembers(body, { fields, required: ['model', 'prompt'], strict: faults.lenient !== true })
  refuseChatModel(body['model'], faults.anyModel)
  const model = findModel(body['model'], 'completion', faults.anyModel)
  const prompts = promptsOf(body['prompt'])
  if (prompts.length === 0)
    throw invalidRequest("Invalid 'prompt': at least one entry is expected.", 'prompt', 'empty_array')
  const choices = numberOr(body['n'], 1)
  const bestOf = Math.max(1, numberOr(body['best_of'], choices))
  const stream = body['stream'] === true
  if (bestOf < choices) throw invalidRequest("'best_of' must be at least 'n'.", 'best_of')
  if (stream && bestOf > choices)
    throw invalidRequest("'best_of' beyond 'n' is not allowed with 'stream'.", 'best_of')
  if (isObject(body['stream_options']) && !stream)
    throw invalidRequest("'stream_options' is only allowed when 'stream' is enabled.", 'stream_options')
  const streamOptions = isObject(body['stream_options']) ? body['stream_options'] : {}
  const outputTokensMax = numberOr(body['max_tokens'], outputTokensUsual)
  refuseOverflow(prompts, outputTokensMax, model)
  return {
    model,
    prompts,
    stream,
    includeUsage: streamOptions['include_usage'] === true,
    outputTokensMax,
    choices,
    bestOf,
    echo: body['echo'] === true,
    logprobs: typeof body['logprobs'] === 'number' ? body['logprobs'] : null,
    stop: typeof body['stop'] === 'string' ? [body['stop']] : strings(body['stop']),
  }
}

function refuseChatModel(name: unknown, any = false): void {
  if (any || typeof name !== 'string' || modelNamed(name)?.kind !== 'chat') return
  throw new ApiError({
    status: 404,
    message:
      'This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?',
    param: 'model',
  })
}

/** A plain list of numbers is one prompt, every other list is a list of prompts. */
function promptsOf(value: unknown): CompletionPrompt[] {
  if (!Array.isArray(value)) return [promptOf(value)]
  return typeof value[0] === 'number' ? [promptOf(value)] : value.map(promptOf)
}

function promptOf(value: unknown): CompletionPrompt {
  if (Array.isArray(value)) return { text: value.join(' '), tokens: value.length }
  const text = String(value)
  return { text, tokens: countTokens(text) }
}

function refuseOverflow(prompts: readonly CompletionPrompt[], output: number, model: Model): void {
  const most = model.contextTokens ?? Number.POSITIVE_INFINITY
  const longest = Math.max(...prompts.map(({ tokens }) => tokens))
  if (longest + output <= most) return
  const message = `This model's maximum context length is ${most} tokens, however you requested ${longest + output} tokens.`
  throw invalidRequest(message, null, 'context_length_exceeded')
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}
