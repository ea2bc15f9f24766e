import type { TextPath } from '../../formats/text/text-interface.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { claudeOf } from '../anthropic/quirks.ts'
import { bearer, defineProvider, named, notNamed, onlyFor } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { openAiService } from '../openai/capabilities.ts'
import {
  isChatServed,
  isResponsesServed,
  openAiChatOptions,
  openAiEmbeddingsOptions,
  openAiResponsesOptions,
  openAiTranscriptionOptions,
} from '../openai/quirks.ts'

/** Before its `v1` a deployment stood in the path, and the version in the query, where `query` of the configuration puts it. */
const olderBase = (operation: string): Readonly<Record<string, TextPath>> => ({
  '/openai': ({ model }) => `/openai/deployments/${encodeURIComponent(model)}/${operation}`,
})

const claude = /claude/i
const isNoClaude = notNamed(claude)

/** Sound is asked for below `v1` whatever else the address says, but for the older form. */
const audioElsewhere = (operation: string): Readonly<Record<string, TextPath>> => ({
  ...olderBase(operation),
  '/models': `/openai/v1/${operation}`,
  '/anthropic': `/openai/v1/${operation}`,
})

/**
 * A resource of Azure OpenAI or Microsoft Foundry. Its address says in which of its forms it is asked: `…/openai/v1`,
 * the older `…/openai`, or `…/models` of a Foundry resource. Which deployments it has only the operator knows.
 */
export const azure = defineProvider({
  slug: 'azure',
  name: 'Azure OpenAI',
  baseUrl: null,
  baseUrlEndings: ['/openai/v1', '/openai', '/models', '/anthropic'],
  auth: { type: 'header', name: 'api-key', prefix: '' },
  // A token of Entra, which somebody must renew every hour.
  keyForms: { bearer },
  author: 'openai',
  // It lists the models that could be deployed, not those that are.
  listing: null,
  onlyListed: true,
  pricesProviderId: 'azure',
  modelRules: openAiService,
  hostsManyMakers: true,
  adapters: {
    language: [
      onlyFor((asked) => isNoClaude(asked) && isResponsesServed(asked), {
        ...openAiResponses(openAiResponsesOptions),
        elsewhere: { '/models': '/openai/v1/responses' },
      }),
      onlyFor((asked) => isNoClaude(asked) && isChatServed(asked), {
        ...openAiChat(openAiChatOptions),
        elsewhere: olderBase('chat/completions'),
      }),
      // Deployments of Claude have the format of their maker alone, beside the rest.
      onlyFor(named(claude), {
        ...anthropicMessages({ modelOf: claudeOf }),
        elsewhere: {
          '/openai/v1': '/anthropic/v1/messages',
          '/openai': '/anthropic/v1/messages',
          '/models': '/anthropic/v1/messages',
          '/anthropic': '/anthropic/v1/messages',
        },
        auth: { 'api-key': { type: 'header', name: 'x-api-key', prefix: '' } },
        headers: { 'anthropic-version': '2023-06-01' },
      }),
    ],
    embedding: [{ ...openAiEmbeddings(openAiEmbeddingsOptions), elsewhere: olderBase('embeddings') }],
    transcription: openAiTranscription({
      ...openAiTranscriptionOptions,
      elsewhere: audioElsewhere('audio/transcriptions'),
    }),
    speech: openAiSpeech({ elsewhere: audioElsewhere('audio/speech') }),
  },
})
