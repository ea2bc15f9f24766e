import type { Answer } from './answer.ts'
import { showsThoughts, thoughtOf } from './chat-thoughts.ts'
import type { ChatResult } from './chat-result.ts'
import type { JsonObject } from './json.ts'
import { logprobsOf } from './logprobs.ts'
import { lettersOf } from './random.ts'
import { doneFrame, frame } from './reply.ts'
import { chatFinish } from './chat-finish.ts'
import { splitTokens } from './tokens.ts'
import { distortUsage } from './usage.ts'

/** One chunk's delta, and the other members of its choice. */
interface Step {
  index: number
  delta: JsonObject
  logprobs?: unknown
  finish?: string
}

/**
 * The frames of a streamed answer, in OpenAI's order: a chunk with the role for each choice, the content, a chunk with the
 * finish reason for each choice, the usage when it was asked for, and the end mark.
 */
export function* chatFrames(result: ChatResult): Generator<string> {
  const { answers, faults } = result
  const write = chunkWriter(result)
  if (faults.emptyChoicesFirst === true) {
    yield frame({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] })
  }
  for (const answer of answers) {
    const content = answer.pieces === null ? null : ''
    yield write.step({ index: answer.index, delta: { role: 'assistant', content, refusal: null } })
  }
  for (const step of interleaved(answers.map((answer) => contentSteps(answer, result))))
    yield write.step(step)
  for (const answer of answers) {
    const isLast = answer.index === answers.length - 1
    yield write.step({ index: answer.index, delta: {}, finish: chatFinish(answer) }, isLast)
  }
  if (write.hasUsageChunk) yield write.usage()
  yield doneFrame
}

function chunkWriter(result: ChatResult) {
  const { identity, request, faults } = result
  const isAsked = request.includeUsage || faults.usage === 'always'
  const isWithFinish = faults.usage === 'with_finish' || faults.usage === 'misspelt'
  const hasUsageChunk = isAsked && faults.usage !== 'missing' && !isWithFinish
  const usage = distortUsage(result.usage, faults.usage)
  const head = JSON.stringify({
    id: identity.id,
    object: 'chat.completion.chunk',
    created: identity.created,
    model: identity.model,
    service_tier: identity.tier,
    system_fingerprint: identity.fingerprint,
  }).slice(0, -1)
  const padding = lettersOf(identity.id, 16)
  // When a usage chunk will follow, all other chunks have a null usage.
  const noUsage = hasUsageChunk ? null : undefined
  let written = 0

  // OpenAI pads every chunk, so that its length does not reveal the token to an eavesdropper.
  function tail(withUsage: unknown): string {
    const usageMember = withUsage === undefined ? '' : `,"usage":${JSON.stringify(withUsage)}`
    const length = 2 + (written++ % 9)
    return usageMember + (request.includeObfuscation ? `,"obfuscation":"${padding.slice(0, length)}"}` : '}')
  }
  return {
    hasUsageChunk,
    step(step: Step, isLast = false): string {
      const choice = {
        index: step.index,
        delta: step.delta,
        logprobs: step.logprobs ?? null,
        finish_reason: step.finish ?? null,
      }
      const own = isLast && isWithFinish ? usage : noUsage
      // This member comes besides the usual usage, which a fault may leave out.
      const groq = { id: identity.id, usage: result.usage }
      const more = isLast && faults.xGroq === true ? `,"x_groq":${JSON.stringify(groq)}` : ''
      return `data: ${head},"choices":[${JSON.stringify(choice)}]${more}${tail(own)}\n\n`
    },
    usage: () => `data: ${head},"choices":[]${tail(usage)}\n\n`,
  }
}

function* contentSteps(answer: Answer, result: ChatResult): Generator<Step> {
  const { request, faults } = result
  const { index } = answer
  for (const piece of showsThoughts(faults) ? splitTokens(answer.thoughts) : [])
    yield { index, delta: thoughtOf(piece, faults) }
  for (const piece of answer.pieces ?? []) {
    const logprobs = request.logprobs ? logprobsOf([piece], request.topLogprobs) : null
    yield { index, delta: { content: piece }, logprobs }
  }
  for (const piece of splitTokens(answer.refusal ?? '')) yield { index, delta: { refusal: piece } }
  const calls = answer.calls.map((_, at) => callSteps(answer, at))
  if (faults.interleaveTools === true) yield* interleaved(calls)
  else for (const steps of calls) yield* steps
}

function* callSteps(answer: Answer, at: number): Generator<Step> {
  const call = answer.calls[at]
  if (call === undefined) return
  const { index } = answer
  const { id, name } = call
  const opening = call.isCustom
    ? { index: at, id, type: 'custom', custom: { name, input: '' } }
    : { index: at, id, type: 'function', function: { name, arguments: '' } }
  yield { index, delta: { tool_calls: [opening] } }
  for (const piece of splitTokens(call.arguments)) {
    const given = call.isCustom ? { custom: { input: piece } } : { function: { arguments: piece } }
    yield { index, delta: { tool_calls: [{ index: at, ...given }] } }
  }
}

/** One step of each source in turn until all are done. */
function* interleaved(sources: readonly Iterator<Step>[]): Generator<Step> {
  let open = [...sources]
  while (open.length > 0) {
    const left: Iterator<Step>[] = []
    for (const source of open) {
      const next = source.next()
      if (next.done === true) continue
      yield next.value
      left.push(source)
    }
    open = left
  }
}
