import type { Conversation } from '../../../canonical/text/conversation.ts'
import { fieldError } from '../../../core/errors.ts'
import { nameOf } from '../member-names.ts'

/**
 * Refuses a choice that requires a tool call when no tool is available: a format without tools has no place for the
 * choice, and the answer would be text that the caller did not ask for. Throws `invalid_request`, which names the
 * choice.
 */
export function refuseEmptyChoice(conversation: Conversation): void {
  const { toolChoice, tools } = conversation
  if (toolChoice === null || toolChoice.kind === 'auto' || toolChoice.kind === 'none') return
  const allowed = toolChoice.kind === 'allowed' ? new Set(toolChoice.names) : null
  const isThere = tools.some((tool) => allowed === null || tool.kind === 'provider' || allowed.has(tool.name))
  if (isThere) return
  const missing =
    toolChoice.kind === 'allowed' ? 'allows none of the tools in' : 'wants a tool, and there are none in'
  throw fieldError(
    nameOf('toolChoice', conversation),
    `${missing} "${nameOf('tools', conversation)}". Send the tools, or leave the choice out.`,
  )
}
