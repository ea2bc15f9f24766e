import type { TextCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer } from '../canonical/upstream.ts'
import { GatewayError } from '../core/errors.ts'
import { answerBytesMax } from '../core/limits/calls.ts'
import { selectCodec } from '../formats/codec.ts'
import type { TextAdapter } from '../providers/define-provider.ts'
import type { UpstreamResponse } from '../transport/http-client.ts'
import { firstToAnswer, sendAttempt } from './attempts.ts'
import { CallState } from './call-state.ts'
import { streamBody } from './event-stream.ts'
import type { Attempt } from './metadata.ts'
import { openStream, takeInWhatIsHere, type OpenedStream } from './opened-stream.ts'
import type { ExecutionParts } from './parts.ts'
import { prepare, type Plan } from './prepare.ts'
import type { Outcome, RequestScope } from './scope.ts'

/** Chat completions and embeddings: prepare, call, complete. */
export async function executeText(
  call: TextCall,
  scope: RequestScope,
  parts: ExecutionParts,
): Promise<Outcome> {
  const state = new CallState(call, scope, parts)
  const prepared = prepare(call, [], state, parts)
  const plan = prepared instanceof Promise ? await prepared : prepared
  try {
    return call.stream ? await streamed(call, plan, state, parts) : await whole(call, plan, state, parts)
  } catch (error) {
    plan.settlement.release()
    throw error
  }
}

async function whole(call: TextCall, plan: Plan, state: CallState, parts: ExecutionParts): Promise<Outcome> {
  const answered = await firstToAnswer<DecodedAnswer>(
    plan.endpoints,
    state,
    parts,
    async (endpoint, attempt) => {
      const adapter = adapterOf(call, endpoint, parts)
      const { sending, context } = send(call, adapter, { attempt, state, parts })
      const response = await sending
      attempt.firstTokenMs = attempt.headersMs
      const bytes = await response.readAll(answerBytesMax)
      attempt.endedMs = state.elapsedMs()
      return selectCodec(call.format, adapter.format).decodeAnswer(bytes, context, adapter.quirks, call)
    },
  )
  const { row, shown } = state.charge(answered.attempt, answered.value.reading, 'completed')
  await plan.settlement.capture(row, 'nothing')
  return {
    generationId: state.generationId,
    contentType: 'application/json',
    body: answered.value.encode(shown),
    provider: answered.endpoint.deployment.providerName,
    ended: Promise.resolve(),
  }
}

async function streamed(
  call: TextCall,
  plan: Plan,
  state: CallState,
  parts: ExecutionParts,
): Promise<Outcome> {
  const opening = firstToAnswer<OpenedStream>(plan.endpoints, state, parts, async (endpoint, attempt) => {
    const adapter = adapterOf(call, endpoint, parts)
    const { sending, context } = send(call, adapter, { attempt, state, parts })
    const response = await sending
    const rewriter = selectCodec(call.format, adapter.format).createStream(context, adapter.quirks, call)
    const opened = await openStream(response, rewriter, call.demand.choices)
    attempt.firstTokenMs = state.elapsedMs()
    await takeInWhatIsHere(opened)
    return opened
  })
  const { body, ended } = await streamBody({ opening, plan, state, parts })
  return {
    generationId: state.generationId,
    contentType: 'text/event-stream',
    body,
    provider: state.attempts.at(-1)?.endpoint.deployment.providerName ?? '',
    ended,
  }
}

/** A request under way, and what the answer to it must say about itself and be. */
interface Sent {
  sending: Promise<UpstreamResponse>
  context: AnswerContext
}

function send(
  call: TextCall,
  adapter: TextAdapter,
  { attempt, state, parts }: { attempt: Attempt; state: CallState; parts: ExecutionParts },
): Sent {
  const { endpoint } = attempt
  const encoded = selectCodec(call.format, adapter.format).encodeRequest(call, endpoint, adapter.quirks)
  const { dropped, approximated = [], promised } = encoded
  // What stands inside messages is no parameter.
  const lost = [...dropped, ...approximated].filter((name) => !name.includes('[]'))
  if (lost.length > 0 && call.preferences.requireParameters) {
    throw new GatewayError(
      'no_matching_endpoint',
      `provider.require_parameters: ${endpoint.deployment.providerName} cannot be sent ${lost.join(', ')}.`,
      { param: 'provider.require_parameters' },
    )
  }
  state.noteLosses(encoded)
  const usual = call.stream ? streamHeaders : jsonHeaders
  const headers = encoded.headers ? { ...usual, ...encoded.headers } : usual
  const request = { method: 'POST', path: adapter.path, headers, body: encoded.body } as const
  const context = state.contextOf(endpoint)
  return {
    sending: sendAttempt(request, attempt, state, parts),
    context: promised === undefined ? context : { ...context, promised },
  }
}

const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json' }
const streamHeaders = { 'content-type': 'application/json', accept: 'text/event-stream' }

function adapterOf(call: TextCall, endpoint: Endpoint, parts: ExecutionParts): TextAdapter {
  const { adapters } = parts.presetOf(endpoint.deployment.preset)
  const adapter = call.format === 'embeddings' ? adapters.embedding : adapters.language
  if (!adapter)
    throw new GatewayError(
      'no_matching_endpoint',
      `${endpoint.deployment.providerName} has no ${call.format} interface.`,
    )
  return adapter
}
