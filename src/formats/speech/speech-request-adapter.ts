import type { SpeechAdapter, SpeechReader } from '../../canonical/audio.ts'
import type { BodyPieces } from '../../core/body.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import type { CallAt } from '../../canonical/steps.ts'
import type { AnswerContext, ResponseHeaders } from '../../canonical/upstream.ts'
import { isRecord } from '../../json/values.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { bodyWithClips } from './clip-body.ts'
import { formatToAsk } from './format-to-ask.ts'
import { voiceToAsk } from './voice-to-ask.ts'

type Members = Readonly<Record<string, unknown>>

/** A speech call at one endpoint, with the values that every provider needs. */
export interface AskedSpeech extends CallAt<SpeechCall> {
  /** The format to ask the provider for; it may differ from the caller's. */
  format: SpeechCall['responseFormat']
  /** The caller's voice, otherwise the endpoint's usual one; null when the provider has its own default. */
  voice: string | null
}

/** One JSON request whose response body holds the speech. */
export interface SpeechRequestForm {
  /** The path below the base URL, with its query. */
  path(asked: AskedSpeech): string
  headers?: (asked: AskedSpeech) => Readonly<Record<string, string>>
  /** Members that the provider needs, used unless the caller's own options name them. */
  usual?: Members
  /** Members of the body. The caller's own options for the provider may add members to objects among them. */
  body(asked: AskedSpeech): Members
  /**
   * Further members that the caller's options cannot set. They cannot set the body's members either, unless these are
   * objects.
   */
  reserved?: readonly string[]
  /** Writes a body that is not JSON. In a JSON body, `clipMark` stands for a clip. */
  encode?: (body: Members, asked: AskedSpeech) => { contentType: string; pieces: BodyPieces } | null
  open(asked: AskedSpeech, response: { context: AnswerContext; headers: ResponseHeaders }): SpeechReader
}

/**
 * An adapter that sends one request. The caller's options for the provider add the members that the gateway does not
 * set.
 */
export function speechRequestAdapter(form: SpeechRequestForm): SpeechAdapter {
  return {
    first(at) {
      const { call, endpoint } = at
      const asked = { ...at, format: formatToAsk(call, endpoint), voice: voiceToAsk(call, endpoint) }
      const own = form.body(asked)
      const isOpen = (name: string) =>
        form.reserved?.includes(name) !== true && (!Object.hasOwn(own, name) || isRecord(own[name]))
      const body = { ...form.usual, ...joined(optionsFor(call.preferences, endpoint), own, isOpen) }
      const encoded = form.encode?.(body, asked) ?? null
      const request = {
        method: 'POST' as const,
        path: form.path(asked),
        headers: { 'content-type': encoded?.contentType ?? 'application/json', ...form.headers?.(asked) },
        body: encoded?.pieces ?? bodyWithClips(JSON.stringify(body), call.references),
      }
      const dropped = optionsLeftOut(call.preferences, endpoint, isOpen)
      return {
        type: 'stream',
        exchange: { request, dropped },
        open: (context, headers) => form.open(asked, { context, headers }),
      }
    },
    next() {
      throw new Error('speech is the body of the first response')
    },
    readError: readUpstreamFailure,
  }
}

/** The gateway's value wins, also inside objects that both sides have. */
function joined(options: Members, own: Members, isOpen: (name: string) => boolean): Members {
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    if (isOpen(name) && value !== null) body[name] = value
  }
  for (const [name, value] of Object.entries(own)) {
    const given = body[name]
    body[name] = isRecord(value) && isRecord(given) ? { ...given, ...value } : value
  }
  return body
}

/** The contract's samples, for providers that can be asked for exactly these. */
export const contractSamples = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } as const

/**
 * The member for a speed other than the normal one; at the normal speed it is left out, because models without speed
 * control refuse it.
 */
export function speedMember(name: string, { call }: AskedSpeech): Members {
  return call.speed === 1 ? {} : { [name]: call.speed }
}
