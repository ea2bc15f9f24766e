import type { Answer, AnswerPart } from '../canonical/text/answer.ts'
import type { MeterReading } from '../canonical/upstream.ts'
import type { CallerHalf, UpstreamHalf } from './halves.ts'
import type { TextCodec, TextQuirks } from './text-codec.ts'
import { emptyReading } from './stream-meter.ts'
import { TranslatedStream } from './translated-stream.ts'

/** A codec between two formats, by way of the conversation in which they meet. */
export function translate(caller: CallerHalf, upstream: UpstreamHalf<TextQuirks>): TextCodec {
  return {
    encodeRequest: (call, endpoint, quirks) =>
      upstream.writeRequest(caller.readConversation(call), { endpoint, quirks }),
    decodeAnswer(bytes, context, quirks, call) {
      const answer = upstream.readAnswer(bytes, quirks, context)
      return {
        reading: readingOf(answer),
        encode: (charge) => [caller.writeAnswer(answer, { context, call }, charge)],
      }
    },
    createStream: (context, quirks, call) =>
      new TranslatedStream(upstream.createStream(quirks, context), caller.createStream({ context, call })),
  }
}

/** What the meter reads of a whole answer. */
export function readingOf({ upstreamId, upstreamModel, choices, usage }: Answer): MeterReading {
  const parts = choices.flatMap((choice) => choice.parts)
  const pieces = parts.filter((part) => sizeOf(part) > 0 || part.head.type === 'image')
  const finish = choices[0]?.finish ?? null
  // Without a word and without a reason there is no answer that anybody would pay for.
  const isAnswer = finish !== null && (finish.native !== null || pieces.length > 0)
  return {
    ...emptyReading(),
    usage: usage?.usage ?? null,
    source: usage ? 'provider' : 'estimated',
    finishReason: isAnswer ? finish.reason : null,
    nativeFinishReason: finish?.native ?? null,
    upstreamId,
    upstreamModel,
    mediaTokens: usage?.mediaTokens ?? null,
    serviceTier: usage?.serviceTier ?? null,
    outputBytes: parts.reduce((sum, part) => sum + sizeOf(part), 0),
    outputPieces: pieces.length,
    reportedCostNanocredits: usage?.reportedCostNanocredits ?? null,
  }
}

/** Bytes that a model wrote for this part. */
function sizeOf({ head, text, summary }: AnswerPart): number {
  const name = head.type === 'tool_call' ? head.name : ''
  return Buffer.byteLength(name) + Buffer.byteLength(text) + Buffer.byteLength(summary.join(''))
}
