import { bedrockEmbeddings } from '../../formats/invoke/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { bedrockConverse } from '../../formats/text/converse/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { clientTools, cloudBetas, claudeHourWrites, claudeOf } from '../anthropic/quirks.ts'
import { defineProvider, named, onlyFor } from '../define-provider.ts'
import { bedrockModels } from './capabilities.ts'
import { awsLoginFor } from './login.ts'
import { nameBehind, publicNameOf } from './public-names.ts'
import { bedrockChatOptions, bedrockModelOf, bedrockResponsesOptions, plainNameOf } from './quirks.ts'

const claude = /anthropic[./]/
const openAiModel = /^openai[./]/

/**
 * Models of many makers at Amazon, in the account and region of the operator. Without an API key, requests are signed with
 * the keys that the configuration names or that are found as Amazon's own tools find them. The operator names the models:
 * which of them an account may use, and in which geography, is told by no listing that a key of this service may read.
 * Callers of OpenAI's and Anthropic's formats reach the makers' own models in these formats, all others by Converse.
 */
export const amazonBedrock = defineProvider({
  slug: 'amazon-bedrock',
  name: 'Amazon Bedrock',
  status: 'recorded',
  baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  identity: { kind: 'aws', fetch: awsLoginFor('bedrock') },
  placeVariables: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
  author: 'amazon',
  listing: null,
  onlyListed: true,
  pricesProviderId: 'aws',
  hourWrites: claudeHourWrites,
  publicName: publicNameOf,
  nameBehind,
  modelRules: bedrockModels,
  hostsManyMakers: true,
  dataPolicy: { zdr: true, trains: false, stores: false },
  adapters: {
    language: [
      onlyFor(named(openAiModel), openAiChat(bedrockChatOptions, '/openai/v1/chat/completions')),
      onlyFor(named(openAiModel), openAiResponses(bedrockResponsesOptions, '/openai/v1/responses')),
      bedrockConverse({ modelOf: bedrockModelOf }),
      {
        ...onlyFor(
          named(claude),
          anthropicMessages(
            {
              modelOf: (name) => claudeOf(plainNameOf(name)),
              inBody: {
                version: 'bedrock-2023-05-31',
                hasStream: false,
                hasBetas: true,
                betas: cloudBetas,
                serverTools: clientTools,
              },
              addresses: { image: 'none', file: 'none' },
            },
            ({ model, stream }) =>
              `/model/${encodeURIComponent(model)}/${stream ? 'invoke-with-response-stream' : 'invoke'}`,
          ),
        ),
        framing: 'amazon',
      },
    ],
    embedding: [bedrockEmbeddings()],
  },
})
