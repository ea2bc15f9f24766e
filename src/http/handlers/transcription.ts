import { estimateDurationMs, measureDuration } from '../../audio/duration.ts'
import { isLocalAudio, isRemoteAudio, type DecodedTranscription } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { audioBodyBytesMax } from '../../core/limits/audio.ts'
import { operations } from '../../execution/operations.ts'
import { decodeTranscriptionJson } from '../../formats/transcription/decode-json.ts'
import { decodeTranscriptionMultipart } from '../../formats/transcription/decode-multipart.ts'
import { renderTranscription } from '../../formats/transcription/render-transcription.ts'
import { transcriptContentType } from '../../formats/transcription/transcript-media.ts'
import type { HttpDependencies } from '../dependencies.ts'
import { withPrincipal, type Authenticated, type Route } from '../pipeline.ts'
import { bodyOf, refusedEncoding, requireJson } from '../request-body.ts'
import { toResponseBody } from '../response-body.ts'
import { scopeOf } from './text.ts'

/** `POST /audio/transcriptions`: audio by JSON base64, by multipart, or by address; text out. */
export function transcriptionRoute(dependencies: HttpDependencies): Route {
  return {
    method: 'POST',
    path: operations.transcription.path,
    group: 'audio',
    name: 'transcription',
    access: 'inference',
    handle: withPrincipal(async (exchange) => {
      const decoded = await withDuration(await decode(exchange, dependencies), dependencies)
      try {
        const outcome = await dependencies.executor.transcription(decoded.call, scopeOf(exchange))
        const body = renderTranscription({
          transcription: outcome.transcription,
          charge: outcome.charge,
          call: decoded.call,
          media: decoded.media,
        })
        return new Response(toResponseBody([body]), {
          headers: {
            'content-type': transcriptContentType(decoded.media),
            'x-generation-id': outcome.generationId,
            'x-provider-name': outcome.provider,
          },
        })
      } finally {
        await decoded.dispose()
      }
    }),
  }
}

async function decode(
  { request }: Authenticated,
  dependencies: HttpDependencies,
): Promise<DecodedTranscription> {
  const stated = Number(request.headers.get('content-length') ?? 0)
  // Base64 and the other members take a third more than the audio itself.
  if (stated > audioBodyBytesMax * 1.4) {
    throw new GatewayError(
      'payload_too_large',
      `The audio is larger than ${audioBodyBytesMax} bytes; send less.`,
    )
  }
  const refusal = refusedEncoding(request)
  if (refusal) throw refusal
  const headers = { sessionId: request.headers.get('x-session-id'), accept: request.headers.get('accept') }
  const body = bodyOf(request)
  const contentType = request.headers.get('content-type') ?? ''
  if (/^multipart\/form-data/i.test(contentType)) {
    return decodeTranscriptionMultipart(body, { contentType, intake: dependencies.audioIntake, headers })
  }
  requireJson(request, ' or multipart/form-data')
  return decodeTranscriptionJson(body, dependencies.audioIntake, headers)
}

/** The audio's length decides the hold, so it is known, or bounded, before the call is made. */
async function withDuration(
  decoded: DecodedTranscription,
  dependencies: HttpDependencies,
): Promise<DecodedTranscription> {
  try {
    const local = await toLocal(decoded, dependencies)
    const { audio, demand } = local.call
    if (!isLocalAudio(audio)) return local
    const measured = await measureDuration(audio)
    const audioMilliseconds = measured ?? estimateDurationMs(audio.format, audio.sizeBytes)
    const call = { ...local.call, measuredMilliseconds: measured, demand: { ...demand, audioMilliseconds } }
    return { ...local, call }
  } catch (error) {
    await decoded.dispose()
    throw error
  }
}

/** Fetches audio that was given as an address; every provider is then served alike. */
async function toLocal(
  decoded: DecodedTranscription,
  dependencies: HttpDependencies,
): Promise<DecodedTranscription> {
  const { audio } = decoded.call
  if (!isRemoteAudio(audio)) return decoded
  const fetched = await dependencies.fetchAudio(audio)
  return {
    ...decoded,
    call: { ...decoded.call, audio: fetched },
    dispose: async () => {
      await fetched.stored.dispose()
      await decoded.dispose()
    },
  }
}
