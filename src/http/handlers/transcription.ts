import type { DecodedTranscription } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { audioBodyBytesMax } from '../../core/limits/audio.ts'
import { operations } from '../../execution/operations.ts'
import { decodeTranscriptionJson } from '../../formats/transcription/decode-json.ts'
import { decodeTranscriptionMultipart } from '../../formats/transcription/decode-multipart.ts'
import { renderTranscription } from '../../formats/transcription/render-transcription.ts'
import { encodeTranscriptEvents } from '../../formats/transcription/transcript-events.ts'
import { transcriptContentType } from '../../formats/transcription/transcript-media.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { withPrincipal, type Authenticated, type HttpRoute } from '../pipeline.ts'
import { bodyOf, refusedEncoding, requireJson } from '../request-body.ts'
import { toResponseBody } from '../response-body.ts'
import { renderOutcome, scopeOf } from './text.ts'

/** `POST /audio/transcriptions`: audio as base64 in JSON, in a form, or by URL; the answer is text. */
export function transcriptionRoute(
  dependencies: HttpDependencies,
  dialect: { isOpenAiDialect?: true } = {},
): HttpRoute {
  return {
    method: 'POST',
    path: operations.transcription.path,
    group: 'audio',
    name: 'transcription',
    access: 'inference',
    handle: withPrincipal(async (exchange) => {
      const decoded = await decode(exchange, dependencies, dialect)
      return decoded.isStreamed
        ? streamed(decoded, exchange, dependencies)
        : whole(decoded, exchange, dependencies)
    }),
  }
}

/** Sends nothing before the outcome is known. */
async function whole(
  { call, media, dispose }: DecodedTranscription,
  exchange: Authenticated,
  { executor }: HttpDependencies,
): Promise<Response> {
  try {
    const outcome = await executor.transcription(call, scopeOf(exchange))
    const { transcription, charge, call: made } = outcome
    return new Response(toResponseBody([renderTranscription({ transcription, charge, call: made, media })]), {
      headers: {
        'content-type': transcriptContentType(media),
        'x-generation-id': outcome.generationId,
        'x-provider-name': outcome.provider,
      },
    })
  } finally {
    await dispose()
  }
}

async function streamed(
  { call, media, dispose }: DecodedTranscription,
  exchange: Authenticated,
  { executor }: HttpDependencies,
): Promise<Response> {
  try {
    const outcome = await executor.transcriptionStream(call, scopeOf(exchange), (made, isTextShown) =>
      encodeTranscriptEvents({ ...made, media }, isTextShown),
    )
    void outcome.ended.then(dispose)
    return renderOutcome(outcome, exchange)
  } catch (error) {
    await dispose()
    throw error
  }
}

async function decode(
  { request }: Authenticated,
  dependencies: HttpDependencies,
  dialect: { isOpenAiDialect?: true },
): Promise<DecodedTranscription> {
  const stated = Number(request.headers.get('content-length') ?? 0)
  // Base64 and the other members take up to 40 percent more than the audio itself.
  if (stated > audioBodyBytesMax * 1.4) {
    throw new GatewayError(
      'payload_too_large',
      `The audio is larger than ${audioBodyBytesMax} bytes; send less.`,
    )
  }
  const refusal = refusedEncoding(request)
  if (refusal) throw refusal
  const headers = {
    sessionId: request.headers.get('x-session-id'),
    accept: request.headers.get('accept'),
    ...dialect,
  }
  const body = bodyOf(request)
  const contentType = request.headers.get('content-type') ?? ''
  if (/^multipart\/form-data/i.test(contentType)) {
    return decodeTranscriptionMultipart(body, { contentType, intake: dependencies.audioIntake, headers })
  }
  requireJson(request, ' or multipart/form-data')
  return decodeTranscriptionJson(body, dependencies.audioIntake, headers)
}
