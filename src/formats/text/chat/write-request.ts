import type { TextCall } from '../../../canonical/call.ts'
import type { Endpoint } from '../../../canonical/endpoint.ts'
import type {
  Conversation,
  OutputFormat,
  ProviderTool,
  ReasoningWish,
  Tool,
  ToolChoice,
} from '../../../canonical/text/conversation.ts'
import { writeCacheMark } from '../cache-mark.ts'
import { fieldError } from '../../../core/errors.ts'
import type { EncodedRequest, RequestTarget } from '../halves.ts'
import { parseJsonDocument } from '../../../json/document.ts'
import { isStrictSchema } from '../output/json-schema.ts'
import { carriedBy, leaveOwnMembers, Losses, nameOf } from '../member-names.ts'
import { tellOutput, type ToldOutput } from '../output/promised-output.ts'
import { encodeChatInSteps } from './pass-request.ts'
import { type ChatQuirks, hasSwitch } from './quirks.ts'
import { writeMessages } from './write-turns.ts'
import { typeNameOf } from '../../../json/values.ts'
import { effortOf } from '../conversation-reading.ts'

type Wire = Record<string, unknown>

/**
 * Writes a conversation as a chat completions body: first in OpenAI's form, then with the same edits as a body that
 * came in this format, so that a provider's differences stand in one place. Throws `invalid_request` for what the
 * format cannot express.
 */
export function* writeChatRequest(
  conversation: Conversation,
  target: RequestTarget<ChatQuirks>,
): Generator<void, EncodedRequest> {
  const { endpoint } = target
  const quirks = quirksFor(conversation, target.quirks)
  const left = leaveOwnMembers(conversation, 'chat')
  if (conversation.format !== 'chat' && conversation.stop.length > stopTextsMax) {
    throw fieldError(
      nameOf('stop', conversation),
      `must have at most ${stopTextsMax} entries with the chosen provider. Leave some out or choose another model.`,
    )
  }
  const losses = new Losses(conversation)
  const writing = { conversation, quirks, losses, endpoint }
  const told = tellWhatIsNotHeld(writing)
  const unmarked = withoutMarks(writing)
  const messages = yield* writeMessages(unmarked, losses)
  yield
  const json = JSON.stringify(bodyOf(unmarked, { ...writing, told, messages }))
  yield
  const document = parseJsonDocument(Buffer.from(json))
  yield
  const {
    body: written,
    dropped,
    approximated = [],
  } = yield* encodeChatInSteps(callOf(conversation, document), endpoint, quirks, (name) =>
    callersName(name, conversation),
  )
  for (const name of dropped) losses.dropped.add(callersName(name, conversation))
  for (const name of approximated) losses.approximated.add(callersName(name, conversation))
  return {
    body: written,
    dropped: [...new Set([...left, ...losses.dropped])],
    approximated: [...losses.approximated],
    ...(told === null ? {} : { promised: told.promised }),
  }
}

/** The options of a caller of another format go into the members that most hosts know. */
function quirksFor({ format }: Conversation, quirks: ChatQuirks): ChatQuirks {
  const { reasoning, maxTokensField } = quirks
  if (format === 'chat' || (reasoning !== 'as_sent' && maxTokensField !== 'as_sent')) return quirks
  return {
    ...quirks,
    reasoning: reasoning === 'as_sent' ? 'effort' : reasoning,
    maxTokensField: maxTokensField === 'as_sent' ? 'max_tokens' : maxTokensField,
  }
}

function callersName(name: string, conversation: Conversation): string {
  const carried = carriedBy('chat', name)
  return carried === null || conversation.format === 'chat' ? name : nameOf(carried, conversation)
}

/** OpenAI takes at most this many. */
const stopTextsMax = 4

/** The state of writing a conversation for a host. */
interface Writing {
  conversation: Conversation
  endpoint: Endpoint
  quirks: ChatQuirks
  losses: Losses
}

/** Describes the form of the answer in words, when the host cannot enforce it, or not exactly. */
function tellWhatIsNotHeld({ conversation, quirks, losses }: Writing): ToldOutput | null {
  const { output, format } = conversation
  if (output.kind !== 'schema') return null
  // Anthropic enforces every schema exactly; OpenAI only a schema that leaves nothing open.
  const isLoose = format === 'messages' && output.schema !== null && !isStrictSchema(output.schema)
  if (quirks.jsonSchema && !isLoose) return null
  losses.approximate('output')
  return tellOutput(output, nameOf('output', conversation))
}

function callOf(conversation: Conversation, document: TextCall['document']) {
  return {
    document,
    stream: conversation.stream,
    demand: { choices: conversation.choices },
    userId: conversation.userId,
    // Only messages of chat callers can have unknown members.
    ...(conversation.format === 'chat' ? {} : { hasKnownMembers: true }),
  }
}

function bodyOf(
  conversation: Conversation,
  writing: Writing & { told: ToldOutput | null; messages: readonly Wire[] },
): Wire {
  const { quirks, told, messages } = writing
  const isToldOnly = told !== null && !quirks.jsonSchema
  const { tuning, tools, toolChoice, logprobs, stop, output, reasoning, cache } = conversation
  const members: Wire = {
    model: '',
    messages: [...(isToldOnly ? [{ role: 'system', content: told.instruction }] : []), ...messages],
    max_completion_tokens: conversation.outputTokensMax,
    n: conversation.choices === 1 ? null : conversation.choices,
    stop: stop.length === 0 ? null : stop,
    tools: tools.length === 0 ? null : tools.map((tool) => writeTool(tool, conversation)),
    tool_choice: toolChoice === null || tools.length === 0 ? null : writeToolChoice(toolChoice),
    parallel_tool_calls: tools.length === 0 ? null : conversation.isParallel,
    response_format: isToldOnly ? { type: 'json_object' } : writeOutput(output, told !== null),
    reasoning: reasoning === null ? null : writeReasoning(reasoning, writing),
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
    ...conversation.extras?.chat,
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function writeTool(tool: Tool | ProviderTool, conversation: Conversation): Wire {
  if (tool.kind === 'provider') {
    if (tool.format === 'chat') return { ...tool.value }
    throw fieldError(
      nameOf('tools', conversation),
      `has "${typeNameOf(tool.value)}", which only its own provider runs. Leave it out or choose another model.`,
    )
  }
  const { name, description, parameters, strict, cache, format = null } = tool
  const described = description === null ? {} : { description }
  const more = {
    ...(cache === undefined ? {} : { cache_control: writeCacheMark(cache) }),
    ...tool.extras?.chat,
  }
  if (tool.kind === 'custom')
    return { type: 'custom', custom: { name, ...described, ...(format === null ? {} : { format }) }, ...more }
  return {
    type: 'function',
    function: {
      name,
      ...described,
      ...(parameters === null ? {} : { parameters }),
      ...(strict === null ? {} : { strict }),
    },
    ...more,
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

/** A schema that the host would refuse in strict mode is sent without it; the gateway then checks the answer. */
function writeOutput(output: OutputFormat, isChecked: boolean): Wire | null {
  if (output.kind === 'text') return null
  if (output.kind === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = output
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description === null ? {} : { description }),
      ...(schema === null ? {} : { schema }),
      ...(strict === null ? {} : { strict: strict && !isChecked }),
    },
  }
}

/**
 * The reasoning option of a caller of another format; a chat caller's own words are among its extras. The effort `none`
 * is sent only to a host with a switch: a model that cannot think does not think anyway, and would refuse the member.
 */
function writeReasoning(wish: ReasoningWish, { conversation, quirks, losses }: Writing): Wire | null {
  const { effort, budgetTokens, summary, isShown } = wish
  const { format } = conversation
  if (format === 'chat') return null
  if (effort === 'none') return hasSwitch(quirks) ? { enabled: false } : null
  const members: Wire = {}
  if (effort !== null) members['effort'] = effort
  if (budgetTokens !== null && quirks.reasoning === 'object') members['max_tokens'] = budgetTokens
  // A host that knows only levels gets the level nearest to the number of tokens.
  else if (budgetTokens !== null && quirks.reasoning !== 'drop') {
    losses.approximate('budget')
    members['effort'] ??= effortOf(budgetTokens)
  }
  // Messages shows the summary of a thought, and shows it only when the caller asked for thoughts.
  const isToldOnly = format === 'messages' && members['effort'] !== undefined
  if (summary !== null && !isToldOnly) members['summary'] = summary
  if (!isShown && (format !== 'messages' || summary !== null)) members['exclude'] = true
  return Object.keys(members).length === 0 ? null : members
}

/** Removes cache marks for a host that does not take them, so that it gets plain texts. */
function withoutMarks(writing: Writing): Conversation {
  const { conversation, losses } = writing
  if (keepsMarks(writing)) return conversation
  const turns = conversation.turns.map((turn) => {
    if (!turn.parts.some(({ cache }) => cache !== undefined)) return turn
    losses.drop(turn.place === 'system' ? 'systemCache' : 'partCache')
    return { ...turn, parts: turn.parts.map(({ cache: _removed, ...part }) => part) }
  })
  const tools = conversation.tools.map((tool) => {
    if (tool.kind === 'provider' || tool.cache === undefined) return tool
    losses.drop('toolCache')
    const { cache: _removed, ...unmarked } = tool
    return unmarked
  })
  const { cache, ...unmarked } = conversation
  if (cache !== undefined) losses.drop('cache')
  return { ...unmarked, turns, tools }
}

/**
 * A server with unknown capabilities may refuse a member that it does not know, so cache marks of another format go
 * there only if its operator says that it takes them.
 */
function keepsMarks({ conversation, endpoint, quirks }: Writing): boolean {
  if ((quirks.rules.get('cache_control') ?? quirks.unknownRule) !== 'keep') return false
  const isKnown = quirks.unknownMembers === 'drop' || endpoint.deployment.takesCacheMarks === true
  return isKnown || conversation.format === 'chat'
}
