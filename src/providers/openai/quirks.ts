import { openAiMembers, type ChatQuirkOptions } from '../../formats/chat/chat-quirks.ts'
import type { EmbeddingsQuirkOptions } from '../../formats/embeddings/embeddings-codec.ts'

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
