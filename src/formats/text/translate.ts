import { type BodyPieces, joinPieces } from '../../core/body.ts'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerChoice } from '../../canonical/text/answer.ts'
import type { ReportedUsage } from '../../canonical/text/events.ts'
import type { PromisedOutput, ShownCharge } from '../../canonical/upstream.ts'
import type { GatewayError } from '../../core/errors.ts'
import { atOnce } from '../../core/turns.ts'
import type { CallerHalf, EncodedRequest, Settled, UpstreamHalf } from './halves.ts'
import { endedInError } from './finish-reason.ts'
import { hidesThoughts, withHiddenThoughts, writerOfHiddenThoughts } from './thoughts/hidden-thoughts.ts'
import { nameOf } from './member-names.ts'
import { markAnswer, markStream, sealerOf, withoutForeignSeals } from './thoughts/seals.ts'
import { isMarkedWithin, restore } from '../../json/set-aside-texts.ts'
import { toBuffer } from '../../json/bytes.ts'
import { shapeAnswer, shapeStream } from './output/promised-answer.ts'
import { checkOutput } from './output/promised-output.ts'
import type { TextCodec, TextQuirks } from './codec.ts'
import { refuseEmptyChoice } from './tools/tool-choice.ts'
import { readingOf } from './streams/stream-meter.ts'
import { TranslatedStream } from './streams/translated-stream.ts'

/** A codec between two formats, by way of a conversation. */
export function translate(caller: CallerHalf, upstream: UpstreamHalf<TextQuirks>): TextCodec {
  function* encodeInSteps(
    call: TextCall,
    endpoint: Endpoint,
    quirks: TextQuirks,
  ): Generator<void, EncodedRequest> {
    yield
    const sealer = sealerOf(quirks, endpoint.deployment.provider)
    const { format } = quirks
    const read = yield* caller.readConversation(call, format)
    yield
    const { conversation, hasForeign } = withoutForeignSeals(read, { sealer, format })
    // For a provider of the caller's own format, the provider judges the choice.
    if (conversation.format !== format) refuseEmptyChoice(conversation)
    const encoded = yield* upstream.writeRequest(conversation, { endpoint, quirks })
    const lost = nameOf('thought', conversation)
    yield
    return !hasForeign || encoded.dropped.includes(lost)
      ? encoded
      : { ...encoded, dropped: [...encoded.dropped, lost] }
  }
  return {
    encodeRequest: (call, endpoint, quirks) =>
      atOnce(encodeLean(call, (read) => encodeInSteps(read, endpoint, quirks))),
    encodeInSteps: (call, endpoint, quirks) =>
      encodeLean(call, (read) => encodeInSteps(read, endpoint, quirks)),
    decodeAnswer(bytes, context, quirks, call) {
      const sealer = sealerOf(quirks, context.providerSlug)
      const read = markAnswer(upstream.readAnswer(bytes, quirks, context), sealer)
      const answer = shapeAnswer(read, context.promised)
      const finish = answer.choices[0]?.finish
      if (!caller.hasErrorEnd && finish?.reason === 'error') throw asFailure(endedInError(finish))
      const { promised } = context
      if (promised !== undefined) for (const choice of answer.choices) checkChoice(choice, promised)
      const shown = hidesThoughts(context, quirks) ? withHiddenThoughts(answer, context) : answer
      return {
        reading: readingOf(answer),
        encode: (charge) => [
          caller.writeAnswer(shown, { context, call }, settle(caller, charge, answer.usage)),
        ],
      }
    },
    createStream(context, quirks, call) {
      const writer = caller.createStream({ context, call })
      return new TranslatedStream(
        shapeStream(
          markStream(upstream.createStream(quirks, context), sealerOf(quirks, context.providerSlug)),
          context.promised,
        ),
        hidesThoughts(context, quirks) ? writerOfHiddenThoughts(writer, context) : writer,
        (charge, usage) => settle(caller, charge, usage),
        context.promised,
      )
    },
    readError: (response) => upstream.readError(response),
  }
}

/**
 * Reads and writes a large body with marks in place of its longer texts, and puts the texts back as bytes: a picture of
 * megabytes is never built or written as a string.
 */
function* encodeLean(
  call: TextCall,
  encode: (call: TextCall) => Generator<void, EncodedRequest>,
): Generator<void, EncodedRequest> {
  const encoded = yield* encode(call)
  const { lean, bytes } = call.document
  if (lean === null || lean.texts.length === 0) return encoded
  const json = textOfPieces(encoded.body)
  // JSON within JSON would need one more level of escapes in the text.
  if (isMarkedWithin(json)) return yield* encode({ ...call, document: { ...call.document, lean: null } })
  return { ...encoded, body: restore(json, bytes, lean) }
}

function settle(caller: CallerHalf, charge: ShownCharge, usage: ReportedUsage | null): Settled {
  const serviceTier = usage?.serviceTier ?? null
  return { charge, usage: caller.writeUsage(charge, serviceTier), serviceTier }
}

/** Returns the text itself when there is only one piece, which is usual, to avoid a copy. */
function textOfPieces(pieces: BodyPieces): string {
  const [only = '', ...others] = pieces
  const isText = typeof only === 'string' && others.length === 0
  return isText ? only : toBuffer(joinPieces(pieces)).toString('utf8')
}

/** An error that the caller's format cannot put into an answer. No other provider is tried. */
function asFailure(error: GatewayError): AttemptFailed {
  const consequences = { retryElsewhere: false, retrySame: false, credentialFault: false, retryAfterMs: null }
  return new AttemptFailed({ error, ...consequences })
}

/** An answer that was cut off, refused, or continues with a tool cannot have the promised form. */
function checkChoice({ parts, finish }: AnswerChoice, promised: PromisedOutput): void {
  if (finish?.reason !== 'stop' || parts.some(({ head }) => head.type === 'refusal')) return
  const texts = parts.filter(({ head }) => head.type === 'text').map(({ text }) => text)
  checkOutput(promised, texts.join(''))
}
