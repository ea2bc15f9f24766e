import { openAiMembers, type ChatQuirkOptions } from '../../formats/chat/chat-quirks.ts'
import type { EmbeddingsQuirkOptions } from '../../formats/embeddings/embeddings-codec.ts'
import type { ResponsesQuirkOptions } from '../../formats/responses/responses-quirks.ts'
import type { AskedInterface } from '../../formats/text-adapter.ts'
import { openAiTranscriptEvents } from '../../formats/transcription/openai-transcript-stream.ts'
import type { OpenAiTranscriptionOptions } from '../../formats/transcription/openai-transcription-options.ts'
import { named } from '../define-provider.ts'

/** What of the chat format's options OpenAI's own service uses. */
export const openAiChatOptions: ChatQuirkOptions = {
  // Its reasoning models refuse `max_tokens`; all its models take the newer name.
  maxTokensField: 'max_completion_tokens',
  accepts: openAiMembers,
  developerRole: true,
  answerMembers: true,
  userLengthMax: 64,
}

/** The same of embeddings. */
export const openAiEmbeddingsOptions: EmbeddingsQuirkOptions = {
  base64: true,
  tokenArrays: true,
  user: true,
}

/** Models that think before they answer, and take no sampling; those that only chat do not think. */
const thinking = /^(?!.*-chat(?:-|$))(?:gpt-[5-9]|o\d|codex)/

/** The same of responses. */
export const openAiResponsesOptions: ResponsesQuirkOptions = {
  modelOf: (model) => ({ reasons: thinking.test(model), hasSampling: !thinking.test(model) }),
  sealsThoughts: true,
  hasOpenAiMembers: true,
  outputTokensMin: 16,
  userLengthMax: 64,
}

/** Models that chat completions do not answer. https://developers.openai.com/api/docs/models (2026-11) */
const responsesOnly = /-pro(?:-\d|$)|codex|deep-research|computer-use/
/** From these on chat completions refuse tools for a model that thinks. https://github.com/openai/openai-openapi/issues/541 */
const responsesForTools = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])/

/** Whether OpenAI answers such a call in chat completions. */
export function isChatServed({ upstreamModel, parameters }: AskedInterface): boolean {
  if (responsesOnly.test(upstreamModel)) return false
  const needsResponses = responsesForTools.test(upstreamModel) && thinking.test(upstreamModel)
  return !needsResponses || !parameters.includes('tools')
}

/** What chat completions alone have, by the contract's names. */
const chatOnly: ReadonlySet<string> = new Set(['stop', 'n', 'seed', 'logit_bias', 'logprobs'])

/**
 * Whether responses are to answer a call: one in the format itself, one that chat completions do not take, and one of
 * messages to a model that thinks, because chat completions give no thoughts and take none back.
 */
export function isResponsesServed(asked: AskedInterface): boolean {
  if (asked.format === 'responses' || !isChatServed(asked)) return true
  return thinking.test(asked.upstreamModel) && !asked.parameters.some((name) => chatOnly.has(name))
}

const diarizes = named(/gpt-4o-transcribe-diarize/)
const takesKeywords = named(/gpt-transcribe/)

/** The same of transcriptions. */
export const openAiTranscriptionOptions: OpenAiTranscriptionOptions = {
  modelOf(asked) {
    // Its times come with the format alone, and above 30 seconds only in chunks.
    if (diarizes(asked)) {
      return {
        verboseFormat: 'diarized_json',
        hasGranularities: false,
        fields: { chunking_strategy: 'auto' },
      }
    }
    // whisper-1 takes the wish for events and answers as a whole.
    const streams = /transcribe/.test(asked.upstreamModel) ? openAiTranscriptEvents : null
    return takesKeywords(asked) ? { keytermsField: 'keywords', streams } : { streams }
  },
}
