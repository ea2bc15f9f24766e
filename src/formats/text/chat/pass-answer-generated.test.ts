import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isThorough } from '../../../../test/support/thorough.ts'
import type { AnswerContext, ShownCharge } from '../../../canonical/upstream.ts'
import { noUsage } from '../../../canonical/usage.ts'
import { joinPieces } from '../../../core/body.ts'
import { decodeChatAnswer } from './pass-answer.ts'
import { chatQuirks } from './quirks.ts'

const numRuns = isThorough ? 20_000 : 300

const context: AnswerContext = {
  generationId: 'gen-1',
  model: 'a/b',
  provider: 'Host',
  providerSlug: 'host',
  created: 7,
  modelNames: ['a/b'],
  hideSecrets: (text) => text,
}

const charge: ShownCharge = {
  costNanocredits: 61_650n,
  promptNanocredits: 31_650n,
  completionNanocredits: 30_000n,
  isByok: false,
  usage: { ...noUsage, inputTokens: 3, outputTokens: 4 },
  isEstimated: true,
  metadata: null,
  metadataAlias: false,
}

type Wire = Record<string, unknown>

const isObject = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The answer as callers see it: the provider's members in their order, then those that it left out. */
function expectedOf(wire: Wire): Wire {
  const own = ['headrace_metadata', 'openrouter_metadata', 'user_id', 'error', 'x_groq', 'usage_breakdown']
  const hidden = new Set([...own, 'prompt_token_ids', 'kv_transfer_params'])
  const usage = {
    prompt_tokens: 3,
    completion_tokens: 4,
    total_tokens: 7,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
    cost: 0.00006165,
    cost_details: {
      upstream_inference_cost: 0.00006165,
      upstream_inference_prompt_cost: 0.00003165,
      upstream_inference_completions_cost: 0.00003,
    },
    is_byok: false,
  }
  const all = {
    ...wire,
    id: 'gen-1',
    object: 'chat.completion',
    created: 7,
    model: 'a/b',
    provider: 'Host',
    system_fingerprint: wire['system_fingerprint'] ?? null,
    choices: (wire['choices'] as Wire[]).map(choiceOf),
    usage,
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => !hidden.has(name)))
}

function choiceOf(wire: Wire, at: number): Wire {
  const message = messageOf(wire['message'] as Wire, at)
  const native =
    typeof wire['finish_reason'] === 'string' && wire['finish_reason'] !== '' ? wire['finish_reason'] : null
  const calls = message['tool_calls'] !== undefined || isObject(message['function_call'])
  const reason =
    { stop: 'stop', end_turn: 'stop', length: 'length', tool_calls: 'tool_calls' }[native ?? 'stop'] ??
    'error'
  const { native_finish_reason: told, index, logprobs } = wire
  return {
    ...wire,
    index: Number.isInteger(index) && Number(index) >= 0 ? index : at,
    message,
    finish_reason: reason === 'stop' && calls ? 'tool_calls' : reason,
    native_finish_reason: typeof told === 'string' && told !== '' ? told : native,
    logprobs: isObject(logprobs) ? logprobsOf(logprobs) : null,
  }
}

function logprobsOf(wire: Wire): Wire {
  const complete = (token: Wire): Wire => ({
    ...token,
    bytes: Array.isArray(token['bytes']) ? token['bytes'] : null,
  })
  const tokens = (list: unknown) =>
    Array.isArray(list)
      ? list.map((token: Wire) => ({
          ...complete(token),
          top_logprobs: ((token['top_logprobs'] ?? []) as Wire[]).map(complete),
        }))
      : null
  return { ...wire, content: tokens(wire['content']), refusal: tokens(wire['refusal']) }
}

function messageOf(wire: Wire, at: number): Wire {
  const { content, refusal, tool_calls: calls, annotations } = wire
  const all: Wire = { ...wire, role: 'assistant', content: content ?? null, refusal: refusal ?? null }
  if (wire['reasoning_content'] !== undefined) all['reasoning'] ??= wire['reasoning_content']
  if (Array.isArray(annotations)) all['annotations'] = annotations.map(citationOf)
  if (Array.isArray(calls) && calls.length > 0) all['tool_calls'] = callsOf(calls, `gen-1_${at}`)
  else delete all['tool_calls']
  delete all['reasoning_content']
  const neverNull = new Set(['reasoning_details', 'audio', 'images', 'annotations', 'name', 'function_call'])
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== null || !neverNull.has(name)),
  )
}

function citationOf(annotation: Wire): Wire {
  const citation = annotation['url_citation']
  if (!isObject(citation)) return annotation
  const { url, title, start_index: start, end_index: end } = citation
  const complete = { ...citation, title: title ?? url, start_index: start ?? 0, end_index: end ?? 0 }
  return { ...annotation, url_citation: complete }
}

function callsOf(calls: readonly Wire[], suffix: string): Wire[] {
  const taken = new Set<unknown>()
  return calls.map((call, index) => {
    const { id: given, type, function: called } = call
    const id = given === undefined || given === '' || taken.has(given) ? `call_${suffix}_${index}` : given
    taken.add(id)
    const shown: Wire = { ...call, id, index, type: type || 'function' }
    if (isObject(called))
      shown['function'] = { ...called, name: called['name'] ?? '', arguments: called['arguments'] || '{}' }
    return shown
  })
}

const text = fc.oneof(
  fc.constantFrom('', 'Hello', 'a "quoted" \\ text', 'é 日本 😀', '\ud83d', '\u0001\n\t', '</script>'),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const other = fc.oneof(
  fc.constantFrom(null, true, 0, -0, 1.5, 1e21, 1e-7),
  text,
  fc.jsonValue({ maxDepth: 2 }),
)

const call = fc.record(
  {
    id: fc.constantFrom('call_1', 'call_2', ''),
    type: fc.constantFrom('function', ''),
    index: fc.nat(5),
    function: fc.record({ name: text, arguments: text, extra: other }, { requiredKeys: [] }),
    extra: other,
  },
  { requiredKeys: [] },
)

const message = fc.record(
  {
    role: fc.constantFrom('assistant', 'model', null),
    content: fc.option(text),
    refusal: fc.option(text),
    reasoning: fc.option(text),
    reasoning_content: fc.option(text),
    tool_calls: fc.option(fc.array(call, { maxLength: 3 })),
    annotations: fc.option(
      fc.array(
        fc.record({
          type: text,
          url_citation: fc.record({ url: text, title: fc.option(text) }, { requiredKeys: ['url'] }),
        }),
      ),
    ),
    images: fc.constant(null),
    audio: fc.constant(null),
    name: fc.option(text),
    extra: other,
  },
  { requiredKeys: [] },
)

const token = fc.record(
  {
    token: text,
    logprob: fc.constantFrom(-0.5, -9999),
    bytes: fc.option(fc.array(fc.nat(255))),
    extra: other,
  },
  { requiredKeys: ['token', 'logprob'] },
)

const choice = fc.record(
  {
    index: fc.constantFrom(0, 1, 2, -1, 'one'),
    message,
    finish_reason: fc.constantFrom('stop', 'end_turn', 'length', 'tool_calls', 'strange', '', null),
    native_finish_reason: fc.constantFrom('STOP', '', null),
    logprobs: fc.option(
      fc.record({
        content: fc.option(fc.array(token, { maxLength: 2 })),
        refusal: fc.option(fc.array(token, { maxLength: 1 })),
      }),
    ),
    extra: other,
  },
  { requiredKeys: ['message'] },
)

const names = [
  'id',
  'object',
  'created',
  'model',
  'provider',
  'system_fingerprint',
  'service_tier',
  'usage',
  'error',
]
const hidden = ['user_id', 'x_groq', 'usage_breakdown', 'kv_transfer_params', 'headrace_metadata']

const answer = fc
  .tuple(
    fc.array(choice, { minLength: 1, maxLength: 3 }),
    fc.uniqueArray(
      fc.tuple(fc.oneof(fc.constantFrom(...names, ...hidden), fc.string({ maxLength: 5 })), other),
      {
        selector: ([name]) => name,
        maxLength: 8,
      },
    ),
    fc.nat(8),
  )
  .map(([choices, members, at]) => {
    const kept = members.filter(([name]) => name !== 'choices')
    const pairs = kept.map(([name, value]): [string, unknown] => [name, name === 'error' ? null : value])
    return Object.fromEntries([...pairs.slice(0, at), ['choices', choices], ...pairs.slice(at)])
  })

test('whatever a provider answers, callers get it member by member in the contract’s form', () => {
  fc.assert(
    fc.property(answer, fc.constantFrom(0, 2), (wire, indent) => {
      const json = JSON.stringify(wire, null, indent)
      const decoded = decodeChatAnswer(Buffer.from(json), context, chatQuirks())
      const shown = Buffer.from(joinPieces(decoded.encode(charge))).toString()
      expect(shown).toBe(JSON.stringify(expectedOf(JSON.parse(json) as Wire)))
    }),
    { numRuns },
  )
})
