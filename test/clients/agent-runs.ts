import type { CommandOutcome } from '../prove/command.ts'
import { claudeTask, codexTask, type AgentTask } from './agent-task.ts'
import { runClaudeCode, runCodex, type AgentRun } from './agents.ts'
import {
  conversingModel,
  customModel,
  geminiModel,
  invokedModel,
  messagesModel,
  newestGeminiModel,
  novaModel,
  projectClaudeModel,
  projectGeminiModel,
  thinkingChatModel,
  thinkingResponsesModel,
  type Mount,
} from './world.ts'

/** One run of an agent: which, and what stands behind the gateway. */
export interface Run {
  name: string
  run: (run: AgentRun) => Promise<CommandOutcome>
  task: (folder: string) => AgentTask
  /** What the agent asks. */
  path: '/v1/messages' | '/v1/responses'
  mount: Mount
  model: string
  /** Whether the marks for a cache that the agent sets reach the provider. */
  marks: 'arrive' | 'left out' | 'none set'
  /**
   * How the provider is given back what its model thought. Claude Code asks for thoughts without words; Google is given
   * no words back, for its signatures stand on the calls.
   */
  thoughts:
    | 'signed'
    | 'signed without words'
    | 'encrypted'
    | 'encrypted without words'
    | 'in words'
    | 'left out'
  /** Whether one turn is silent for long. */
  isSilent: boolean
}

const claudeCode = { run: runClaudeCode, task: claudeTask, path: '/v1/messages' } as const
const codex = { run: runCodex, task: codexTask, path: '/v1/responses', marks: 'none set' } as const

const onMessages = { mount: 'messages', model: messagesModel } as const
const onResponses = { mount: 'responses', model: thinkingResponsesModel } as const
const onCustom = { mount: 'custom', model: customModel, thoughts: 'in words' } as const
const onGemini = { mount: 'gemini', model: geminiModel, thoughts: 'signed without words' } as const

/** Both agents on every format of a provider, their own among them. */
export const agentRuns: readonly Run[] = [
  {
    name: 'Claude Code on chat completions, a server that knows cache marks',
    ...claudeCode,
    ...onCustom,
    marks: 'arrive',
    isSilent: true,
  },
  {
    name: 'Claude Code on chat completions, a host as strict as OpenAI',
    ...claudeCode,
    mount: 'chat',
    model: thinkingChatModel,
    marks: 'left out',
    thoughts: 'left out',
    isSilent: false,
  },
  {
    name: 'Claude Code on responses',
    ...claudeCode,
    ...onResponses,
    marks: 'left out',
    thoughts: 'encrypted without words',
    isSilent: false,
  },
  {
    name: 'Claude Code on Gemini 2.5',
    ...claudeCode,
    ...onGemini,
    marks: 'left out',
    isSilent: false,
  },
  {
    name: 'Claude Code on Gemini 3, which refuses a call without its signature',
    ...claudeCode,
    ...onGemini,
    model: newestGeminiModel,
    marks: 'left out',
    isSilent: false,
  },
  {
    name: 'Claude Code on messages, its own format',
    ...claudeCode,
    ...onMessages,
    marks: 'arrive',
    thoughts: 'signed without words',
    isSilent: false,
  },
  { name: 'Codex on messages', ...codex, ...onMessages, thoughts: 'signed', isSilent: true },
  { name: 'Codex on chat completions', ...codex, ...onCustom, isSilent: false },
  { name: 'Codex on Gemini 2.5', ...codex, ...onGemini, isSilent: false },
  {
    name: 'Codex on Gemini 3, which refuses a call without its signature',
    ...codex,
    ...onGemini,
    model: newestGeminiModel,
    isSilent: false,
  },
  {
    name: 'Codex on responses, its own format',
    ...codex,
    ...onResponses,
    thoughts: 'encrypted',
    isSilent: false,
  },
  {
    name: "Claude Code on Bedrock, Claude's own format",
    ...claudeCode,
    mount: 'bedrock',
    model: invokedModel,
    marks: 'arrive',
    thoughts: 'signed without words',
    isSilent: true,
  },
  {
    name: "Claude Code on Bedrock, Amazon's own model by Converse",
    ...claudeCode,
    mount: 'converse',
    model: novaModel,
    marks: 'arrive',
    thoughts: 'signed',
    isSilent: false,
  },
  {
    name: 'Codex on Bedrock, Claude by Converse',
    ...codex,
    mount: 'converse',
    model: conversingModel,
    thoughts: 'signed',
    isSilent: true,
  },
  {
    name: 'Claude Code on Vertex AI, Claude',
    ...claudeCode,
    mount: 'vertex-claude',
    model: projectClaudeModel,
    marks: 'arrive',
    thoughts: 'signed without words',
    isSilent: false,
  },
  {
    name: 'Codex on Vertex AI, Claude',
    ...codex,
    mount: 'vertex-claude',
    model: projectClaudeModel,
    thoughts: 'signed',
    isSilent: false,
  },
  {
    name: 'Claude Code on Vertex AI, Gemini',
    ...claudeCode,
    mount: 'vertex',
    model: projectGeminiModel,
    thoughts: 'signed without words',
    marks: 'left out',
    isSilent: false,
  },
  {
    name: 'Codex on Vertex AI, Gemini',
    ...codex,
    mount: 'vertex',
    model: projectGeminiModel,
    thoughts: 'signed without words',
    isSilent: false,
  },
]
