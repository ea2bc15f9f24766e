import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'

const clientOf = ({ url, key }) =>
  new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: url,
    token: { token: key },
    authSchemePreference: ['httpBearerAuth'],
    maxAttempts: 1,
    // Its usual one wants HTTP/2.
    requestHandler: new NodeHttpHandler(),
  })
const anthropicOf = ({ url, key }) =>
  new AnthropicBedrock({ awsRegion: 'us-east-1', baseURL: url, apiKey: key, maxRetries: 0 })
const nova = 'us.amazon.nova-2-lite-v1:0'
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const user = (text) => ({ role: 'user', content: [{ text }] })
const inferenceConfig = { maxTokens: 100 }
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const schema = { ...parameters, additionalProperties: false }
const hello = { max_tokens: 100, messages: [{ role: 'user', content: 'Say hello' }] }

const converse = (at, input) => clientOf(at).send(new ConverseCommand(input))
const invoke = (at, modelId, body) =>
  clientOf(at).send(
    new InvokeModelCommand({ modelId, contentType: 'application/json', body: JSON.stringify(body) }),
  )

export const intentions = {
  plain: (at) => converse(at, { modelId: nova, messages: [user('Say hello')], inferenceConfig }),
  tuned: (at) =>
    converse(at, {
      modelId: claude,
      system: [{ text: 'Be brief.' }],
      messages: [user('Say hello')],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ['END'] },
    }),
  tools: (at) =>
    converse(at, {
      modelId: nova,
      messages: [
        user('How is the weather in Oslo?'),
        {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'call_1', name: 'weather', input: { city: 'Oslo' } } }],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'call_1', content: [{ text: 'Rain' }] } },
            { text: 'And tomorrow?' },
          ],
        },
      ],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'weather',
              description: 'Weather of a city',
              inputSchema: { json: parameters },
            },
          },
        ],
        toolChoice: { any: {} },
      },
      inferenceConfig,
    }),
  schema: (at) =>
    converse(at, {
      modelId: claude,
      messages: [user('Name a city')],
      inferenceConfig,
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'city', schema: JSON.stringify(schema) } },
        },
      },
    }),
  streamed: async (at) => {
    const answer = await clientOf(at).send(
      new ConverseStreamCommand({ modelId: nova, messages: [user('Say hello')], inferenceConfig }),
    )
    for await (const _ of answer.stream ?? []) continue
  },
  effort: (at) =>
    converse(at, {
      modelId: nova,
      messages: [user('Think')],
      inferenceConfig: { maxTokens: 2_000 },
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
    }),
  messages: (at) => anthropicOf(at).messages.create({ model: claude, ...hello }),
  'messages-streamed': async (at) => {
    for await (const _ of await anthropicOf(at).messages.create({ model: claude, ...hello, stream: true }))
      continue
  },
  titan: (at) => invoke(at, 'amazon.titan-embed-text-v2:0', { inputText: 'Hello', dimensions: 256 }),
  cohere: (at) =>
    invoke(at, 'cohere.embed-v4:0', {
      texts: ['Hello'],
      input_type: 'search_query',
      embedding_types: ['float'],
    }),
}
