import { openAiMembers, type ChatModel, type ChatQuirkOptions } from '../../formats/text/chat/quirks.ts'
import type { EmbeddingsQuirkOptions } from '../../formats/embeddings/quirks.ts'
import type { ResponsesQuirkOptions } from '../../formats/text/responses/quirks.ts'
import type { AskedInterface } from '../../formats/text/text-interface.ts'
import { openAiTranscriptEvents } from '../../formats/transcription/openai-transcript-stream.ts'
import type { OpenAiTranscriptionOptions } from '../../formats/transcription/openai-transcription-options.ts'
import { named } from '../define-provider.ts'

/** Models that think and refuse sampling. The chat variants do not think. */
const thinking = /^(?!.*-chat(?:-|$))(?:gpt-[5-9]|o\d|codex)/
/** Thinking models that accept some sampling when the call asks for no thinking. */
const samplesUnthinking = /^gpt-5\.\d(?!.*codex)/

/** Chat members that thinking models refuse. */
const thinkingChat: ChatModel = {
  drops: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias'],
  refuses: ['stop', 'logprobs', 'top_logprobs'],
  takesUnthinking: [],
}
const unthinkingChat: ChatModel = {
  ...thinkingChat,
  takesUnthinking: ['temperature', 'top_p', 'logprobs', 'top_logprobs'],
}

/** The quirks of OpenAI's own chat completions. */
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

/** The quirks of OpenAI's own embeddings. */
export const openAiEmbeddingsOptions: EmbeddingsQuirkOptions = {
  base64: true,
  tokenArrays: true,
  user: true,
}

/** The quirks of OpenAI's own responses. */
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

/** Models without chat completions. https://developers.openai.com/api/docs/models (2026-11) */
const responsesOnly = /-pro(?:-\d|$)|codex|deep-research|computer-use/
/** Thinking models for which chat completions refuse tools. https://github.com/openai/openai-openapi/issues/541 */
const responsesForTools = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])/

/** Whether OpenAI serves such a call by chat completions. */
export function isChatServed({ upstreamModel, parameters }: AskedInterface): boolean {
  if (responsesOnly.test(upstreamModel)) return false
  const needsResponses = responsesForTools.test(upstreamModel) && thinking.test(upstreamModel)
  return !needsResponses || !parameters.includes('tools')
}

/**
 * Whether OpenAI serves a call by responses: a call in this format, a call that chat completions refuse, and a messages
 * call to a thinking model, because chat completions neither show thoughts nor take them back. Nothing else about the
 * call matters: the next turn must find the thoughts of this one.
 */
export function isResponsesServed(asked: AskedInterface): boolean {
  return asked.format === 'responses' || !isChatServed(asked) || thinking.test(asked.upstreamModel)
}

const diarizes = named(/gpt-4o-transcribe-diarize/)
const takesKeywords = named(/gpt-transcribe/)

/** The quirks of OpenAI's own transcriptions. */
export const openAiTranscriptionOptions: OpenAiTranscriptionOptions = {
  modelOf(asked) {
    // Its times come only in this format, and above 30 seconds only with chunking.
    if (diarizes(asked)) {
      return {
        verboseFormat: 'diarized_json',
        hasGranularities: false,
        fields: { chunking_strategy: 'auto' },
      }
    }
    // whisper-1 accepts the request for events but sends a whole answer.
    const streams = /transcribe/.test(asked.upstreamModel) ? openAiTranscriptEvents : null
    return takesKeywords(asked) ? { keytermsField: 'keywords', streams } : { streams }
  },
}
