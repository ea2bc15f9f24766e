import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import type { TextPath } from '../../formats/text/text-interface.ts'
import { bedrockModels } from '../amazon-bedrock/capabilities.ts'
import { awsLoginFor } from '../amazon-bedrock/login.ts'
import { nameBehind, publicNameOf } from '../amazon-bedrock/public-names.ts'
import { bedrockChatOptions, bedrockResponsesOptions, plainNameOf } from '../amazon-bedrock/quirks.ts'
import { claudeHourWrites, claudeOf } from '../anthropic/quirks.ts'
import { defineProvider, named, notNamed, onlyFor } from '../define-provider.ts'

const claude = /anthropic[./]/
const isNoClaude = notNamed(claude)

/** OpenAI's closed models are below another path than all others, and each path refuses the other's. */
const closed = /^openai\.(?!gpt-oss)/

const pathOf =
  (operation: string): TextPath =>
  ({ model }) =>
    `${closed.test(plainNameOf(model)) ? '/openai' : ''}/v1/${operation}`

/**
 * Amazon's other endpoint for models, which has no Converse: OpenAI's formats for most, Anthropic's for Claude. Its names
 * have neither a geography nor a version.
 */
export const amazonBedrockMantle = defineProvider({
  slug: 'amazon-bedrock-mantle',
  name: 'Amazon Bedrock Mantle',
  status: 'recorded',
  baseUrl: 'https://bedrock-mantle.{region}.api.aws',
  keyVariable: null,
  identity: { kind: 'aws', fetch: awsLoginFor('bedrock-mantle') },
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
      onlyFor(isNoClaude, openAiChat(bedrockChatOptions, pathOf('chat/completions'))),
      onlyFor(isNoClaude, openAiResponses(bedrockResponsesOptions, pathOf('responses'))),
      {
        ...onlyFor(
          named(claude),
          anthropicMessages(
            { modelOf: (name) => claudeOf(plainNameOf(name)), addresses: { image: 'none', file: 'none' } },
            '/anthropic/v1/messages',
          ),
        ),
        headers: { 'anthropic-version': '2023-06-01' },
      },
    ],
  },
})
