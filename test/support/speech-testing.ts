import { decode } from '@msgpack/msgpack'
import type { SpeechAdapter } from '../../src/canonical/audio.ts'
import { joinPieces } from '../../src/core/body.ts'
import type { Endpoint } from '../../src/canonical/endpoint.ts'
import { leastAudio } from '../../src/catalog/capabilities.ts'
import { testContext, testEndpoint } from '../../src/formats/text/testing.ts'
import { atOnce } from '../../src/core/turns.ts'
import { decodeSpeechJson } from '../../src/formats/speech/decode-speech.ts'

/** An adapter's first step for a caller that sent these fields besides a model and a text. */
export function speechStepOf(adapter: SpeechAdapter, upstreamModel: string, fields: Record<string, unknown>) {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: 'a/b', input: 'Hello', ...fields }))
  const call = atOnce(decodeSpeechJson(bytes, { sessionId: null, accept: null }))
  const endpoint: Endpoint = { ...testEndpoint(upstreamModel, 'acme'), modality: 'speech', audio: leastAudio }
  const step = adapter.first({ call, endpoint, context: testContext })
  if (step.type !== 'stream') throw new Error('expected a stream')
  return step
}

/** The request to the provider; its body is decoded from JSON or MessagePack. */
export function speechRequestOf(
  adapter: SpeechAdapter,
  upstreamModel: string,
  fields: Record<string, unknown>,
) {
  const { request, dropped } = speechStepOf(adapter, upstreamModel, fields).exchange
  if (request.body === null || 'open' in request.body) throw new Error('expected a body in memory')
  const body = joinPieces(request.body)
  const isJson = request.headers['content-type'] === 'application/json'
  const shown = isJson ? JSON.parse(Buffer.from(body).toString()) : decode(body)
  return { path: request.path, headers: request.headers, body: shown, dropped }
}
