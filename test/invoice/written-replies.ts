import type { UpstreamFormat } from '../recordings/recorded.ts'
import type { Wire } from '../recordings/wire.ts'

/** What a reply that nobody recorded counts, written after the documents of its provider. */
export interface WrittenUsage {
  format: UpstreamFormat | 'converse' | 'cohere'
  usage: Wire
}

/** Long prompts, pictures, sound and caches, which the recordings hardly have; by the names of the invoice. */
export const writtenUsages: Readonly<Record<string, WrittenUsage>> = {
  'written/claude writes for five minutes': {
    format: 'messages',
    usage: {
      input_tokens: 40,
      cache_creation_input_tokens: 12000,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 12000, ephemeral_1h_input_tokens: 0 },
      output_tokens: 310,
    },
  },
  'written/claude writes for an hour': {
    format: 'messages',
    usage: {
      input_tokens: 40,
      cache_creation_input_tokens: 12000,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 12000 },
      output_tokens: 310,
    },
  },
  'written/claude writes for both times': {
    format: 'messages',
    usage: {
      input_tokens: 15,
      cache_creation_input_tokens: 7500,
      cache_read_input_tokens: 2000,
      cache_creation: { ephemeral_5m_input_tokens: 3000, ephemeral_1h_input_tokens: 4500 },
      output_tokens: 777,
    },
  },
  'written/claude reads what it wrote': {
    format: 'messages',
    usage: {
      input_tokens: 9,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 98304,
      output_tokens: 1,
    },
  },
  'written/claude writes and reads': {
    format: 'messages',
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 733,
      cache_read_input_tokens: 50001,
      output_tokens: 64000,
    },
  },
  'written/claude with an image': { format: 'messages', usage: { input_tokens: 1611, output_tokens: 95 } },
  'written/claude opus with a document': {
    format: 'messages',
    usage: { input_tokens: 33333, output_tokens: 2222 },
  },
  'written/claude streams with a cache': {
    format: 'messages',
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 2048,
      cache_read_input_tokens: 1024,
      output_tokens: 333,
    },
  },
  'written/claude streams an hour of cache': {
    format: 'messages',
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 2048,
      cache_read_input_tokens: 1024,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 2048 },
      output_tokens: 333,
    },
  },
  'written/gpt with an image': {
    format: 'chat',
    usage: { prompt_tokens: 1105, completion_tokens: 61, total_tokens: 1166 },
  },
  'written/gpt with an image and a cache': {
    format: 'responses',
    usage: {
      input_tokens: 2130,
      input_tokens_details: { cached_tokens: 1024 },
      output_tokens: 3000,
      output_tokens_details: { reasoning_tokens: 2900 },
      total_tokens: 5130,
    },
  },
  'written/gpt nano with a cache': {
    format: 'chat',
    usage: {
      prompt_tokens: 4173,
      completion_tokens: 1001,
      total_tokens: 5174,
      prompt_tokens_details: { cached_tokens: 4096, audio_tokens: 0 },
    },
  },
  'written/gpt below the long price': {
    format: 'responses',
    usage: {
      input_tokens: 271999,
      input_tokens_details: { cached_tokens: 71999 },
      output_tokens: 1000,
      total_tokens: 272999,
    },
  },
  'written/gpt above the long price': {
    format: 'responses',
    usage: {
      input_tokens: 272001,
      input_tokens_details: { cached_tokens: 72001 },
      output_tokens: 1000,
      total_tokens: 273001,
    },
  },
  'written/gpt streams a long prompt': {
    format: 'responses',
    usage: { input_tokens: 300001, output_tokens: 17, total_tokens: 300018 },
  },
  'written/gpt codex with a cache': {
    format: 'responses',
    usage: {
      input_tokens: 90125,
      input_tokens_details: { cached_tokens: 90112 },
      output_tokens: 4321,
      output_tokens_details: { reasoning_tokens: 4000 },
      total_tokens: 94446,
    },
  },
  'written/gpt hears and speaks': {
    format: 'chat',
    usage: {
      prompt_tokens: 140,
      completion_tokens: 95,
      total_tokens: 235,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 126 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 83 },
    },
  },
  'written/gpt speaks': {
    format: 'chat',
    usage: {
      prompt_tokens: 501,
      completion_tokens: 2055,
      total_tokens: 2556,
      completion_tokens_details: { audio_tokens: 2048 },
    },
  },
  'written/gpt hears': {
    format: 'chat',
    usage: {
      prompt_tokens: 10019,
      completion_tokens: 60,
      total_tokens: 10079,
      prompt_tokens_details: { audio_tokens: 9999 },
    },
  },
  'written/gemini at the bound': {
    format: 'gemini',
    usage: {
      promptTokenCount: 200000,
      candidatesTokenCount: 700,
      thoughtsTokenCount: 200,
      totalTokenCount: 200900,
    },
  },
  'written/gemini above the bound': {
    format: 'gemini',
    usage: {
      promptTokenCount: 200001,
      cachedContentTokenCount: 50000,
      candidatesTokenCount: 700,
      thoughtsTokenCount: 200,
      totalTokenCount: 200901,
    },
  },
  'written/gemini with an image': {
    format: 'gemini',
    usage: {
      promptTokenCount: 1290,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 8 },
        { modality: 'IMAGE', tokenCount: 1282 },
      ],
      candidatesTokenCount: 110,
      thoughtsTokenCount: 300,
      totalTokenCount: 1700,
    },
  },
  'written/gemini hears': {
    format: 'gemini',
    usage: {
      promptTokenCount: 1945,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 25 },
        { modality: 'AUDIO', tokenCount: 1920 },
      ],
      candidatesTokenCount: 38,
      totalTokenCount: 1983,
    },
  },
  'written/gemini with a cache': {
    format: 'gemini',
    usage: {
      promptTokenCount: 32888,
      cachedContentTokenCount: 32768,
      candidatesTokenCount: 5500,
      thoughtsTokenCount: 55,
      totalTokenCount: 38443,
    },
  },
  'written/grok counts reasoning apart': {
    format: 'chat',
    usage: {
      prompt_tokens: 192,
      completion_tokens: 66,
      total_tokens: 1258,
      prompt_tokens_details: { text_tokens: 192, cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 1000 },
    },
  },
  'written/grok code with a cache': {
    format: 'responses',
    usage: {
      input_tokens: 20485,
      input_tokens_details: { cached_tokens: 20480 },
      output_tokens: 999,
      output_tokens_details: { reasoning_tokens: 900 },
      total_tokens: 21484,
    },
  },
  'written/grok mini reasons': {
    format: 'chat',
    usage: {
      prompt_tokens: 31,
      completion_tokens: 12,
      total_tokens: 643,
      completion_tokens_details: { reasoning_tokens: 600 },
    },
  },
  'written/groq answers': {
    format: 'chat',
    usage: {
      prompt_tokens: 3333,
      completion_tokens: 4444,
      total_tokens: 7777,
      queue_time: 0.1,
      total_time: 1.5,
    },
  },
  'written/groq streams its usage apart': {
    format: 'chat',
    usage: { prompt_tokens: 1234, completion_tokens: 5678, total_tokens: 6912 },
  },
  'written/deepseek hits its cache': {
    format: 'chat',
    usage: {
      prompt_tokens: 128022,
      completion_tokens: 8192,
      total_tokens: 136214,
      prompt_cache_hit_tokens: 128000,
      prompt_cache_miss_tokens: 22,
      completion_tokens_details: { reasoning_tokens: 8000 },
    },
  },
  'written/deepseek misses its cache': {
    format: 'chat',
    usage: {
      prompt_tokens: 64000,
      completion_tokens: 8000,
      total_tokens: 72000,
      prompt_cache_hit_tokens: 0,
      prompt_cache_miss_tokens: 64000,
    },
  },
  'written/mistral answers': {
    format: 'chat',
    usage: { prompt_tokens: 40000, completion_tokens: 1999, total_tokens: 41999 },
  },
  // Converse counts what the cache has apart. https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
  'written/converse with both caches': {
    format: 'converse',
    usage: {
      inputTokens: 17,
      outputTokens: 801,
      totalTokens: 25818,
      cacheReadInputTokens: 20000,
      cacheWriteInputTokens: 5000,
      cacheDetails: [
        { ttl: '5m', inputTokens: 2000 },
        { ttl: '1h', inputTokens: 3000 },
      ],
    },
  },
  'written/converse without a geography': {
    format: 'converse',
    usage: {
      inputTokens: 3,
      outputTokens: 2000,
      totalTokens: 14003,
      cacheReadInputTokens: 0,
      cacheWriteInputTokens: 12000,
    },
  },
  'written/nova reads its cache': {
    format: 'converse',
    usage: {
      inputTokens: 250,
      outputTokens: 77,
      totalTokens: 4423,
      cacheReadInputTokens: 4096,
      cacheWriteInputTokens: 0,
    },
  },
  'written/llama by converse': {
    format: 'converse',
    usage: { inputTokens: 4321, outputTokens: 1234, totalTokens: 5555 },
  },
  'written/bedrock in the format of openai': {
    format: 'chat',
    usage: { prompt_tokens: 900, completion_tokens: 4100, total_tokens: 5000 },
  },
  'written/claude by bedrock in its own format': {
    format: 'messages',
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 3000,
      cache_read_input_tokens: 7000,
      cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
      output_tokens: 456,
    },
  },
  'written/claude in a region of vertex': {
    format: 'messages',
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 3000,
      cache_read_input_tokens: 7000,
      cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
      output_tokens: 456,
    },
  },
  'written/gemini of a project': {
    format: 'gemini',
    usage: {
      promptTokenCount: 5000,
      cachedContentTokenCount: 4096,
      candidatesTokenCount: 100,
      thoughtsTokenCount: 900,
      totalTokenCount: 6000,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 5000 }],
      cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 4096 }],
    },
  },
  // Cohere bills fewer tokens than its model has seen. https://docs.cohere.com/docs/how-does-cohere-pricing-work
  'written/cohere bills its own counts': {
    format: 'cohere',
    usage: {
      billed_units: { input_tokens: 111, output_tokens: 222 },
      tokens: { input_tokens: 604, output_tokens: 225 },
    },
  },
}

/** A whole reply with that usage. */
export function writtenReply(model: string, { format, usage }: WrittenUsage): Wire {
  const content = { type: 'text', text: 'Two tides a day.' }
  switch (format) {
    case 'chat': {
      const message = { role: 'assistant', content: content.text }
      return {
        id: 'w',
        object: 'chat.completion',
        model,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }
    }
    case 'messages':
      return {
        id: 'w',
        type: 'message',
        role: 'assistant',
        model,
        content: [content],
        stop_reason: 'end_turn',
        usage,
      }
    case 'responses': {
      const part = { type: 'output_text', text: content.text, annotations: [] }
      const output = [{ id: 'm', type: 'message', role: 'assistant', status: 'completed', content: [part] }]
      return { id: 'w', object: 'response', status: 'completed', model, output, usage }
    }
    case 'converse':
      return {
        output: { message: { role: 'assistant', content: [{ text: content.text }] } },
        stopReason: 'end_turn',
        usage,
        metrics: { latencyMs: 1 },
      }
    case 'cohere':
      return { id: 'w', finish_reason: 'COMPLETE', message: { role: 'assistant', content: [content] }, usage }
    case 'gemini': {
      const parts = [{ text: content.text }]
      const candidates = [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }]
      return { candidates, modelVersion: model, usageMetadata: usage }
    }
  }
}
