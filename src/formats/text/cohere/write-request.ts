import { knownNameOf } from '../../../canonical/endpoint.ts'
import type {
  Conversation,
  FilePart,
  ImagePart,
  Part,
  ReasoningPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { fieldError } from '../../../core/errors.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import { typeNameOf } from '../../../json/values.ts'
import { asText } from '../conversation-reading.ts'
import type { EncodedRequest, RequestTarget } from '../halves.ts'
import { cannotCarry, type Carried, leaveOwnMembers, Losses, nameOf, refuseTool } from '../member-names.ts'
import { tellOutput } from '../output/promised-output.ts'
import { isHeldByCohere } from './held-schema.ts'
import type { CohereModel, CohereQuirks } from './quirks.ts'

type Wire = Record<string, unknown>

/** The provider takes at most so many. */
const stopTextsMax = 5
/** The limit of an answer, where neither the caller nor the catalog says one. */
const usualOutputTokens = 32_000

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
  const model = quirks.modelOf(knownNameOf(endpoint))
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
    ...thinkingOf(writing, outputTokensMax ?? endpoint.outputTokensMax ?? usualOutputTokens),
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
    noteTurn(turn, writing.losses)
    const results = turn.parts.filter((part): part is ToolResultPart => part.type === 'tool_result')
    messages.push(...writeResults(results, writing, turn))
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

function noteTurn({ name, role, parts }: Turn, losses: Losses): void {
  if (name !== null) losses.drop('speaker')
  if (parts.some(({ cache }) => cache !== undefined))
    losses.drop(role === 'system' ? 'systemCache' : 'partCache')
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
  const { model } = writing
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning':
      return writeThought(part, writing)
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

/** Thoughts are plain words here, which a model that thinks is given back; a thought with a seal is of another provider. */
function writeThought({ text, signature, sealed }: ReasoningPart, { model, losses }: Writing): Wire[] {
  if (model.canThink && text && !signature && !sealed) return [{ type: 'thinking', thinking: text }]
  losses.drop('thought')
  return []
}

function writeImage({ source, detail }: ImagePart, turn: Turn): Wire {
  if (source.kind === 'provider_file') throw cannotCarry(turn, "a provider's file id")
  const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`
  return { type: 'image_url', image_url: { url, ...(detail === null ? {} : { detail }) } }
}

/** It has no place for files of the user; a text goes as text. */
function writeFile({ source, name, context, citations }: FilePart, turn: Turn): Wire {
  if (citations) throw cannotCarry(turn, 'documents to be cited')
  const isText = source.kind === 'data' && source.mediaType.startsWith('text/')
  if (source.kind !== 'text' && !isText) throw cannotCarry(turn, 'files')
  const text = source.kind === 'text' ? source.text : Buffer.from(source.base64, 'base64').toString('utf8')
  return { type: 'text', text: asText(text, name, context) }
}

/** A tool's message takes only text, so other content of a result follows as the user's, after the last result. */
function writeResults(results: readonly ToolResultPart[], writing: Writing, turn: Turn): Wire[] {
  const media = results.flatMap((result) => mediaOf(result, writing, turn))
  const messages = results.map((result) => writeResult(result, writing))
  if (media.length === 0) return messages
  writing.losses.approximate('resultMedia')
  return [...messages, { role: 'user', content: media }]
}

function writeResult({ callId, content, isError }: ToolResultPart, { losses }: Writing): Wire {
  const texts = content.map(wordsOf).filter((text) => text !== null)
  if (content.some((part) => part.type === 'opaque' && wordsOf(part) !== null))
    losses.approximate('resultMedia')
  if (isError) losses.approximate('resultError')
  const failed = isError ? 'The tool failed:\n' : ''
  return { role: 'tool', tool_call_id: callId, content: `${failed}${texts.join('\n')}` }
}

/** The text of a part for a tool's message; null for a part that follows as the user's. */
function wordsOf(part: ToolResultPart['content'][number]): string | null {
  if (part.type === 'text') return part.text
  return part.type === 'opaque' && part.words ? part.words : null
}

function mediaOf({ callId, content }: ToolResultPart, writing: Writing, turn: Turn): Wire[] {
  const media = content
    .filter((part) => wordsOf(part) === null)
    .flatMap((part) => contentOf(part, writing, turn))
  return media.length === 0 ? [] : [{ type: 'text', text: `From the tool call ${callId}:` }, ...media]
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

/** The share of the output limit for thoughts, by effort: the provider knows budgets, and no efforts. */
const budgetShares: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

function thinkingOf({ conversation: { reasoning }, model, losses }: Writing, limit: number): Wire {
  if (reasoning === null) return {}
  if (!model.canThink) {
    if (reasoning.effort !== 'none') losses.drop('reasoning')
    return {}
  }
  if (reasoning.effort === 'none') return { thinking: { type: 'disabled' } }
  const share = reasoning.effort === null ? null : (budgetShares[reasoning.effort] ?? null)
  const budget = reasoning.budgetTokens ?? (share === null ? null : Math.max(1, Math.floor(limit * share)))
  return { thinking: { type: 'enabled', ...(budget === null ? {} : { token_budget: budget }) } }
}

/** A form is refused together with tools; it is then told in words, as is what a schema has that the provider does not know. */
function outputOf({ conversation, losses }: Writing) {
  const { output, tools } = conversation
  const schema = output.kind === 'schema' ? output.schema : null
  const takesForm = tools.length === 0 && output.kind !== 'text'
  if (takesForm && (schema === null || isHeldByCohere(schema))) {
    const held = schema === null ? {} : { json_schema: schema }
    return { format: { type: 'json_object', ...held }, instruction: null, promised: null }
  }
  const told = tellOutput(output, nameOf('output', conversation))
  if (told !== null) losses.approximate('output')
  const format = takesForm && schema?.['type'] === 'object' ? { type: 'json_object' } : null
  return { format, instruction: told?.instruction ?? null, promised: told?.promised ?? null }
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
