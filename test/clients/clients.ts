import type { PackageSet } from './packages.ts'
import {
  chatModel,
  geminiModel,
  messagesModel,
  responsesModel,
  thinkingResponsesModel,
  type Mount,
} from './world.ts'

/** Clients of npm, which Bun runs. */
export const npmClients: PackageSet = {
  name: 'npm-clients',
  registry: 'npm',
  versions: {
    openai: '7.57.0',
    '@anthropic-ai/sdk': '1.12.0',
    '@openrouter/sdk': '1.3.19',
    ai: '7.0.173',
    '@ai-sdk/openai': '4.0.118',
    '@ai-sdk/anthropic': '4.0.105',
    '@ai-sdk/openai-compatible': '3.0.92',
    '@openrouter/ai-sdk-provider': '3.1.0',
    '@openai/agents': '0.20.0',
    zod: '4.6.7',
  },
}

/** The versions of AI SDK before, which many still have, each with the providers that belong to it. */
export const aiSdk6: PackageSet = {
  name: 'npm-ai-sdk-6',
  registry: 'npm',
  versions: {
    ai: '6.0.326',
    '@ai-sdk/openai': '3.0.141',
    '@ai-sdk/anthropic': '3.0.139',
    '@ai-sdk/openai-compatible': '2.0.91',
    '@openrouter/ai-sdk-provider': '2.10.0',
    zod: '4.6.7',
  },
}

export const aiSdk5: PackageSet = {
  name: 'npm-ai-sdk-5',
  registry: 'npm',
  versions: {
    ai: '5.0.277',
    '@ai-sdk/openai': '2.0.131',
    '@ai-sdk/anthropic': '2.0.112',
    '@ai-sdk/openai-compatible': '1.0.61',
    '@openrouter/ai-sdk-provider': '1.5.4',
    zod: '4.6.7',
  },
}

/** The official clients of Python. */
export const pythonClients: PackageSet = {
  name: 'python-clients',
  registry: 'python',
  versions: { openai: '3.54.0', anthropic: '2.12.0' },
}

/** It brings an `openai` of its own, and wants `mcp` for calls with tools. */
export const litellmClients: PackageSet = {
  name: 'python-litellm',
  registry: 'python',
  versions: { litellm: '1.106.0', mcp: '2.3.0' },
}

/** A client, and the provider of another format that its calls reach. */
export interface Client {
  /** As the table shows it. */
  name: string
  packages: PackageSet
  /** A file of `programs/` and its arguments. */
  program: readonly string[]
  mount: Mount
  model: string
  /** What it asks for vectors; left out where it is asked for none. */
  embeddingModel?: string
  /** Whether the model's thoughts come sealed, as those of a model that thinks and does not show how. */
  sealsThoughts: boolean
}

/** What a client asks, and by which program; where its calls go is said beside it. */
type Program = Omit<Client, keyof Upstream>
type Upstream = Pick<Client, 'mount' | 'model' | 'sealsThoughts'>

const messages: Upstream = { mount: 'messages', model: messagesModel, sealsThoughts: true }
const responses: Upstream = { mount: 'responses', model: responsesModel, sealsThoughts: true }
/** Callers of chat completions reach this model by chat completions, except with tools. */
const thinkingResponses: Upstream = { ...responses, model: thinkingResponsesModel }
const gemini: Upstream = { mount: 'gemini', model: geminiModel, sealsThoughts: true }
const chat: Upstream = { mount: 'chat', model: chatModel, sealsThoughts: false }

const chatCallers: readonly Program[] = [
  { name: 'openai, chat', packages: npmClients, program: ['openai-chat.mjs'] },
  { name: 'Python openai, chat', packages: pythonClients, program: ['openai_chat.py'] },
  { name: '@openrouter/sdk', packages: npmClients, program: ['openrouter.mjs'] },
  { name: 'AI SDK, openai chat', packages: npmClients, program: ['ai-sdk.mjs', 'chat'] },
  { name: 'LiteLLM', packages: litellmClients, program: ['litellm_loop.py'] },
]
const responsesCallers: readonly Program[] = [
  { name: 'openai, responses', packages: npmClients, program: ['openai-responses.mjs'] },
  { name: 'Python openai, responses', packages: pythonClients, program: ['openai_responses.py'] },
  { name: 'AI SDK, openai responses', packages: npmClients, program: ['ai-sdk.mjs', 'responses'] },
  { name: '@openai/agents', packages: npmClients, program: ['openai-agents.mjs'] },
]
const messagesCallers: readonly Program[] = [
  { name: '@anthropic-ai/sdk', packages: npmClients, program: ['anthropic.mjs'] },
  { name: 'Python anthropic', packages: pythonClients, program: ['anthropic_messages.py'] },
  { name: 'AI SDK, anthropic', packages: npmClients, program: ['ai-sdk.mjs', 'messages'] },
]

/** Every client on every format of a provider that is not its own, in the order of the table. */
export const clients: readonly Client[] = [
  ...on(chatCallers, [messages, responses, gemini]),
  ...on(responsesCallers, [messages, chat, gemini]),
  ...on(messagesCallers, [chat, thinkingResponses, gemini]),
]

/** AI SDK in every version, by every provider of it, also on providers of its own format. */
const aiSdks = { 5: aiSdk5, 6: aiSdk6, 7: npmClients }
const aiSdkPrograms: readonly Program[] = Object.entries(aiSdks).flatMap(([version, packages]) =>
  ['chat', 'compatible', 'openrouter', 'responses', 'messages'].map((wire) => ({
    name: `AI SDK ${version}, ${wire}`,
    packages,
    program: ['ai-sdk.mjs', wire, version],
  })),
)
export const aiSdkClients: readonly Client[] = on(aiSdkPrograms, [messages, responses, gemini, chat]).filter(
  // The provider for OpenRouter of that time gives a part of a signed thought back twice.
  ({ name, mount }) => name !== 'AI SDK 5, openrouter' || mount !== 'messages',
)

/** Official clients on a provider of their own format, whose answers pass as they came. */
export const passedClients: readonly Client[] = [
  ...on(
    chatCallers.filter(({ packages }) => packages === npmClients),
    [chat],
  ),
  ...on(
    responsesCallers.filter(({ packages }) => packages === npmClients),
    [responses],
  ),
  ...on(
    messagesCallers.filter(({ packages }) => packages === npmClients),
    [messages],
  ),
]

function on(programs: readonly Program[], upstreams: readonly Upstream[]): Client[] {
  return programs.flatMap((program) => upstreams.map((upstream) => ({ ...program, ...upstream })))
}
