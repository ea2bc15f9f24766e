import type { Answer } from '../../canonical/text/answer.ts'
import type { TextEvent } from '../../canonical/text/events.ts'
import type { AnswerContext, ShownCharge } from '../../canonical/upstream.ts'
import type { GatewayError } from '../../core/errors.ts'
import { writeContractError } from '../client-convention.ts'
import type { CallerHalf, ShownUsage, StreamEnd, StreamFrames, StreamWriter } from '../text/halves.ts'
import { showCharge, showMetadata } from '../text/shown-charge.ts'
import { readCompletionsConversation } from './read-request.ts'

/** The members at the start of every answer and every frame. */
export function identityOf(context: AnswerContext): Record<string, unknown> {
  const { generationId, created, model, provider } = context
  return { id: generationId, object: 'text_completion', created, model, provider }
}

/** The token counts and their cost. */
export function writeCompletionsUsage(charge: ShownCharge): ShownUsage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = charge.usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    ...(reasoningTokens === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
    ...showCharge(charge),
  }
}

function writeAnswer(answer: Answer, context: AnswerContext, usage: ShownUsage, charge: ShownCharge): string {
  return JSON.stringify({
    ...identityOf(context),
    choices: answer.choices.map(({ parts, finish }, index) => ({
      text: parts.flatMap(({ head, text }) => (isSaid(head.type) ? [text] : [])).join(''),
      index,
      logprobs: null,
      finish_reason: finish?.reason ?? null,
    })),
    usage,
    ...showMetadata(charge),
  })
}

/** Whether a completion shows this type of part: text, and the text of a refusal. */
function isSaid(type: string): boolean {
  return type === 'text' || type === 'refusal'
}

class CompletionsWriter implements StreamWriter {
  readonly #identity: Record<string, unknown>
  /** Choices whose open part is a thought or another part that is not shown. */
  readonly #silent = new Set<number>()

  constructor(context: AnswerContext) {
    this.#identity = identityOf(context)
  }

  write(event: TextEvent): string {
    if (event.type === 'part_begin') {
      if (isSaid(event.head.type)) this.#silent.delete(event.choice)
      else this.#silent.add(event.choice)
    }
    if (event.type !== 'piece' || event.piece.type !== 'text' || this.#silent.has(event.choice)) return ''
    return this.#frame({ choices: [choiceOf(event.choice, event.piece.text, null)] })
  }

  writeEnd({ finishes, usage, charge }: StreamEnd): string {
    const told = { usage, ...showMetadata(charge) }
    const ends = finishes.map((finish, index) =>
      this.#frame({
        choices: [choiceOf(finish.choice, '', finish.reason)],
        ...(index === finishes.length - 1 ? told : {}),
      }),
    )
    const rest = ends.length > 0 ? ends.join('') : this.#frame({ choices: [], ...told })
    return `${rest}data: [DONE]\n\n`
  }

  writeError(error: GatewayError): string {
    return this.#frame({ choices: [choiceOf(0, '', 'error')], error: shownError(error) })
  }

  #frame(members: Record<string, unknown>): string {
    return `data: ${JSON.stringify({ ...this.#identity, ...members })}\n\n`
  }
}

function choiceOf(index: number, text: string, reason: string | null): Record<string, unknown> {
  return { text, index, logprobs: null, finish_reason: reason }
}

/** The frame of an error inside a stream. */
export function shownError(error: GatewayError): Record<string, unknown> {
  return { code: error.status, message: error.message, metadata: { error_type: error.contractType } }
}

/** The frames that a stream shows before any provider has answered. */
export const completionsFrames: StreamFrames = {
  keepAlive: ': HEADRACE PROCESSING\n\n',
  writeError(error, { generationId, model, created }) {
    const frame = {
      id: generationId,
      object: 'text_completion',
      created,
      model,
      choices: [choiceOf(0, '', 'error')],
      error: shownError(error),
    }
    return `data: ${JSON.stringify(frame)}\n\n`
  },
}

/** Serves callers of legacy completions from providers of other formats. */
export const completionsCaller: CallerHalf = {
  readConversation: readCompletionsConversation,
  writeAnswer: (answer, { context }, { usage, charge }) => writeAnswer(answer, context, usage, charge),
  writeUsage: writeCompletionsUsage,
  createStream: ({ context }) => new CompletionsWriter(context),
  hasErrorEnd: true,
  writeError: writeContractError,
}
