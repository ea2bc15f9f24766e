/** USD for a million tokens, as a page of the provider states them; typed in from there, never from the gateway's own tables. */
export interface ListedPrices {
  provider: string
  /** Of a cloud. */
  region?: string
  input: string
  output: string
  cached?: string
  written?: string
  writtenForAnHour?: string
  inputAudio?: string
  outputAudio?: string
  /** For calls with more tokens of input than so many, cached ones included. */
  long?: { above: number; input: string; cached: string; written?: string; output: string }
}

const opus5 = {
  provider: 'anthropic',
  input: '5',
  output: '25',
  cached: '0.50',
  written: '6.25',
  writtenForAnHour: '10',
}
const sonnet3 = {
  provider: 'anthropic',
  input: '3',
  output: '15',
  cached: '0.30',
  written: '3.75',
  writtenForAnHour: '6',
}
/** Sonnet before 4.6: one request with more input than so much, whatever its parts, costs twice as much to read. */
const longSonnet = {
  ...sonnet3,
  long: { above: 200_000, input: '6', cached: '0.60', written: '7.50', output: '22.50' },
}
const gpt5 = { provider: 'openai', input: '1.25', output: '10', cached: '0.125' }
const gpt52 = { provider: 'openai', input: '1.75', output: '14', cached: '0.175' }
const gpt54 = {
  provider: 'openai',
  input: '2.50',
  output: '15',
  cached: '0.25',
  long: { above: 272_000, input: '5', cached: '0.50', output: '22.50' },
}
const geminiPro = {
  provider: 'google-ai-studio',
  input: '2',
  output: '12',
  cached: '0.20',
  long: { above: 200_000, input: '4', cached: '0.40', output: '18' },
}
const grokFast = { provider: 'xai', input: '0.20', output: '0.50', cached: '0.05' }
/** Both names were one model in the two months before they ended. */
const deepSeek = { provider: 'deepseek', input: '0.28', output: '0.42', cached: '0.028' }

/** Claude from 4.5 on costs a tenth more where the calls stay in a geography or a region. */
const opusInPlace = {
  input: '5.50',
  output: '27.50',
  cached: '0.55',
  written: '6.875',
  writtenForAnHour: '11',
}
const sonnetAtAmazon = {
  provider: 'amazon-bedrock',
  region: 'us-east-1',
  input: '3.30',
  output: '16.50',
  cached: '0.33',
  written: '4.125',
  writtenForAnHour: '6.60',
}
const amazon = { provider: 'amazon-bedrock', region: 'us-east-1' }

/**
 * By the name the provider knows.
 * https://platform.claude.com/docs/en/about-claude/pricing and the page of each model
 * https://platform.openai.com/docs/pricing, standard tier
 * https://ai.google.dev/gemini-api/docs/pricing
 * https://docs.x.ai/docs/models, https://groq.com/pricing, https://mistral.ai/pricing
 * https://api-docs.deepseek.com/quick_start/pricing
 * https://aws.amazon.com/bedrock/pricing, https://cloud.google.com/vertex-ai/generative-ai/pricing
 * https://cohere.com/pricing
 */
export const priceLists: Readonly<Record<string, ListedPrices>> = {
  'claude-3-haiku-20240307': {
    provider: 'anthropic',
    input: '0.25',
    output: '1.25',
    cached: '0.03',
    written: '0.30',
  },
  'claude-3-opus-20240229': {
    provider: 'anthropic',
    input: '15',
    output: '75',
    cached: '1.50',
    written: '18.75',
  },
  'claude-haiku-4-5-20251001': {
    provider: 'anthropic',
    input: '1',
    output: '5',
    cached: '0.10',
    written: '1.25',
    writtenForAnHour: '2',
  },
  'claude-sonnet-4-20250514': longSonnet,
  'claude-sonnet-4-5-20250929': longSonnet,
  'claude-sonnet-4-6': sonnet3,
  'claude-sonnet-5': {
    provider: 'anthropic',
    input: '2',
    output: '10',
    cached: '0.20',
    written: '2.50',
    writtenForAnHour: '4',
  },
  'claude-opus-4-5-20251101': opus5,
  'claude-opus-4-6': opus5,
  'claude-opus-4-8': opus5,
  'claude-opus-5': opus5,
  'claude-fable-5': {
    provider: 'anthropic',
    input: '10',
    output: '50',
    cached: '1',
    written: '12.50',
    writtenForAnHour: '20',
  },
  'gpt-4.1-nano-2025-04-14': { provider: 'openai', input: '0.10', output: '0.40', cached: '0.025' },
  'gpt-5-nano-2025-08-07': { provider: 'openai', input: '0.05', output: '0.40', cached: '0.005' },
  'gpt-5-mini-2025-08-07': { provider: 'openai', input: '0.25', output: '2', cached: '0.025' },
  'gpt-5-codex': gpt5,
  'gpt-5.1-2025-11-13': gpt5,
  'gpt-5.1-codex-max': gpt5,
  'gpt-5.2-2025-12-11': gpt52,
  'gpt-5.2-codex': gpt52,
  'gpt-5.3-codex': gpt52,
  'gpt-5.4': gpt54,
  'gpt-5.4-2026-03-05': gpt54,
  'gpt-audio': { provider: 'openai', input: '2.50', output: '10', inputAudio: '32', outputAudio: '64' },
  'gemini-3-pro-preview': geminiPro,
  'gemini-3.1-pro-preview': geminiPro,
  'gemini-3-flash-preview': {
    provider: 'google-ai-studio',
    input: '0.50',
    output: '3',
    cached: '0.05',
    inputAudio: '1',
  },
  'grok-3-mini': { provider: 'xai', input: '0.30', output: '0.50', cached: '0.075' },
  'grok-4-fast-reasoning': grokFast,
  'grok-4-fast-non-reasoning': grokFast,
  'grok-code-fast-1': { provider: 'xai', input: '0.20', output: '1.50', cached: '0.02' },
  'llama-3.3-70b-versatile': { provider: 'groq', input: '0.59', output: '0.79' },
  'qwen/qwen3-32b': { provider: 'groq', input: '0.29', output: '0.59' },
  'magistral-medium-2507': { provider: 'mistral', input: '2', output: '5' },
  'deepseek-chat': deepSeek,
  'deepseek-reasoner': deepSeek,
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0': sonnetAtAmazon,
  'global.anthropic.claude-sonnet-4-5-20250929-v1:0': { ...sonnet3, ...amazon },
  'us.anthropic.claude-opus-4-5-20251101-v1:0': { ...opusInPlace, ...amazon },
  'us.amazon.nova-lite-v1:0': { ...amazon, input: '0.06', output: '0.24', cached: '0.015' },
  'us.meta.llama3-3-70b-instruct-v1:0': { ...amazon, input: '0.72', output: '0.72' },
  'openai.gpt-oss-120b-1:0': { ...amazon, input: '0.15', output: '0.60' },
  'claude-opus-4-5@20251101': { ...opusInPlace, provider: 'vertex-ai', region: 'us-east5' },
  'gemini-2.5-flash': {
    provider: 'vertex-ai',
    region: 'us-central1',
    input: '0.30',
    output: '2.50',
    cached: '0.03',
  },
  'command-a-03-2025': { provider: 'cohere', input: '2.50', output: '10' },
}
