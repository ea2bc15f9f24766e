import { type ConverseModel, plainModel } from '../../formats/text/converse/quirks.ts'
import type { ChatQuirkOptions } from '../../formats/text/chat/quirks.ts'
import type { ResponsesQuirkOptions } from '../../formats/text/responses/quirks.ts'
import { claudeOf } from '../anthropic/quirks.ts'
import { openAiChatOptions, openAiResponsesOptions } from '../openai/quirks.ts'

/** A geography in front of the name of an inference profile, and the whole name of one by its ARN. */
const profilePrefix =
  /^(?:(?:us|us-gov|eu|apac|jp|au|ca|sa|global|regional)\.)|^arn:aws[\w-]*:bedrock:[^/]*\/(?:(?:us|us-gov|eu|apac|jp|au|ca|sa|global)\.)?/

/** The name of the model without the geography of its profile, such as `anthropic.claude-opus-5`. */
export function plainNameOf(upstreamModel: string): string {
  return upstreamModel.replace(profilePrefix, '')
}

const claude: Partial<ConverseModel> = {
  topK: ['top_k'],
  hasToolChoice: true,
  hasImages: true,
  hasCachePoints: true,
  hasToolCachePoints: true,
  hasResultStatus: true,
}

/** Nova 2 thinks by three levels. */
const nova2 = /^amazon\.nova-2/
const nova = /^amazon\.nova/
/** Families without instructions, or without tools. */
const withoutSystem =
  /^amazon\.titan|^mistral\.(?:mistral-7b|mixtral)|^ai21\.j2|^cohere\.command-(?:text|light)/
const withoutTools =
  /^amazon\.titan|^meta\.llama(?:2|3-[0-9]+b)|^mistral\.(?:mistral-7b|mixtral)|^ai21\.j2|^cohere\.command-(?:text|light)|^deepseek\.r1/
const withImages = /llama3-2-(?:11|90)b|llama4|pixtral|qwen3-vl|gemma-3|mistral-large-3|ministral-3/
/** What is enforced by the service itself. https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html */
const withSchema =
  /^anthropic\.claude-(?:opus|sonnet|haiku|fable)-(?:4-[5-9]|[5-9])|^(?:qwen|openai|deepseek\.v3|google|minimax|moonshot|nvidia|mistral\.(?:magistral|ministral|mistral-large-3|voxtral))/
/** Models that write an hour's cache. */
const withHourCache = /^anthropic\.claude-(?:opus|sonnet|haiku|fable)-(?:4-[5-9]|[5-9])/

/** The members of Converse that a model takes, by its name. */
export function bedrockModelOf(upstreamModel: string): ConverseModel {
  const name = plainNameOf(upstreamModel)
  const common = {
    ...plainModel,
    hasSystem: !withoutSystem.test(name),
    hasTools: !withoutTools.test(name),
    hasImages: withImages.test(name),
    hasSchema: withSchema.test(name),
  }
  if (name.startsWith('anthropic.')) return claudeModelOf(name, common)
  if (nova.test(name))
    return {
      ...common,
      thinking: nova2.test(name) ? 'effort' : 'none',
      topK: ['inferenceConfig', 'topK'],
      hasToolChoice: true,
      hasImages: !name.includes('micro'),
      hasDocuments: !name.includes('micro'),
      hasCachePoints: true,
      // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html
      hasResultStatus: true,
      outputTokensMax: nova2.test(name) ? 65_535 : 10_000,
    }
  return { ...common, hasToolChoice: /^mistral\.(?:mistral-large|pixtral|magistral)/.test(name) }
}

function claudeModelOf(name: string, common: ConverseModel): ConverseModel {
  const { sampling, thinking, hasEffort, outputTokensMax } = claudeOf(name)
  return {
    ...common,
    ...claude,
    sampling,
    thinking,
    hasEffort,
    outputTokensMax,
    hasHourCache: withHourCache.test(name),
  }
}

/** OpenAI's models have its name in front here. */
const withoutMaker = (name: string): string => plainNameOf(name).replace(/^openai\./, '')

/** OpenAI's chat completions at Amazon. */
export const bedrockChatOptions: ChatQuirkOptions = {
  ...openAiChatOptions,
  modelOf: (name) => openAiChatOptions.modelOf?.(withoutMaker(name)) ?? null,
}

/** OpenAI's responses at Amazon, which opens no seals of OpenAI's own service. */
export const bedrockResponsesOptions: ResponsesQuirkOptions = {
  ...openAiResponsesOptions,
  modelOf: (name) =>
    openAiResponsesOptions.modelOf?.(withoutMaker(name)) ?? { reasons: false, sampling: 'always' },
}
