import { bedrockConverse } from '../../formats/text/converse/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { bedrockModels } from './capabilities.ts'
import { fetchAwsLogin } from './login.ts'
import { publicNameOf } from './public-names.ts'
import { bedrockModelOf } from './quirks.ts'

/**
 * Models of many makers at Amazon, in the account and region of the operator. Without an API key, requests are signed with
 * the keys that the configuration names or that are found as Amazon's own tools find them. The operator names the models:
 * which of them an account may use, and in which geography, is told by no listing that a key of this service may read.
 */
export const amazonBedrock = defineProvider({
  slug: 'amazon-bedrock',
  name: 'Amazon Bedrock',
  status: 'recorded',
  baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  identity: { kind: 'aws', fetch: fetchAwsLogin },
  placeVariables: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
  author: 'amazon',
  listing: null,
  onlyListed: true,
  pricesProviderId: 'aws',
  publicName: publicNameOf,
  modelRules: bedrockModels,
  hostsManyMakers: true,
  dataPolicy: { zdr: true, trains: false, stores: false },
  adapters: { language: [bedrockConverse({ modelOf: bedrockModelOf })] },
})
