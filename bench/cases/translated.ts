import type { Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import {
  durableTarget,
  embeddingsTarget,
  headraceTarget,
  messagesTarget,
  type Target,
} from '../harness/target.ts'
import type { World } from '../harness/world.ts'
import { compare, durableName, resultOf, runChecked } from './saturated.ts'

/** What a translated call may cost of one that passes through, in the same run. */
const translatedMax = 1.8
const embeddingsMax = 1.5

/** Calls of one format to a provider of another, beside the same call passed through; whole and streamed. */
export async function translated(world: World, report: Report, scale: Scale): Promise<void> {
  const { headrace } = world
  const kinds = {
    JSON: [
      named('passed through', headraceTarget(headrace, 'json-1k', 1000)),
      named('chat to Anthropic', headraceTarget(headrace, 'messages-1k', 1000)),
      named('chat to Gemini', headraceTarget(headrace, 'gemini-1k', 1000)),
      named('messages to OpenAI', messagesTarget(headrace, 'json-1k', 1000)),
    ],
    'SSE 50 chunks': [
      named('passed through', headraceTarget(headrace, 'sse-50', 1000)),
      named('chat to Anthropic', headraceTarget(headrace, 'messages-50', 1000)),
      named('chat to Gemini', headraceTarget(headrace, 'gemini-50', 1000)),
      named('messages to OpenAI', messagesTarget(headrace, 'sse-50', 1000)),
    ],
  }
  for (const [kind, targets] of Object.entries(kinds)) {
    const results = await runChecked(kind, targets, { world, report, scale })
    for (const { name } of targets.slice(1)) {
      const key = `${kind} ${name}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
      const compared = { what: `${kind}, ${name}`, key, limit: translatedMax, of: 'passed through' }
      compare(report, compared, resultOf(results, name), resultOf(results, 'passed through'))
    }
  }
}

/** One embedding of 1,536 numbers, beside the durable floor passing the same bytes. */
export async function embeddings(world: World, report: Report, scale: Scale): Promise<void> {
  const own = embeddingsTarget(world.headrace)
  const floor = durableTarget(world, { reply: 'embeddings-1536', requestBytes: 1000 })
  const what = 'embeddings of 1,536 numbers'
  const results = await runChecked(what, [floor, own], { world, report, scale })
  const compared = { what, key: 'embeddings_of_durable', limit: embeddingsMax, of: durableName }
  compare(report, compared, resultOf(results, own.name), resultOf(results, durableName))
}

function named(name: string, target: Target): Target {
  return { ...target, name }
}
