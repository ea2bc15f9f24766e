import type { DataPolicy } from '../canonical/endpoint.ts'
import { openAiMembers, type ChatQuirkOptions } from '../formats/chat/chat-quirks.ts'
import type { EmbeddingsQuirkOptions } from '../formats/embeddings/embeddings-codec.ts'
import { openAiSpeech, pcmFromWav } from '../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../formats/transcription/openai-transcription.ts'
import type { MessagesModel } from '../formats/messages/messages-quirks.ts'
import {
  anthropicMessages,
  defineProvider,
  openAiChat,
  openAiEmbeddings,
  type Preset,
} from './define-provider.ts'

/** On the operator's own machines nothing leaves. */
const ownMachine: DataPolicy = { zdr: true, trains: false, stores: false }

const openAiChatOptions: ChatQuirkOptions = {
  // Its reasoning models refuse `max_tokens`; all its models take the newer name.
  maxTokensField: 'max_completion_tokens',
  accepts: openAiMembers,
  developerRole: true,
  answerMembers: true,
  userLengthMax: 64,
}
const openAiEmbeddingsOptions: EmbeddingsQuirkOptions = { base64: true, tokenArrays: true, user: true }

export const openai = defineProvider({
  slug: 'openai',
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  author: 'openai',
  pricesProviderId: 'openai',
  dataPolicy: { zdr: false, trains: false, stores: true },
  batch: 'native',
  adapters: {
    language: [openAiChat(openAiChatOptions)],
    embedding: [openAiEmbeddings(openAiEmbeddingsOptions)],
    transcription: openAiTranscription(),
    speech: openAiSpeech(),
  },
})

/** Opus from 4.7 on, and every family from 5 on: no sampling, and thinking as the model sees fit. */
const newestClaude = /claude-(?:opus-4-[7-9]|(?:opus|sonnet|haiku|fable)-[5-9])/
/** What came with 4.5: answers held to a schema, and longer ones. */
const newerClaude = /claude-(?:opus|sonnet|haiku)-4-[5-9]/

/** What a Claude takes, by its name. */
function claudeOf(model: string): MessagesModel {
  const isNewest = newestClaude.test(model)
  const isNewer = isNewest || newerClaude.test(model)
  return {
    hasSampling: !isNewest,
    thinking: isNewest ? 'adaptive' : 'budget',
    hasEffort: isNewest,
    hasSchema: isNewer,
    hasSystemTurns: isNewest,
    outputTokensMax: isNewer ? 64_000 : 8_192,
  }
}

export const anthropic = defineProvider({
  slug: 'anthropic',
  name: 'Anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  auth: { type: 'header', name: 'x-api-key', prefix: '' },
  // Later versions refuse sampling also where the model takes it.
  headers: { 'anthropic-version': '2023-06-01' },
  keyVariable: 'ANTHROPIC_API_KEY',
  author: 'anthropic',
  pricesProviderId: 'anthropic',
  dataPolicy: { zdr: false, trains: false, stores: true },
  adapters: { language: [anthropicMessages({ modelOf: claudeOf })] },
})

export const groq = defineProvider({
  slug: 'groq',
  name: 'Groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  keyVariable: 'GROQ_API_KEY',
  author: 'groq',
  pricesProviderId: 'groq',
  adapters: {
    language: [
      openAiChat({
        maxTokensField: 'max_completion_tokens',
        accepts: ['reasoning_format', 'include_reasoning'],
        drops: ['logprobs', 'top_logprobs', 'logit_bias'],
        // Flex costs what the default costs; the performance tier has prices of its own.
        serviceTiers: ['auto', 'on_demand', 'flex'],
        messageNames: false,
        choicesMax: 1,
        temperatureMin: 1e-8,
      }),
    ],
    transcription: openAiTranscription({ isAlwaysVerbose: true, urlField: 'url' }),
    // Only WAV is documented for its voices: samples are taken out of it, mp3 is not offered.
    speech: openAiSpeech({ pcm: pcmFromWav }),
  },
  audio: { transcription: { url: true }, speech: { speechFormats: ['pcm'] } },
})

export const together = defineProvider({
  slug: 'together',
  name: 'Together',
  baseUrl: 'https://api.together.ai/v1',
  keyVariable: 'TOGETHER_API_KEY',
  author: 'together',
  listing: { path: '/models', shape: 'bare_array' },
  pricesProviderId: 'together',
  adapters: {
    language: [
      openAiChat({
        accepts: ['top_k', 'min_p', 'repetition_penalty', 'context_length_exceeded_behavior'],
        reasoning: 'object',
      }),
    ],
    embedding: [openAiEmbeddings()],
    // Without a language it would take everything for English.
    transcription: openAiTranscription({ urlField: 'file', languageWhenOmitted: 'auto' }),
    speech: openAiSpeech({
      pcm: {
        name: 'raw',
        members: { response_encoding: 'pcm_s16le', sample_rate: 24_000 },
        output: { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 },
      },
    }),
  },
  audio: { transcription: { url: true } },
})

export const mistral = defineProvider({
  slug: 'mistral',
  name: 'Mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  keyVariable: 'MISTRAL_API_KEY',
  author: 'mistralai',
  pricesProviderId: 'mistral',
  adapters: {
    language: [
      openAiChat({
        // It refuses unknown members, and tells usage in the last chunk unasked.
        streamOptions: 'drop',
        renames: { seed: 'random_seed' },
        accepts: ['prompt_cache_key', 'safe_prompt', 'prompt_mode', 'random_seed'],
        drops: ['logit_bias', 'logprobs', 'top_logprobs', 'user', 'functions', 'function_call'],
        toolChoiceRequired: 'any',
        messageNames: false,
        toolMessageNames: true,
        shortToolCallIds: true,
      }),
    ],
    embedding: [openAiEmbeddings({ dimensionsField: 'output_dimension' })],
    transcription: openAiTranscription({
      granularitiesField: 'timestamp_granularities',
      hasWordsInSegments: true,
      hasResponseFormat: false,
      urlField: 'file_url',
      keytermsField: 'context_bias',
      combinesLanguageAndTimes: false,
    }),
  },
  audio: { transcription: { url: true, keyterms: true, verboseJson: true } },
})

export const fireworks = defineProvider({
  slug: 'fireworks',
  name: 'Fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  keyVariable: 'FIREWORKS_API_KEY',
  author: 'fireworks',
  pricesProviderId: 'fireworks',
  adapters: {
    language: [
      openAiChat({
        streamOptions: 'drop',
        accepts: [
          'top_k',
          'min_p',
          'repetition_penalty',
          'context_length_exceeded_behavior',
          'prompt_truncate_len',
          'reasoning_history',
        ],
        reasoningHistory: 'reasoning_content',
      }),
    ],
    embedding: [openAiEmbeddings()],
  },
})

export const deepinfra = defineProvider({
  slug: 'deepinfra',
  name: 'DeepInfra',
  baseUrl: 'https://api.deepinfra.com/v1/openai',
  keyVariable: 'DEEPINFRA_API_KEY',
  author: 'deepinfra',
  adapters: {
    language: [
      openAiChat({
        accepts: ['top_k', 'min_p', 'repetition_penalty'],
        // Some of its models leave reasoning out of the completion's count.
        reasoningNotCounted: true,
      }),
    ],
    embedding: [openAiEmbeddings()],
    transcription: openAiTranscription(),
    speech: openAiSpeech(),
  },
})

export const deepseek = defineProvider({
  slug: 'deepseek',
  name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  keyVariable: 'DEEPSEEK_API_KEY',
  author: 'deepseek',
  pricesProviderId: 'deepseek',
  adapters: {
    language: [
      openAiChat({
        accepts: ['thinking'],
        renames: { user: 'user_id' },
        drops: ['seed', 'logit_bias'],
        jsonSchema: false,
        choicesMax: 1,
        // With thinking on, it refuses tool conversations whose earlier reasoning does not come back.
        reasoningHistory: 'reasoning_content',
      }),
    ],
  },
})

export const ollama = defineProvider({
  slug: 'ollama',
  name: 'Ollama',
  baseUrl: 'http://localhost:11434/v1',
  baseUrlVariable: 'OLLAMA_BASE_URL',
  author: 'ollama',
  inspection: 'ollama',
  isLocal: true,
  dataPolicy: ownMachine,
  adapters: {
    language: [
      openAiChat({
        unknownMembers: 'forward',
        // It would ignore these; the caller should hear of it.
        drops: ['tool_choice', 'logit_bias', 'user'],
        choicesMax: 1,
        reasoning: 'object',
        reasoningHistory: 'reasoning',
      }),
    ],
    embedding: [openAiEmbeddings({ unknownMembers: 'forward' })],
  },
})

export const vllm = defineProvider({
  slug: 'vllm',
  name: 'vLLM',
  baseUrl: 'http://localhost:8000/v1',
  baseUrlVariable: 'VLLM_BASE_URL',
  author: 'vllm',
  isLocal: true,
  dataPolicy: ownMachine,
  adapters: {
    language: [
      openAiChat({
        unknownMembers: 'forward',
        accepts: ['top_k', 'min_p', 'repetition_penalty'],
        drops: ['user'],
        reasoningHistory: 'reasoning',
      }),
    ],
    embedding: [openAiEmbeddings({ base64: true, tokenArrays: true, unknownMembers: 'forward' })],
    transcription: openAiTranscription(),
  },
})

export const llamacpp = defineProvider({
  slug: 'llamacpp',
  name: 'llama.cpp',
  baseUrl: 'http://localhost:8080/v1',
  baseUrlVariable: 'LLAMACPP_BASE_URL',
  author: 'llamacpp',
  inspection: 'llamacpp',
  isLocal: true,
  dataPolicy: ownMachine,
  adapters: {
    language: [
      openAiChat({
        unknownMembers: 'forward',
        accepts: ['top_k', 'min_p'],
        renames: { repetition_penalty: 'repeat_penalty' },
        reasoningHistory: 'reasoning_content',
      }),
    ],
    embedding: [
      openAiEmbeddings({
        dimensionsField: null,
        base64: true,
        tokenArrays: true,
        unknownMembers: 'forward',
      }),
    ],
  },
})

/** Any other server that speaks OpenAI's formats: what the caller sends goes through as it is. */
export const custom = defineProvider({
  slug: 'custom',
  name: 'Custom',
  baseUrl: null,
  author: 'custom',
  adapters: {
    language: [
      openAiChat({
        maxTokensField: 'as_sent',
        unknownMembers: 'forward',
        accepts: [
          ...openAiMembers,
          'top_k',
          'min_p',
          'top_a',
          'repetition_penalty',
          'image_config',
          'cache_control',
        ],
        reasoning: 'object',
        reasoningHistory: 'keep',
        developerRole: true,
      }),
    ],
    embedding: [
      openAiEmbeddings({
        tokenArrays: true,
        contentInputs: true,
        inputType: true,
        user: true,
        unknownMembers: 'forward',
      }),
    ],
    transcription: openAiTranscription(),
    speech: openAiSpeech(),
  },
})

/** The simulator. It answers under the names of real models, so that every example of the documentation works. */
export const sandbox = defineProvider({
  slug: 'sandbox',
  name: 'Sandbox',
  baseUrl: null,
  author: 'openai',
  pricesProviderId: 'openai',
  dataPolicy: ownMachine,
  batch: 'native',
  adapters: {
    language: [openAiChat(openAiChatOptions)],
    embedding: [openAiEmbeddings(openAiEmbeddingsOptions)],
    transcription: openAiTranscription(),
    speech: openAiSpeech(),
  },
})

/** Every provider, in the order documentation lists them. */
export const presets: readonly Preset[] = [
  openai,
  anthropic,
  groq,
  together,
  mistral,
  fireworks,
  deepinfra,
  deepseek,
  ollama,
  vllm,
  llamacpp,
  custom,
  sandbox,
]

/** The preset of that slug, or null. */
export function findPreset(slug: string): Preset | null {
  return presets.find((preset) => preset.slug === slug) ?? null
}
