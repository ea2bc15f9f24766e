import type { PackageSet } from './packages.ts'
import { chatModel, messagesModel, type Mount } from './world.ts'

/** Clients of npm, which Bun runs. */
export const npmClients: PackageSet = {
  name: 'npm-clients',
  registry: 'npm',
  versions: {
    openai: '6.49.0',
    '@anthropic-ai/sdk': '1.12.0',
    '@openrouter/sdk': '1.3.19',
    ai: '7.0.173',
    '@ai-sdk/openai': '4.0.118',
    '@ai-sdk/anthropic': '4.0.105',
    '@openai/agents': '0.20.0',
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
}

const onMessages = { mount: 'messages', model: messagesModel } as const
const onChat = { mount: 'chat', model: chatModel } as const

/** Every client in the order of the table; those of messages reach chat completions, the others messages. */
export const clients: readonly Client[] = [
  { name: 'openai, chat', packages: npmClients, program: ['openai-chat.mjs'], ...onMessages },
  { name: 'openai, responses', packages: npmClients, program: ['openai-responses.mjs'], ...onMessages },
  { name: '@anthropic-ai/sdk', packages: npmClients, program: ['anthropic.mjs'], ...onChat },
  { name: 'Python openai, chat', packages: pythonClients, program: ['openai_chat.py'], ...onMessages },
  {
    name: 'Python openai, responses',
    packages: pythonClients,
    program: ['openai_responses.py'],
    ...onMessages,
  },
  { name: 'Python anthropic', packages: pythonClients, program: ['anthropic_messages.py'], ...onChat },
  { name: '@openrouter/sdk', packages: npmClients, program: ['openrouter.mjs'], ...onMessages },
  { name: 'AI SDK, openai chat', packages: npmClients, program: ['ai-sdk.mjs', 'chat'], ...onMessages },
  {
    name: 'AI SDK, openai responses',
    packages: npmClients,
    program: ['ai-sdk.mjs', 'responses'],
    ...onMessages,
  },
  { name: 'AI SDK, anthropic', packages: npmClients, program: ['ai-sdk.mjs', 'messages'], ...onChat },
  { name: '@openai/agents', packages: npmClients, program: ['openai-agents.mjs'], ...onMessages },
  { name: 'LiteLLM', packages: litellmClients, program: ['litellm_loop.py'], ...onMessages },
]
