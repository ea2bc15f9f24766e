import { lastUserText } from './chat-messages.ts'
import type { ChatRequest, ChatTool } from './chat-request.ts'
import { exampleOf } from './example-value.ts'
import type { Faults } from './faults.ts'
import { lettersOf } from './random.ts'
import { splitTokens } from './tokens.ts'

/** One call of a function, its arguments as JSON text. */
export interface AnsweredCall {
  id: string
  name: string
  arguments: string
}

/** One choice, before it is put on the wire. */
export interface ChatAnswer {
  index: number
  /** The text in token pieces; null when the answer is calls or a refusal. */
  pieces: string[] | null
  calls: AnsweredCall[]
  refusal: string | null
  reasoning: string | null
  finish: string
  /** All tokens it counts for, reasoning included. */
  tokens: number
  reasoningTokens: number
}

const reasoningTokensOf: Record<string, number> = {
  none: 0,
  minimal: 4,
  low: 8,
  medium: 16,
  high: 64,
  xhigh: 128,
  max: 256,
}
const echoedCharactersMax = 200

/** Makes the choices of an answer. The same request and faults always give the same answer. */
export function answerChat(request: ChatRequest, faults: Faults): ChatAnswer[] {
  return Array.from({ length: request.choices }, (_, index) => answerChoice(request, faults, index))
}

function answerChoice(request: ChatRequest, faults: Faults, index: number): ChatAnswer {
  const thought =
    faults.reasoningTokens ??
    (request.model.reasoning === true ? (reasoningTokensOf[request.effort] ?? 0) : 0)
  const reasoningTokens = Math.min(thought, request.outputTokensMax)
  const room = request.outputTokensMax - reasoningTokens
  const reasoning =
    faults.reasoningField === undefined ? null : 'The request is short, so a short answer will do.'
  const base = { index, calls: [], refusal: null, reasoning, reasoningTokens }
  if (faults.refusal !== undefined) {
    const tokens = reasoningTokens + splitTokens(faults.refusal).length
    return { ...base, pieces: null, refusal: faults.refusal, finish: faults.finish ?? 'stop', tokens }
  }
  const tools = faults.text === undefined && faults.tokens === undefined ? toolsToCall(request) : []
  if (tools.length > 0) {
    const calls = tools.map((tool, at) => callOf(tool, request, `${index}.${at}`))
    const tokens = calls.reduce((sum, call) => sum + callTokens(call), reasoningTokens)
    return { ...base, pieces: null, calls, finish: faults.finish ?? 'tool_calls', tokens }
  }
  const whole = splitTokens(cutAtStop(answerText(request, faults, index), request.stop))
  const pieces = whole.slice(0, room)
  const finish = pieces.length < whole.length ? 'length' : 'stop'
  return { ...base, pieces, finish: faults.finish ?? finish, tokens: reasoningTokens + pieces.length }
}

function cutAtStop(text: string, stops: readonly string[]): string {
  const cuts = stops.filter((stop) => stop !== '').map((stop) => text.indexOf(stop))
  return text.slice(0, Math.min(text.length, ...cuts.filter((at) => at >= 0)))
}

function answerText(request: ChatRequest, faults: Faults, index: number): string {
  if (faults.text !== undefined) return faults.text
  if (faults.tokens !== undefined) return filler(faults.tokens)
  const said = lastUserText(request.messages)
  if (request.answerSchema !== null) return JSON.stringify(jsonAnswer(request.answerSchema, said))
  const last = request.messages.at(-1)
  const variant = index === 0 ? '' : `Variant ${index + 1}: `
  if (last?.role === 'tool') return `${variant}The tool answered: ${shortened(last.text)}`
  if (/\b(say|hi|hello|hey)\b/i.test(said))
    return `${variant}Hello! You said: "${shortened(said)}". How can I help?`
  return `${variant}You said: "${shortened(said)}". This is a simulated answer, made without a model.`
}

function jsonAnswer(schema: ChatRequest['answerSchema'], said: string): unknown {
  const isEmpty = schema === null || Object.keys(schema).length === 0
  return isEmpty ? { answer: shortened(said) } : exampleOf(schema, topicOf(said))
}

function shortened(text: string): string {
  const characters = [...text]
  return characters.length <= echoedCharactersMax
    ? text
    : `${characters.slice(0, echoedCharactersMax).join('')}…`
}

/** Text of exactly so many tokens: words of four bytes each, with the space before them. */
function filler(tokens: number): string {
  const words = ['the', 'sun', 'can', 'dry', 'our', 'old', 'red', 'oak']
  let text = ''
  for (let at = 0; at < tokens; at++) text += ` ${words[at % words.length]}`
  return text
}

function toolsToCall(request: ChatRequest): ChatTool[] {
  const { tools, toolChoice } = request
  if (toolChoice === 'none' || tools.length === 0) return []
  if (typeof toolChoice === 'object') return tools.filter((tool) => tool.name === toolChoice.name)
  // Once a tool has answered, the conversation is over: an agent's loop must end.
  if (request.messages.at(-1)?.role === 'tool' && toolChoice === 'auto') return []
  const said = lastUserText(request.messages).toLowerCase()
  const mentioned = tools.filter((tool) => isMentioned(tool.name.toLowerCase(), said))
  const called = mentioned.length === 0 && toolChoice === 'required' ? tools.slice(0, 1) : mentioned
  return request.parallelToolCalls ? called : called.slice(0, 1)
}

function isMentioned(name: string, said: string): boolean {
  return said.includes(name) || said.includes(name.replaceAll(/[_-]+/g, ' '))
}

/** The most telling words of the user: names in capitals when there are any, else the sentence itself. */
function topicOf(said: string): string {
  const names = said.match(/(?<=\S\s)\p{Lu}[\p{L}'-]+/gu)
  return names?.join(' ') ?? (shortened(said) || 'example')
}

function callOf(tool: ChatTool, request: ChatRequest, key: string): AnsweredCall {
  const said = lastUserText(request.messages)
  const id = `call_${lettersOf(`${tool.name} ${said} ${request.messages.length} ${key}`, 24)}`
  return { id, name: tool.name, arguments: JSON.stringify(exampleOf(tool.parameters, topicOf(said))) }
}

function callTokens(call: AnsweredCall): number {
  return splitTokens(call.name).length + splitTokens(call.arguments).length
}
