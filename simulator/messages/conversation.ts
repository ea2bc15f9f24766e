import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { type BlockRules, type ReadBlock, readContent } from './blocks.ts'

/** One message of a request. */
export interface ReadMessage {
  role: string
  blocks: ReadBlock[]
}

const fields = {
  role: check.oneOf('user', 'assistant', 'system'),
  content: check.either(check.listOf(check.object), check.string()),
}
const messagesMax = 100_000

/** Reads the conversation and checks its order. Throws `ApiError` naming the first message at fault. */
export function readMessages(value: unknown, rules: Omit<BlockRules, 'role'>): ReadMessage[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalidRequest('at least one message is required', 'messages')
  check.listOf(check.object, messagesMax)(value, 'messages')
  const messages = value.map((message: JsonObject, at): ReadMessage => {
    const param = `messages[${at}]`
    check.checkMembers(message, {
      fields,
      required: ['role', 'content'],
      strict: !rules.lenient,
      prefix: `${param}.`,
    })
    const role = String(message['role'])
    return { role, blocks: readContent(message['content'], `${param}.content`, { ...rules, role }) }
  })
  refuseOrder(messages)
  refuseLooseResults(messages)
  return messages
}

function refuseOrder(messages: readonly ReadMessage[]): void {
  const first = messages.findIndex((message) => message.role !== 'system')
  if (messages[first]?.role !== 'user')
    throw invalidRequest('first message must use the "user" role', `messages[${Math.max(first, 0)}]`)
  for (const [at, { role, blocks }] of messages.entries()) {
    const param = `messages[${at}]`
    const isLast = at === messages.length - 1
    const isEmpty = blocks.every((block) => block.type === 'text' && block.text === '')
    if (isEmpty && !(isLast && role === 'assistant'))
      throw invalidRequest(
        'all messages must have non-empty content except for the optional final assistant message',
        param,
      )
    if (role === 'assistant') refuseThoughtOrder(blocks, param)
  }
}

const thoughtTypes = new Set(['thinking', 'redacted_thinking'])

/** Throws unless thoughts come before the call that they led to and another block follows them. */
function refuseThoughtOrder(blocks: readonly ReadBlock[], param: string): void {
  const lastThought = blocks.findLastIndex((block) => thoughtTypes.has(block.type))
  const firstCall = blocks.findIndex((block) => block.type === 'tool_use')
  if (firstCall >= 0 && lastThought > firstCall)
    throw invalidRequest(
      '`thinking` or `redacted_thinking` blocks in an assistant message cannot be modified. These blocks must remain as they were in the original response.',
      `${param}.content[${lastThought}]`,
    )
  if (lastThought >= 0 && lastThought === blocks.length - 1)
    throw invalidRequest('The final block in an assistant message cannot be `thinking`.', param)
}

function idsOf(message: ReadMessage | undefined, type: string, member: string): string[] {
  const blocks = message?.blocks.filter((block) => block.type === type) ?? []
  return blocks.map((block) => String(block.raw[member]))
}

/** Throws unless every call has one result, in the very next message, before other blocks of that message. */
function refuseLooseResults(messages: readonly ReadMessage[]): void {
  const used = new Set<string>()
  for (const [at, message] of messages.entries()) {
    const calls = idsOf(message, 'tool_use', 'id')
    for (const id of calls) {
      if (used.has(id)) throw invalidRequest('`tool_use` ids must be unique', `messages[${at}]`)
      used.add(id)
    }
    refuseUnanswered(messages, at, calls)
    refuseUnasked(messages, at)
  }
}

function refuseUnanswered(messages: readonly ReadMessage[], at: number, calls: readonly string[]): void {
  const next = messages[at + 1]
  if (calls.length === 0) return
  // A final message with a call asks Anthropic to continue in the middle of a turn, which it refuses too.
  const isUser = next?.role === 'user'
  const firstOther = isUser ? next.blocks.findIndex((block) => block.type !== 'tool_result') : 0
  const blocks = next?.blocks.slice(0, firstOther < 0 ? undefined : firstOther) ?? []
  const answered = idsOf({ role: 'user', blocks }, 'tool_result', 'tool_use_id')
  const open = calls.filter((id) => !answered.includes(id))
  if (open.length === 0) return
  const message = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
  throw invalidRequest(message, `messages[${at}]`)
}

function refuseUnasked(messages: readonly ReadMessage[], at: number): void {
  const results = idsOf(messages[at], 'tool_result', 'tool_use_id')
  const asked = idsOf(messages[at - 1], 'tool_use', 'id')
  const seen = new Set<string>()
  for (const id of results) {
    if (!asked.includes(id)) {
      const message = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
      throw invalidRequest(message, `messages[${at}].content[0]`)
    }
    if (seen.has(id)) {
      const message = `each \`tool_use\` must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
      throw invalidRequest(message, `messages[${at}].content[0]`)
    }
    seen.add(id)
  }
}

/** The texts of the user, of one message after another. */
export function userTexts(messages: readonly ReadMessage[]): string[] {
  return messages
    .filter((message) => message.role === 'user')
    .map(({ blocks }) => blocks.filter((block) => block.type === 'text'))
    .filter((blocks) => blocks.length > 0)
    .map((blocks) => blocks.map((block) => block.text).join('\n'))
}

/** True when an assistant's message is a separate turn and does not continue the one before it. */
export function modelTurnsIn(messages: readonly ReadMessage[]): number {
  return messages.filter(
    ({ role }, at) =>
      role === 'assistant' && at < messages.length - 1 && messages[at - 1]?.role !== 'assistant',
  ).length
}

/**
 * The answer to the model's calls at the end of the conversation, ignoring later instructions; null when there is none.
 */
export function lastToolAnswer(messages: readonly ReadMessage[]): string | null {
  const last = messages.findLast((message) => message.role !== 'system')
  const results = last?.blocks.filter((block) => block.type === 'tool_result') ?? []
  return results.length === 0 ? null : results.map((block) => block.text).join('\n')
}

/** Cache marks anywhere in a value. */
export function marksIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(marksIn)
  if (!isObject(value)) return []
  const own = value['cache_control']
  const nested = value['type'] === 'tool_result' ? marksIn(value['content']) : []
  return isObject(own) ? [own, ...nested] : nested
}
