import { liveBodyBytesMax } from '../../core/limits.ts'
import { operations } from '../../execution/operations.ts'
import { decodeSpeechJson } from '../../formats/speech/decode-speech.ts'
import type { HttpParts } from '../parts.ts'
import { withPrincipal, type Route } from '../pipeline.ts'
import { readBody, requireJson } from '../request-body.ts'
import { renderOutcome, scopeOf } from './text.ts'

/** `POST /audio/speech`: text in, audio bytes out as they arrive. */
export function speechRoute(parts: HttpParts): Route {
  return {
    method: 'POST',
    path: operations.speech.path,
    group: 'audio',
    name: 'speech',
    access: 'inference',
    handle: withPrincipal(async (exchange) => {
      requireJson(exchange.request)
      const bytes = await readBody(exchange.request, liveBodyBytesMax)
      const { headers } = exchange.request
      const call = decodeSpeechJson(bytes, {
        sessionId: headers.get('x-session-id'),
        accept: headers.get('accept'),
      })
      const outcome = await parts.executor.speech(call, scopeOf(exchange))
      return renderOutcome(outcome, exchange)
    }),
  }
}
