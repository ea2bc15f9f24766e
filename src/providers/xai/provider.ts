import type { ChatQuirkOptions } from '../../formats/chat/chat-quirks.ts'
import { defineProvider, named, notNamed, onlyFor, openAiChat } from '../define-provider.ts'
import { grokModels } from './capabilities.ts'

const xAiChat: ChatQuirkOptions = {
  accepts: ['search_parameters'],
  // Its completion's count leaves reasoning out.
  reasoningNotCounted: true,
}

/** Those that always think, which refuse some members. https://docs.x.ai/docs/guides/reasoning */
const thinks = /grok-(3-mini|[4-9](?!.*non-reasoning)|code|build)/i

export const xai = defineProvider({
  slug: 'xai',
  name: 'xAI',
  baseUrl: 'https://api.x.ai/v1',
  keyVariable: 'XAI_API_KEY',
  author: 'x-ai',
  pricesProviderId: 'x-ai',
  family: grokModels,
  adapters: {
    language: [
      onlyFor(
        named(thinks),
        openAiChat({ ...xAiChat, drops: ['presence_penalty', 'frequency_penalty'], refuses: ['stop'] }),
      ),
      onlyFor(notNamed(thinks), openAiChat(xAiChat)),
    ],
  },
})
