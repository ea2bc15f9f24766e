import { openAiMembers, type ChatModel, type ChatQuirkOptions } from '../../formats/text/chat/quirks.ts'
import type { EmbeddingsQuirkOptions } from '../../formats/embeddings/quirks.ts'
import type { ResponsesQuirkOptions } from '../../formats/text/responses/quirks.ts'
import type { AskedInterface } from '../../formats/text/text-interface.ts'
import { openAiTranscriptEvents } from '../../formats/transcription/openai-transcript-stream.ts'
import type { OpenAiTranscriptionOptions } from '../../formats/transcription/openai-transcription-options.ts'
import { named } from '../define-provider.ts'

/** Models that think before they answer, and take no sampling; those that only chat do not think. */
const thinking = /^(?!.*-chat(?:-|$))(?:gpt-[5-9]|o\d|codex)/
/** Of these the ones that take some of it from a call that asks them not to think. */
const samplesUnthinking = /^gpt-5\.\d(?!.*codex)/

/** What models that think refuse of chat completions. */
const thinkingChat: ChatModel = {
  drops: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias'],
  refuses: ['stop', 'logprobs', 'top_logprobs'],
  takesUnthinking: [],
}
const unthinkingChat: ChatModel = {
  ...thinkingChat,
  takesUnthinking: ['temperature', 'top_p', 'logprobs', 'top_logprobs'],
}

/** What of the chat format's options OpenAI's own service uses. */
export const openAiChatOptions: ChatQuirkOptions = {
  modelOf(model) {
    if (!thinking.test(model)) return null
    return samplesUnthinking.test(model) ? unthinkingChat : thinkingChat
  },
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

/** The same of responses. */
export const openAiResponsesOptions: ResponsesQuirkOptions = {
  modelOf(model) {
    if (!thinking.test(model)) return { reasons: false, sampling: 'always' }
    return { reasons: true, sampling: samplesUnthinking.test(model) ? 'unthinking' : 'never' }
  },
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

/**
 * Whether responses are to answer a call: one in the format itself, one that chat completions do not take, and one of
 * messages to a model that thinks, because chat completions give no thoughts and take none back. What else the call asks for
 * does not matter: the next turn of a conversation must find the thoughts of this one.
 */
export function isResponsesServed(asked: AskedInterface): boolean {
  return asked.format === 'responses' || !isChatServed(asked) || thinking.test(asked.upstreamModel)
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
