import type {
  Conversation,
  FilePart,
  ImagePart,
  Part,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { fieldError } from '../../../core/errors.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import { typeNameOf } from '../../../json/values.ts'
import type { EncodedRequest, RequestTarget } from '../halves.ts'
import { cannotCarry, type Carried, leaveOwnMembers, Losses, nameOf, refuseTool } from '../member-names.ts'
import { tellOutput } from '../output/promised-output.ts'
import type { CohereModel, CohereQuirks } from './quirks.ts'

type Wire = Record<string, unknown>

/** The provider takes at most so many. */
const stopTextsMax = 5

interface Writing {
  conversation: Conversation
  model: CohereModel
  losses: Losses
}

/** Writes a conversation as a body for Cohere's chat. Throws `invalid_request` for a part that must not be left out. */
export function* writeCohereRequest(
  conversation: Conversation,
  { endpoint, quirks }: RequestTarget<CohereQuirks>,
): Generator<void, EncodedRequest> {
  const model = quirks.modelOf(endpoint.upstreamModel)
  refuseWhatIsMissing(conversation, model)
  const left = leaveOwnMembers(conversation, 'cohere')
  const losses = new Losses(conversation)
  const writing: Writing = { conversation, model, losses }
  const messages = yield* writeMessages(writing)
  const output = outputOf(writing)
  if (output.instruction !== null) messages.unshift({ role: 'system', content: output.instruction })
  const { outputTokensMax, stop, stream } = conversation
  const body: Wire = {
    model: endpoint.upstreamModel,
    messages,
    stream,
    ...(outputTokensMax === null ? {} : { max_tokens: outputTokensMax }),
    ...(stop.length === 0 ? {} : { stop_sequences: stop }),
    ...samplingOf(writing),
    ...toolsOf(writing),
    ...thinkingOf(writing),
    ...(output.format === null ? {} : { response_format: output.format }),
  }
  noteLosses(writing)
  yield
  return {
    body: [JSON.stringify(body)],
    dropped: [...left, ...losses.dropped],
    approximated: [...losses.approximated],
    ...(output.promised === null ? {} : { promised: output.promised }),
  }
}

/** Throws for options that change the answer and have no place in the format. */
function refuseWhatIsMissing(conversation: Conversation, { hasTools }: CohereModel): void {
  const cannot = (carried: Carried) =>
    fieldError(
      nameOf(carried, conversation),
      'cannot be sent to the chosen provider. Leave it out or choose another model.',
    )
  if (conversation.choices > 1) throw cannot('choices')
  // It tells the probabilities of tokens in a form of its own.
  if (conversation.logprobs !== null) throw cannot('logprobs')
  if (conversation.stop.length > stopTextsMax)
    throw fieldError(
      nameOf('stop', conversation),
      `must have at most ${stopTextsMax} entries with the chosen provider. Leave some out or choose another model.`,
    )
  for (const tool of conversation.tools) {
    if (tool.kind === 'custom') throw refuseTool(conversation, `the custom tool "${tool.name}"`)
    if (tool.kind === 'provider') throw refuseTool(conversation, `"${typeNameOf(tool.value)}"`)
    if (!hasTools) throw refuseTool(conversation, `the tool "${tool.name}"`)
  }
}

/** One message a turn, and one for each result of a tool. */
function* writeMessages(writing: Writing): Generator<void, Wire[]> {
  const messages: Wire[] = []
  for (const [index, turn] of writing.conversation.turns.entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    if (turn.name !== null) writing.losses.drop('speaker')
    const results = turn.parts.filter((part): part is ToolResultPart => part.type === 'tool_result')
    for (const result of results) messages.push(writeResult(result, writing, turn))
    const others = turn.parts.filter((part) => part.type !== 'tool_result')
    if (others.length === 0) continue
    const message =
      turn.role === 'assistant' ? writeAnswer(others, writing, turn) : writeAsked(others, writing, turn)
    if (message !== null) messages.push(message)
  }
  // The provider refuses a request without messages of the user.
  if (!messages.some(({ role }) => role !== 'system')) {
    const [only] = messages
    if (only !== undefined) {
      writing.losses.approximate('turnRole')
      only['role'] = 'user'
    }
  }
  return messages
}

function writeAsked(parts: readonly Part[], writing: Writing, turn: Turn): Wire | null {
  const content = parts.flatMap((part) => contentOf(part, writing, turn))
  return content.length === 0 ? null : { role: turn.role === 'system' ? 'system' : 'user', content }
}

/** A model's turn: its texts and thoughts, its calls, and the plan before them. */
function writeAnswer(parts: readonly Part[], writing: Writing, turn: Turn): Wire | null {
  const calls = parts.flatMap((part) =>
    part.type === 'tool_call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: part.arguments || '{}' } }]
      : [],
  )
  const said = parts.filter((part) => part.type !== 'tool_call')
  const content = said.flatMap((part) => contentOf(part, writing, turn))
  if (content.length + calls.length === 0) return null
  return {
    role: 'assistant',
    ...(content.length === 0 ? {} : { content }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

function contentOf(part: Part, writing: Writing, turn: Turn): Wire[] {
  const { losses, model } = writing
  if (part.cache !== undefined) losses.drop(turn.role === 'system' ? 'systemCache' : 'partCache')
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning':
      return writeThought(part.text, writing)
    case 'image':
      if (!model.hasImages || turn.role === 'assistant') throw cannotCarry(turn, 'images')
      return [writeImage(part, turn)]
    case 'file':
      return [writeFile(part, turn)]
    case 'audio':
      throw cannotCarry(turn, 'audio')
    case 'opaque':
      throw cannotCarry(turn, `"${typeNameOf(part.value)}" parts`)
    case 'tool_call':
    case 'tool_result':
      return []
  }
}

/** Thoughts are plain words here, which a model that thinks is given back. */
function writeThought(text: string | null, { model, losses }: Writing): Wire[] {
  if (model.canThink && text !== null && text !== '') return [{ type: 'thinking', thinking: text }]
  losses.drop('thought')
  return []
}

function writeImage({ source, detail }: ImagePart, turn: Turn): Wire {
  if (source.kind === 'provider_file') throw cannotCarry(turn, "a provider's file id")
  const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`
  return { type: 'image_url', image_url: { url, ...(detail === null ? {} : { detail }) } }
}

/** It has no place for files of the user; a text goes as text. */
function writeFile({ source, name }: FilePart, turn: Turn): Wire {
  const isText = source.kind === 'data' && source.mediaType.startsWith('text/')
  if (source.kind !== 'text' && !isText) throw cannotCarry(turn, 'files')
  const text = source.kind === 'text' ? source.text : Buffer.from(source.base64, 'base64').toString('utf8')
  return { type: 'text', text: name === null ? text : `${name}:\n${text}` }
}

function writeResult({ callId, content, isError }: ToolResultPart, { losses }: Writing, turn: Turn): Wire {
  if (isError) losses.drop('resultError')
  const texts = content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'opaque' && part.words !== undefined) return part.words
    throw cannotCarry(turn, 'results of tools that are no text')
  })
  return { role: 'tool', tool_call_id: callId, content: texts.join('') }
}

function samplingOf({ conversation, losses }: Writing): Wire {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = conversation.tuning
  const heated = temperature === null ? null : Math.min(temperature, 1)
  if (temperature !== null && temperature > 1) losses.approximate('temperature')
  const all = {
    temperature: heated,
    p: topP === null ? null : Math.min(Math.max(topP, 0.01), 0.99),
    k: topK === null ? null : Math.min(topK, 500),
    seed,
    presence_penalty: withinOne(presencePenalty),
    frequency_penalty: withinOne(frequencyPenalty),
  }
  if (topP !== null && all.p !== topP) losses.approximate('topP')
  if (presencePenalty !== all.presence_penalty) losses.approximate('presencePenalty')
  if (frequencyPenalty !== all.frequency_penalty) losses.approximate('frequencyPenalty')
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
}

/** Penalties go from 0 to 1 here. */
function withinOne(penalty: number | null): number | null {
  return penalty === null ? null : Math.min(Math.max(penalty, 0), 1)
}

function toolsOf({ conversation, losses }: Writing): Wire {
  const { toolChoice, isParallel } = conversation
  const allowed = toolChoice === null ? null : allowedBy(toolChoice)
  const tools = conversation.tools
    .filter((tool): tool is Tool => tool.kind === 'function')
    .filter(({ name }) => allowed === null || allowed.has(name))
  if (tools.length === 0) return {}
  if (tools.some(({ cache }) => cache !== undefined)) losses.drop('toolCache')
  if (isParallel === false) losses.drop('isParallel')
  const choice = toolChoice === null ? null : choiceOf(toolChoice)
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: {
        name,
        ...(description === null ? {} : { description }),
        parameters: { type: 'object', properties: {}, ...parameters },
      },
    })),
    ...(tools.some(({ strict }) => strict === true) ? { strict_tools: true } : {}),
    ...(choice === null ? {} : { tool_choice: choice }),
  }
}

/** One tool can only be required by offering no other. */
function allowedBy(choice: ToolChoice): ReadonlySet<string> | null {
  if (choice.kind === 'named') return new Set([choice.name])
  return choice.kind === 'allowed' ? new Set(choice.names) : null
}

function choiceOf(choice: ToolChoice): 'REQUIRED' | 'NONE' | null {
  if (choice.kind === 'none') return 'NONE'
  const isRequired = choice.kind === 'required' || choice.kind === 'named'
  return isRequired || (choice.kind === 'allowed' && choice.mode === 'required') ? 'REQUIRED' : null
}

function thinkingOf({ conversation: { reasoning }, model, losses }: Writing): Wire {
  if (reasoning === null) return {}
  if (!model.canThink) {
    if (reasoning.effort !== 'none') losses.drop('reasoning')
    return {}
  }
  if (reasoning.effort === 'none') return { thinking: { type: 'disabled' } }
  const { budgetTokens } = reasoning
  // It knows no efforts, only on and off.
  if (reasoning.effort !== null && reasoning.effort !== 'high' && budgetTokens === null)
    losses.approximate('reasoning')
  return { thinking: { type: 'enabled', ...(budgetTokens === null ? {} : { token_budget: budgetTokens }) } }
}

/** A form is refused together with tools; it is then told in words. */
function outputOf({ conversation, losses }: Writing) {
  const { output, tools } = conversation
  const isHeld =
    tools.length === 0 && (output.kind === 'json' || (output.kind === 'schema' && output.schema !== null))
  if (isHeld) {
    const schema = output.kind === 'schema' ? { json_schema: output.schema } : {}
    return { format: { type: 'json_object', ...schema }, instruction: null, promised: null }
  }
  const told = tellOutput(output, nameOf('output', conversation))
  if (told !== null) losses.approximate('output')
  return { format: null, instruction: told?.instruction ?? null, promised: told?.promised ?? null }
}

function noteLosses({ conversation, losses }: Writing): void {
  const { tuning, metadata, userId, cache } = conversation
  const lost = ['minP', 'repetitionPenalty', 'logitBias', 'verbosity', 'cacheKey'] as const
  for (const name of lost) if (tuning[name] !== null) losses.drop(name)
  if (tuning.serviceTier !== null && !['auto', 'default'].includes(tuning.serviceTier))
    losses.drop('serviceTier')
  if (metadata !== null) losses.drop('metadata')
  if (userId !== null) losses.drop('userId')
  if (cache !== undefined) losses.drop('cache')
}
