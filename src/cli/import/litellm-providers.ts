import { findPreset } from '../../providers/registry.ts'
import type { Preset } from '../../providers/define-provider.ts'

/** Providers whose LiteLLM name differs from this gateway's. */
const slugOf: Readonly<Record<string, string>> = {
  azure_ai: 'azure',
  custom_openai: 'custom',
  fireworks_ai: 'fireworks',
  gemini: 'google-ai-studio',
  hosted_vllm: 'vllm',
  litellm_proxy: 'custom',
  lm_studio: 'lmstudio',
  ollama_chat: 'ollama',
  openai_like: 'custom',
  'text-completion-openai': 'openai',
  together_ai: 'together',
}

/** LiteLLM's providers that have no counterpart here; listed so that their names are not taken for a model's author. */
const unknownHere: ReadonlySet<string> = new Set([
  'ai21',
  'anyscale',
  'baseten',
  'bedrock',
  'cloudflare',
  'cohere',
  'cohere_chat',
  'dashscope',
  'databricks',
  'elevenlabs',
  'github',
  'huggingface',
  'jina_ai',
  'nvidia_nim',
  'predibase',
  'replicate',
  'sagemaker',
  'triton',
  'vertex_ai',
  'vertex_ai_beta',
  'volcengine',
  'voyage',
  'watsonx',
])

/** The providers that LiteLLM infers from bare model names. */
const inferred: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-|o\d|chatgpt-|codex-|text-embedding-|whisper-|tts-)/, 'openai'],
  [/^claude-/, 'anthropic'],
]

/** A deployment's `model` in parts. */
export interface LitellmModel {
  /** The provider, by LiteLLM's name. */
  provider: string
  /** The model, by the provider's name. */
  name: string
}

/** The model and the provider that LiteLLM means; null when the provider is unknown here. */
export function parseLitellmModel(model: string, stated: string | null): LitellmModel | null {
  const slash = model.indexOf('/')
  const prefix = slash > 0 ? model.slice(0, slash) : null
  if (stated !== null) {
    const name = prefix === stated ? model.slice(slash + 1) : model
    return { provider: stated, name }
  }
  if (prefix !== null && isProvider(prefix)) return { provider: prefix, name: model.slice(slash + 1) }
  const found = inferred.find(([pattern]) => pattern.test(model))
  return found ? { provider: found[1], name: model } : null
}

function isProvider(name: string): boolean {
  return unknownHere.has(name) || presetFor(name) !== null
}

/** The preset of a provider, by LiteLLM's name; null when this gateway has none. */
export function presetFor(provider: string): Preset | null {
  const preset = findPreset(Object.hasOwn(slugOf, provider) ? (slugOf[provider] ?? provider) : provider)
  return preset?.isSimulator ? null : preset
}

/** Whether this name with a URL means any server of the format. */
export function isAnyServer(provider: string): boolean {
  return provider === 'openai' || provider === 'text-completion-openai'
}

/** The environment variables that LiteLLM reads for a deployment without an address or a key, first ones first. */
export interface ProviderEnvironment {
  addresses: readonly string[]
  keys: readonly string[]
}

const ofOpenAi = { addresses: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'], keys: ['OPENAI_API_KEY'] }

/** Those whose variables are not `<PROVIDER>_API_BASE` and `<PROVIDER>_API_KEY`, in LiteLLM 1.109. */
const environments: Readonly<Record<string, Partial<ProviderEnvironment>>> = {
  openai: ofOpenAi,
  'text-completion-openai': ofOpenAi,
  custom_openai: ofOpenAi,
  anthropic: { addresses: ['ANTHROPIC_API_BASE', 'ANTHROPIC_BASE_URL'] },
  azure: { keys: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'] },
  fireworks_ai: {
    addresses: ['FIREWORKS_API_BASE'],
    keys: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY', 'FIREWORKSAI_API_KEY', 'FIREWORKS_AI_TOKEN'],
  },
  gemini: { keys: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'] },
  mistral: {
    addresses: ['MISTRAL_AZURE_API_BASE', 'MISTRAL_API_BASE'],
    keys: ['MISTRAL_AZURE_API_KEY', 'MISTRAL_API_KEY'],
  },
  ollama_chat: { addresses: ['OLLAMA_API_BASE'], keys: ['OLLAMA_API_KEY'] },
  openrouter: { keys: ['OPENROUTER_API_KEY', 'OR_API_KEY'] },
  perplexity: { keys: ['PERPLEXITYAI_API_KEY', 'PERPLEXITY_API_KEY'] },
  together_ai: {
    keys: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY', 'TOGETHERAI_API_KEY', 'TOGETHER_AI_TOKEN'],
  },
}

/** The variables of a provider, by LiteLLM's name. */
export function environmentOf(provider: string): ProviderEnvironment {
  const word = provider.toUpperCase().replaceAll('-', '_')
  const usual = { addresses: [`${word}_API_BASE`], keys: [`${word}_API_KEY`] }
  return Object.hasOwn(environments, provider) ? { ...usual, ...environments[provider] } : usual
}
