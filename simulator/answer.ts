import { exampleOf } from './example-value.ts'
import type { Faults } from './faults.ts'
import type { JsonObject } from './json.ts'
import type { OfferedTool, Prompt } from './prompt.ts'
import { lettersOf } from './random.ts'
import type { ScriptedTurn } from './script-turn.ts'
import { splitTokens } from './tokens.ts'

/** One call of a tool: arguments as JSON text, or the plain text for a custom tool. */
export interface AnsweredCall {
  id: string
  name: string
  arguments: string
  isCustom: boolean
}

/** A script's own counts, in place of the simulator's. */
export type GivenUsage = ScriptedTurn['usage']

/** The model's output in one turn, before a format writes it. */
export interface Answer {
  index: number
  /** Whether a script wrote the answer; its thoughts are then shown even when the caller did not ask for them. */
  isScripted: boolean
  /** The thoughts, whether or not the format shows them. */
  thoughts: string
  /** Thoughts that the provider hides, for a script's turn; null for none. */
  redacted: string | null
  /** The text in token pieces; null when the answer is calls or a refusal alone. */
  pieces: string[] | null
  calls: AnsweredCall[]
  refusal: string | null
  /**
   * The finish reason by its name in chat completions (`stop`, `length`, `tool_calls`, `content_filter`), or
   * the word of a fault or a script.
   */
  finish: string
  /** The stop sequence that ended the text. */
  stopSequence: string | null
  /** The output tokens that are counted for the answer, thoughts included. */
  tokens: number
  reasoningTokens: number
  usage: GivenUsage
}

const echoedCharactersMax = 200
const usualThoughts = 'The request is short, so a short answer will do.'

/** The model's answer. The same prompt, faults and turn of a script always give the same one. */
export function answerPrompt(
  prompt: Prompt,
  faults: Faults,
  scripted: ScriptedTurn | null,
  index = 0,
): Answer {
  if (scripted !== null) return scriptedAnswer(prompt, scripted, index)
  const reasoningTokens = Math.min(faults.reasoningTokens ?? prompt.thoughtTokens, prompt.outputTokensMax)
  const base = {
    index,
    isScripted: false,
    thoughts: usualThoughts,
    redacted: null,
    calls: [],
    refusal: null,
    stopSequence: null,
    reasoningTokens,
    usage: {},
  }
  if (faults.refusal !== undefined) {
    const tokens = reasoningTokens + splitTokens(faults.refusal).length
    return { ...base, pieces: null, refusal: faults.refusal, finish: faults.finish ?? 'stop', tokens }
  }
  const tools = faults.text === undefined && faults.tokens === undefined ? toolsToCall(prompt) : []
  if (tools.length > 0) {
    const calls = tools.map((tool, at) => callOf(tool, prompt, `${index}.${at}`))
    const tokens = calls.reduce((sum, call) => sum + callTokens(call), reasoningTokens)
    return { ...base, pieces: null, calls, finish: faults.finish ?? 'tool_calls', tokens }
  }
  const { text, stopSequence } = cutAtStop(answerText(prompt, faults, index), prompt.stop)
  const whole = splitTokens(text)
  const pieces = whole.slice(0, prompt.outputTokensMax - reasoningTokens)
  const isCut = pieces.length < whole.length
  return {
    ...base,
    pieces,
    stopSequence: isCut ? null : stopSequence,
    finish: faults.finish ?? (isCut ? 'length' : 'stop'),
    tokens: reasoningTokens + pieces.length,
  }
}

/** A script's turn is the answer whatever the request asks for, even above the caller's limit of tokens. */
function scriptedAnswer(prompt: Prompt, turn: ScriptedTurn, index: number): Answer {
  const calls = turn.calls.map((call, at) => ({
    id: call.id ?? callId(prompt, call.name, `${index}.${at}`),
    name: call.name,
    arguments: call.arguments,
    isCustom: prompt.tools.find((tool) => tool.name === call.name)?.isCustom ?? call.isText,
  }))
  const pieces = turn.text === null ? null : splitTokens(turn.text)
  const reasoningTokens = turn.usage.reasoning ?? splitTokens(turn.thinking ?? '').length
  const said = (pieces ?? splitTokens(turn.refusal ?? '')).length
  return {
    index,
    isScripted: true,
    thoughts: turn.thinking ?? '',
    redacted: turn.redacted,
    pieces,
    calls,
    refusal: turn.refusal,
    finish: turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    stopSequence: null,
    tokens: turn.usage.output ?? calls.reduce((sum, call) => sum + callTokens(call), reasoningTokens + said),
    reasoningTokens,
    usage: turn.usage,
  }
}

function cutAtStop(text: string, stops: readonly string[]): { text: string; stopSequence: string | null } {
  let first: { at: number; stop: string } | null = null
  for (const stop of stops) {
    const at = stop === '' ? -1 : text.indexOf(stop)
    if (at >= 0 && (first === null || at < first.at)) first = { at, stop }
  }
  return first === null
    ? { text, stopSequence: null }
    : { text: text.slice(0, first.at), stopSequence: first.stop }
}

function answerText(prompt: Prompt, faults: Faults, index: number): string {
  if (faults.text !== undefined) return faults.text
  if (faults.tokens !== undefined) return filler(faults.tokens)
  const { said } = prompt
  if (prompt.answerSchema !== null) return JSON.stringify(jsonAnswer(prompt.answerSchema, said))
  const variant = index === 0 ? '' : `Variant ${index + 1}: `
  if (prompt.toolAnswer !== null) return `${variant}The tool answered: ${shortened(prompt.toolAnswer)}`
  if (/\b(say|hi|hello|hey)\b/i.test(said))
    return `${variant}Hello! You said: "${shortened(said)}". How can I help?`
  return `${variant}You said: "${shortened(said)}". This is a simulated answer, made without a model.`
}

function jsonAnswer(schema: JsonObject, said: string): unknown {
  return Object.keys(schema).length === 0 ? { answer: shortened(said) } : exampleOf(schema, topicOf(said))
}

function shortened(text: string): string {
  const characters = [...text]
  return characters.length <= echoedCharactersMax
    ? text
    : `${characters.slice(0, echoedCharactersMax).join('')}…`
}

/** Text of exactly this many tokens: words of four bytes each, with the space before them. */
function filler(tokens: number): string {
  const words = ['the', 'sun', 'can', 'dry', 'our', 'old', 'red', 'oak']
  let text = ''
  for (let at = 0; at < tokens; at++) text += ` ${words[at % words.length]}`
  return text
}

function toolsToCall(prompt: Prompt): OfferedTool[] {
  const { tools, toolChoice } = prompt
  if (toolChoice === 'none' || tools.length === 0) return []
  if (typeof toolChoice === 'object') return tools.filter((tool) => tool.name === toolChoice.name)
  // Once a tool has answered, the conversation is over: an agent's loop must end.
  if (prompt.toolAnswer !== null && toolChoice === 'auto') return []
  const said = prompt.said.toLowerCase()
  const mentioned = tools.filter((tool) => isMentioned(tool.name.toLowerCase(), said))
  const called = mentioned.length === 0 && toolChoice === 'required' ? tools.slice(0, 1) : mentioned
  return prompt.parallelToolCalls ? called : called.slice(0, 1)
}

function isMentioned(name: string, said: string): boolean {
  return said.includes(name) || said.includes(name.replaceAll(/[_-]+/g, ' '))
}

/** The most telling words of the user: names in capitals when there are any, else the sentence itself. */
function topicOf(said: string): string {
  const names = said.match(/(?<=\S\s)\p{Lu}[\p{L}'-]+/gu)
  return names?.join(' ') ?? (shortened(said) || 'example')
}

function callOf(tool: OfferedTool, prompt: Prompt, key: string): AnsweredCall {
  const { name, isCustom } = tool
  const topic = topicOf(prompt.said)
  const given = isCustom ? topic : JSON.stringify(exampleOf(tool.parameters, topic))
  return { id: callId(prompt, name, key), name, arguments: given, isCustom }
}

function callId(prompt: Prompt, name: string, key: string): string {
  return prompt.callIdPrefix + lettersOf(`${name} ${prompt.said} ${prompt.length} ${key}`, 24)
}

function callTokens(call: AnsweredCall): number {
  return splitTokens(call.name).length + splitTokens(call.arguments).length
}
