import type { TextCall } from '../canonical/call.ts'
import type { CallAt } from '../canonical/steps.ts'
import type { DecodedAnswer } from '../canonical/upstream.ts'
import { assert } from '../core/assert.ts'
import { GatewayError } from '../core/errors.ts'
import { steppedBodyBytesMin } from '../core/limits/text.ts'
import { inTurns } from '../core/turns.ts'
import { isTierMissing } from '../formats/service-tier.ts'
import { lostParameters, textAdapter, type TextAdapter, type TextStep } from '../formats/text/adapter.ts'
import { chooseInterface, type TextInterface } from '../formats/text/text-interface.ts'
import { textInterfacesOf } from '../providers/define-provider.ts'
import { firstToAnswer } from './attempts.ts'
import { coveredCharge } from './covered-charge.ts'
import { CallState } from './call-state.ts'
import { streamContextOf } from './debug.ts'
import { streamBody } from './event-stream.ts'
import { exchange } from './exchanges.ts'
import { openStream, takeInWhatIsHere, type OpenedStream } from './opened-stream.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { prepare, type Plan } from './prepare.ts'
import type { Candidate } from './prepared.ts'
import { callFor } from './remote-media.ts'
import type { Outcome, RequestScope } from './scope.ts'

/** A text call that was prepared, with what carries it out. */
interface TextWork {
  call: TextCall
  plan: Plan<TextStep>
  state: CallState
  dependencies: ExecutionDependencies
}

/** Chat completions, responses, messages and embeddings: prepare, call, complete. */
export async function executeText(
  call: TextCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<Outcome> {
  const state = new CallState(call, scope, dependencies)
  const firstStep = (candidate: Candidate) => stepAt(call, candidate, state)
  const preparing = prepare({ requirements: [], firstStep }, state, dependencies)
  const plan = preparing instanceof Promise ? await preparing : preparing
  const work = { call, plan, state, dependencies }
  try {
    return call.stream ? await streamed(work) : await whole(work)
  } catch (error) {
    plan.settlement.release()
    throw error
  }
}

async function whole({ call, plan, state, dependencies }: TextWork): Promise<Outcome> {
  const answered = await firstToAnswer<DecodedAnswer>(
    plan.prepared.route,
    state,
    dependencies,
    async (candidate, attempt) => {
      const first = firstAt(candidate, { call, plan, state, dependencies })
      const step = first instanceof Promise ? await first : first
      const reached = await exchange(
        adapterAt(call, candidate, state),
        step,
        askedAt(call, candidate, state),
        {
          attempt,
          state,
          dependencies,
        },
      )
      assert(reached.type === 'answer', 'an answer that is not streamed is whole')
      return reached.answer
    },
  )
  const { attempt, value } = answered
  const covered = coveredCharge(state, plan.settlement, {
    attempt,
    reading: value.reading,
    ending: 'completed',
  })
  const { row, shown } = covered instanceof Promise ? await covered : covered
  await plan.settlement.capture(row, 'nothing')
  return {
    generationId: state.generationId,
    contentType: 'application/json',
    body: value.encode(shown),
    provider: answered.endpoint.deployment.providerName,
    ended: Promise.resolve(),
  }
}

async function streamed({ call, plan, state, dependencies }: TextWork): Promise<Outcome> {
  const opening = firstToAnswer<OpenedStream>(
    plan.prepared.route,
    state,
    dependencies,
    async (candidate, attempt) => {
      const first = firstAt(candidate, { call, plan, state, dependencies })
      const step = first instanceof Promise ? await first : first
      const reached = await exchange(
        adapterAt(call, candidate, state),
        step,
        { ...askedAt(call, candidate, state), context: streamContextOf(state, attempt) },
        {
          attempt,
          state,
          dependencies,
        },
      )
      assert(reached.type === 'opened', 'a streamed answer is a body')
      const opened = await openStream(reached.response, reached.reader, call.demand.choices)
      attempt.firstTokenMs = state.elapsedMs()
      await takeInWhatIsHere(opened)
      return opened
    },
  )
  const { body, ended } = await streamBody({ opening, plan, state, dependencies })
  return {
    generationId: state.generationId,
    contentType: 'text/event-stream',
    body,
    provider: state.attempts.at(-1)?.endpoint.deployment.providerName ?? '',
    ended,
  }
}

/** What was prepared for the first of the route; what the others are sent is made when they are tried. */
function firstAt(candidate: Candidate, { call, plan, state }: TextWork): TextStep | Promise<TextStep> {
  return candidate === plan.prepared.route[0] ? plan.first : stepAt(call, candidate, state)
}

/** A promise for a large request alone, which is translated in turns. */
function stepAt(call: TextCall, candidate: Candidate, state: CallState): TextStep | Promise<TextStep> {
  const adapter = adapterAt(call, candidate, state)
  const asked = askedAt(call, candidate, state)
  if (!isStepped(call)) return checked(adapter.first(asked), call, candidate)
  return inTurns(adapter.firstInSteps(asked)).then((step) => checked(step, call, candidate))
}

/** Whether so much of the request must be read that others have a turn meanwhile. */
export function isStepped({ document }: TextCall): boolean {
  return (document.lean ?? document).bytes.length >= steppedBodyBytesMin
}

function checked(step: TextStep, call: TextCall, candidate: Candidate): TextStep {
  if (step.type === 'answer') return step
  if (isTierMissing(call, step.exchange.dropped)) throw refuseTier(candidate)
  if (!call.preferences.requireParameters) return step
  const lost = lostParameters(step.exchange)
  if (lost.length > 0) {
    throw new GatewayError(
      'no_matching_endpoint',
      `provider.require_parameters: ${candidate.endpoint.deployment.providerName} cannot be sent ${lost.join(', ')}.`,
      {
        param: 'provider.require_parameters',
        metadata: { failed_routing_step: 'provider.require_parameters' },
      },
    )
  }
  return step
}

function refuseTier({ endpoint }: Candidate): GatewayError {
  const { model, deployment } = endpoint
  return new GatewayError(
    'no_matching_endpoint',
    `"service_tier" is one that ${deployment.providerName} does not have for ${model}. Leave it out, or ask for another model.`,
    { param: 'service_tier', metadata: { failed_routing_step: 'service_tier' } },
  )
}

function askedAt(call: TextCall, candidate: Candidate, state: CallState): CallAt<TextCall> {
  const { quirks } = interfaceAt(call, candidate, state)
  return {
    call: callFor(call, quirks, candidate.endpoint.deployment),
    endpoint: candidate.endpoint,
    context: state.contextOf(candidate),
  }
}

function adapterAt(call: TextCall, candidate: Candidate, state: CallState): TextAdapter {
  return textAdapter(call.format, interfaceAt(call, candidate, state))
}

function interfaceAt(
  { format, parameters }: TextCall,
  { endpoint }: Candidate,
  { serving }: CallState,
): TextInterface {
  const { deployment, modality } = endpoint
  const interfaces = textInterfacesOf(serving.adaptersOf(deployment), modality)
  const found = chooseInterface(interfaces, { ...endpoint, format, parameters })
  if (found) return found
  throw new GatewayError('no_matching_endpoint', `${deployment.providerName} has no ${format} interface.`)
}
