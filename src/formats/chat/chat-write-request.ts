import type { TextCall } from '../../canonical/call.ts'
import type {
  Conversation,
  OutputFormat,
  ProviderTool,
  ReasoningWish,
  Tool,
  ToolChoice,
} from '../../canonical/text/conversation.ts'
import { writeCacheMark } from '../cache-mark.ts'
import { fieldError } from '../field-error.ts'
import type { RequestTarget } from '../halves.ts'
import { parseJsonDocument } from '../json-document.ts'
import { carriedBy, leaveOwnMembers, nameOf } from '../member-names.ts'
import { encodeChatRequest, type EncodedRequest } from './chat-encode.ts'
import type { ChatQuirks } from './chat-quirks.ts'
import { writeMessages } from './chat-write-messages.ts'

type Wire = Record<string, unknown>

/**
 * A conversation as a chat completions body: first as OpenAI has it, then by the same edits as a body that came in this
 * format, so that a provider's departures are told in one place. Throws `invalid_request` for what cannot be carried.
 */
export function writeChatRequest(
  conversation: Conversation,
  { endpoint, quirks }: RequestTarget<ChatQuirks>,
): EncodedRequest {
  const left = leaveOwnMembers(conversation, 'chat')
  const body = bodyOf(withoutMarks(conversation, quirks))
  const document = parseJsonDocument(Buffer.from(JSON.stringify(body)))
  const { body: written, dropped } = encodeChatRequest(callOf(conversation, document), endpoint, quirks)
  const names = dropped.map((name) => {
    const carried = carriedBy('chat', name.split('.', 1)[0] ?? name)
    return carried === null ? name : nameOf(carried, conversation)
  })
  return { body: written, dropped: [...new Set([...left, ...names])] }
}

function callOf(conversation: Conversation, document: TextCall['document']) {
  return {
    document,
    stream: conversation.stream,
    demand: { choices: conversation.choices },
    userId: conversation.userId,
  }
}

function bodyOf(conversation: Conversation): Wire {
  const { tuning, tools, toolChoice, logprobs, stop, output, reasoning, cache } = conversation
  const members: Wire = {
    model: '',
    messages: writeMessages(conversation),
    max_completion_tokens: conversation.outputTokensMax,
    n: conversation.choices === 1 ? null : conversation.choices,
    stop: stop.length === 0 ? null : stop,
    tools: tools.length === 0 ? null : tools.map((tool) => writeTool(tool, conversation)),
    tool_choice: toolChoice === null || tools.length === 0 ? null : writeToolChoice(toolChoice),
    parallel_tool_calls: tools.length === 0 ? null : conversation.isParallel,
    response_format: writeOutput(output),
    reasoning: reasoning === null ? null : writeReasoning(reasoning, conversation),
    logprobs: logprobs === null ? null : true,
    top_logprobs: logprobs === null || logprobs === 0 ? null : logprobs,
    temperature: tuning.temperature,
    top_p: tuning.topP,
    top_k: tuning.topK,
    min_p: tuning.minP,
    seed: tuning.seed,
    presence_penalty: tuning.presencePenalty,
    frequency_penalty: tuning.frequencyPenalty,
    repetition_penalty: tuning.repetitionPenalty,
    logit_bias: tuning.logitBias,
    verbosity: tuning.verbosity,
    service_tier: tuning.serviceTier,
    prompt_cache_key: tuning.cacheKey,
    user: conversation.userId,
    metadata: conversation.metadata,
    cache_control: cache === undefined ? null : writeCacheMark(cache),
    stream: conversation.stream ? true : null,
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function writeTool(tool: Tool | ProviderTool, conversation: Conversation): Wire {
  if (tool.kind === 'provider') {
    if (tool.format === 'chat') return { ...tool.value }
    throw fieldError(
      nameOf('tools', conversation),
      `has "${String(tool.value['type'])}", which only its own provider runs. Leave it out or choose another model.`,
    )
  }
  const { name, description, parameters, strict, cache } = tool
  const described = description === null ? {} : { description }
  const mark = cache === undefined ? {} : { cache_control: writeCacheMark(cache) }
  if (tool.kind === 'custom')
    return { type: 'custom', custom: { name, ...described, ...tool.extras?.chat }, ...mark }
  return {
    type: 'function',
    function: {
      name,
      ...described,
      ...(parameters === null ? {} : { parameters }),
      ...(strict === null ? {} : { strict }),
    },
    ...mark,
  }
}

function writeToolChoice(choice: ToolChoice): unknown {
  if (choice.kind === 'named') {
    const named = { name: choice.name }
    return choice.tool === 'custom'
      ? { type: 'custom', custom: named }
      : { type: 'function', function: named }
  }
  if (choice.kind !== 'allowed') return choice.kind
  const tools = choice.names.map((name) => ({ type: 'function', function: { name } }))
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools } }
}

function writeOutput(output: OutputFormat): Wire | null {
  if (output.kind === 'text') return null
  if (output.kind === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = output
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description === null ? {} : { description }),
      ...(schema === null ? {} : { schema }),
      ...(strict === null ? {} : { strict }),
    },
  }
}

/**
 * Not to think is what a model does that cannot: telling it so is an error there, so only a caller of this format, who
 * knows the model's own words, is taken at them.
 */
function writeReasoning(wish: ReasoningWish, { format }: Conversation): Wire | null {
  const { effort, budgetTokens, summary, isShown } = wish
  if (effort === 'none' && format !== 'chat') return null
  // A host that knows levels alone still hears how much is meant.
  const level = effort ?? (budgetTokens === null || format === 'chat' ? null : effortOf(budgetTokens))
  const members = {
    ...(level === null ? {} : { effort: level }),
    ...(budgetTokens === null ? {} : { max_tokens: budgetTokens }),
    ...(summary === null ? {} : { summary }),
    ...(isShown ? {} : { exclude: true }),
  }
  return Object.keys(members).length === 0 ? null : members
}

/** The level that so many tokens to think with come to. */
function effortOf(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens <= 4_096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}

/** A host that keeps no marks is told plain texts, which every host takes. */
function withoutMarks(conversation: Conversation, { rules, unknownRule }: ChatQuirks): Conversation {
  if ((rules.get('cache_control') ?? unknownRule) === 'keep') return conversation
  const turns = conversation.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map(({ cache: _removed, ...part }) => part),
  }))
  return { ...conversation, turns }
}
