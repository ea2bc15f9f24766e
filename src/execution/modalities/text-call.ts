import type { AudioRequirement } from '../../canonical/audio.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { DecodedAnswer, StreamRewriter } from '../../canonical/upstream.ts'
import { atCheaperTier } from '../../catalog/prices/cheaper-tier.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { inTurns } from '../../core/turns.ts'
import { isTierMissing } from '../../formats/service-tier.ts'
import { lostParameters, textAdapter, type TextAdapter, type TextStep } from '../../formats/text/adapter.ts'
import { chooseInterface, type TextInterface } from '../../formats/text/text-interface.ts'
import { textInterfacesOf } from '../../providers/define-provider.ts'
import type { CallState } from '../call/call-state.ts'
import { streamBody } from '../streams/event-stream.ts'
import type { Asking, CallHooks } from '../call/call-hooks.ts'
import { openStream, takeInWhatIsHere, type OpenedStream } from '../streams/opened-stream.ts'
import type { Candidate } from '../call/prepared.ts'
import { callFor } from '../fetched/remote-media.ts'
import type { LaneTier, Outcome } from '../call/scope.ts'
import type { CallerWords } from '../../formats/caller-text.ts'
import { comparedTextLengthMax } from '../../core/limits/text.ts'
import { stringsOf } from '../../formats/caller-text.ts'

/**
 * A request of at least this many bytes, without its longer texts, is translated in several turns of the event loop.
 */
const steppedBodyBytesMin = 262_144

/** The types of text. Whole and streamed answers differ only in `heard`. */
interface TextKind {
  call: TextCall
  answer: DecodedAnswer
  reader: StreamRewriter
  heard: unknown
  outcome: Outcome
}

interface TextAsking extends Asking<TextKind> {
  readonly adapter: TextAdapter
}

const textHooks = {
  requirements: (_call: TextCall, { scope }: CallState) => tierRequirements(scope.batch?.tier),
  wordsOf({ document: { bytes, members } }: TextCall): CallerWords | null {
    // An escaped character takes up to six bytes.
    if (bytes.length > comparedTextLengthMax * 6) return null
    const texts = stringsOf(JSON.parse(new TextDecoder().decode(bytes)))
    return { texts, names: [...members.keys()] }
  },
  ask(candidate: Candidate, { call, state }: { call: TextCall; state: CallState }): TextAsking {
    const { endpoint } = candidate
    const asked = interfaceAt(call, candidate, state)
    return {
      candidate,
      adapter: textAdapter(call.format, asked),
      at: {
        call: callFor(call, asked.quirks, endpoint.deployment),
        endpoint,
        context: state.contextOf(candidate),
      },
    }
  },
  /** Returns a promise only for a large request, which is translated in several turns. */
  firstStep(asking: TextAsking, { call }: { call: TextCall }): TextStep | Promise<TextStep> {
    return isStepped(call)
      ? firstInTurns(asking, call)
      : checked(asking.adapter.first(asking.at), asking, call)
  },
}

async function firstInTurns(asking: TextAsking, call: TextCall): Promise<TextStep> {
  return checked(await inTurns(asking.adapter.firstInSteps(asking.at)), asking, call)
}

/** The types of an answer in one piece. */
export type WholeText = TextKind & { heard: DecodedAnswer }

/** Every text operation, answered in one piece. */
export const wholeText: CallHooks<WholeText> = {
  ...textHooks,
  hear(reached) {
    assert(reached.type === 'answer', 'an answer that is not streamed is whole')
    return reached.answer
  },
  reading: ({ value }) => value.reading,
  hasShown: () => false,
  isOwed: () => false,
  leaves: {
    type: 'whole',
    outcome: ({ endpoint, value }, charge, { state }) => ({
      generationId: state.generationId,
      contentType: 'application/json',
      body: value.encode(charge),
      provider: endpoint.deployment.providerName,
      ended: Promise.resolve(),
    }),
  },
}

/** The same as events. A caller who leaves pays for what was streamed; an answer that its provider broke off is free. */
export const streamedText: CallHooks<TextKind & { heard: OpenedStream }> = {
  ...textHooks,
  async hear(reached, attempt, { call, state }) {
    assert(reached.type === 'opened', 'a streamed answer is a body')
    const opened = await openStream(reached.response, reached.reader, call.demand.choices)
    attempt.firstTokenMs = state.elapsedMs()
    await takeInWhatIsHere(opened)
    return opened
  },
  reading: ({ value }) => value.rewriter.reading(),
  hasShown: ({ rewriter }) => rewriter.hasShownOutput,
  isOwed: (_opened, ending) => ending === 'cancelled',
  leaves: {
    type: 'stream',
    async open(answering, run) {
      const { body, ended } = await streamBody(answering, run)
      const { state } = run
      return {
        generationId: state.generationId,
        contentType: 'text/event-stream',
        body,
        provider: state.attempts.at(-1)?.endpoint.deployment.providerName ?? '',
        ended,
      }
    },
  },
}

/** Whether the request is so large that other calls must get turns while it is read. */
export function isStepped({ document }: TextCall): boolean {
  return (document.lean ?? document).bytes.length >= steppedBodyBytesMin
}

function checked<K extends TextKind>(step: TextStep, { candidate }: Asking<K>, call: TextCall): TextStep {
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

const none: readonly AudioRequirement[] = []

/** The lane of a batch item asks only endpoints at which its tier is cheaper. */
function tierRequirements(tier: LaneTier | undefined): readonly AudioRequirement[] {
  return tier === undefined ? none : requireTier(tier)
}

function requireTier(tier: LaneTier): readonly AudioRequirement[] {
  return [
    {
      name: 'service_tier',
      isMet: (endpoint) => atCheaperTier(endpoint, tier.name) !== null,
      refuse: (model) =>
        new GatewayError(
          'no_matching_endpoint',
          `No provider of ${model} has a tier "${tier.name}" with a lower price.`,
          { param: 'service_tier', metadata: { failed_routing_step: 'service_tier' } },
        ),
    },
  ]
}

function refuseTier({ endpoint }: Candidate): GatewayError {
  const { model, deployment } = endpoint
  return new GatewayError(
    'no_matching_endpoint',
    `"service_tier" is one that ${deployment.providerName} does not have for ${model}. Leave it out, or ask for another model.`,
    { param: 'service_tier', metadata: { failed_routing_step: 'service_tier' } },
  )
}

function ofFormats(
  interfaces: readonly TextInterface[],
  formats: readonly string[],
): readonly TextInterface[] {
  return interfaces.filter(({ format }) => formats.includes(format))
}

function interfaceAt(
  { format, parameters }: TextCall,
  { endpoint }: Candidate,
  { serving, scope }: CallState,
): TextInterface {
  const { deployment, modality } = endpoint
  const all = textInterfacesOf(serving.adaptersOf(deployment), modality)
  const formats = scope.batch?.jobFormats
  const interfaces = formats === undefined ? all : ofFormats(all, formats)
  const { model, upstreamModel, interfaces: listed } = endpoint
  const asked = { model, upstreamModel, format, parameters, ...(listed && { interfaces: listed }) }
  const found = chooseInterface(interfaces, asked)
  if (found) return found
  throw new GatewayError('no_matching_endpoint', `${deployment.providerName} has no ${format} interface.`)
}
