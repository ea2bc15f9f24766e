import { AnthropicBedrockMantle } from '@anthropic-ai/bedrock-sdk'
import OpenAI from 'openai'

const messages = [{ role: 'user', content: 'Say hello' }]

export const intentions = {
  plain: ({ url, key }) =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 }).chat.completions.create({
      model: 'openai.gpt-oss-120b',
      messages,
      max_completion_tokens: 100,
    }),
  messages: ({ url, key }) =>
    new AnthropicBedrockMantle({
      awsRegion: 'us-east-1',
      baseURL: `${url}/anthropic`,
      apiKey: key,
      maxRetries: 0,
    }).messages.create({ model: 'anthropic.claude-opus-4-8', max_tokens: 100, messages }),
}
