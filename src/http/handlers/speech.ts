import { liveBodyBytesMax } from '../../core/limits/http.ts'
import { inTurns } from '../../core/turns.ts'
import { operations } from '../../execution/operations.ts'
import { decodeSpeechJson } from '../../formats/speech/decode-speech.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { withPrincipal, type HttpRoute } from '../pipeline.ts'
import { readCountedBody, requireJson } from '../request-body.ts'
import { renderOutcome, scopeOf } from './text.ts'

/** The copies of a speech body in memory at once: its clips are decoded and encoded again. */
const speechBodyCopies = 6

/** `POST /audio/speech`: text in, audio bytes out as they arrive. */
export function speechRoute(
  dependencies: HttpDependencies,
  dialect: { isOpenAiDialect?: true } = {},
): HttpRoute {
  const room = { bodyMemory: dependencies.bodyMemory, copies: speechBodyCopies }
  return {
    method: 'POST',
    path: operations.speech.path,
    group: 'audio',
    name: 'speech',
    access: 'inference',
    handle: withPrincipal(async (exchange) => {
      requireJson(exchange.request)
      const bytes = await readCountedBody(exchange, liveBodyBytesMax, room)
      const { headers } = exchange.request
      const said = { sessionId: headers.get('x-session-id'), accept: headers.get('accept'), ...dialect }
      const call = await inTurns(decodeSpeechJson(bytes, said))
      const outcome = await dependencies.executor.speech(call, scopeOf(exchange))
      return renderOutcome(outcome, exchange)
    }),
  }
}
