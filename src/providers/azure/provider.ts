import type { TextPath } from '../../formats/text/text-interface.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { claudeOf } from '../anthropic/quirks.ts'
import { bearer, defineProvider, named, notNamed, onlyFor } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { azureBatchJobs } from './jobs.ts'
import { fetchEntraLogin } from './login.ts'
import { openAiService } from '../openai/capabilities.ts'
import {
  isChatServed,
  isResponsesServed,
  openAiChatOptions,
  openAiEmbeddingsOptions,
  openAiResponsesOptions,
  openAiTranscriptionOptions,
} from '../openai/quirks.ts'

/** Before `v1` the path had the deployment, and the query the version; the configuration's `query` sets the version. */
const olderBase = (operation: string): Readonly<Record<string, TextPath>> => ({
  '/openai': ({ model }) => `/openai/deployments/${encodeURIComponent(model)}/${operation}`,
})

const claude = /claude/i
const isNoClaude = notNamed(claude)

/** Sound is always requested below `v1`, except with the older form of URL. */
const audioElsewhere = (operation: string): Readonly<Record<string, TextPath>> => ({
  ...olderBase(operation),
  '/models': `/openai/v1/${operation}`,
  '/anthropic': `/openai/v1/${operation}`,
})

/**
 * A resource of Azure OpenAI or Microsoft Foundry. The end of its URL decides the form: `…/openai/v1`, the older
 * `…/openai`, or `…/models` of a Foundry resource. Only the operator knows its deployments.
 */
export const azure = defineProvider({
  slug: 'azure',
  name: 'Azure OpenAI',
  baseUrl: null,
  baseUrlEndings: ['/openai/v1', '/openai', '/models', '/anthropic'],
  auth: { type: 'header', name: 'api-key', prefix: '' },
  // A token of Entra that the operator renews; with `identity`, the gateway does.
  keyForms: { bearer },
  identity: { kind: 'entra', fetch: fetchEntraLogin },
  author: 'openai',
  // The listing has the models that could be deployed, not those that are deployed.
  listing: null,
  onlyListed: true,
  pricesProviderId: 'azure',
  modelRules: openAiService,
  hostsManyMakers: true,
  // Half of all tokens: https://learn.microsoft.com/azure/foundry/openai/how-to/batch
  tiers: [{ tier: 'batch', models: /./, share: [1n, 2n] }],
  // Only deployments of the type Global Batch or Data Zone Batch take jobs, and the operator alone knows them.
  jobs: azureBatchJobs,
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
      // Deployments of Claude have only Anthropic's format, below another path.
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
