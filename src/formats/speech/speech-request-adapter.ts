import type { SpeechAdapter, SpeechReader } from '../../canonical/audio.ts'
import type { BodyPieces } from '../../core/body.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import type { CallAt } from '../../canonical/steps.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { isRecord } from '../../json/values.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { bodyWithClips } from './clip-body.ts'
import { formatToAsk } from './format-to-ask.ts'
import { voiceToAsk } from './voice-to-ask.ts'

type Members = Readonly<Record<string, unknown>>

/** A speech call at one endpoint, with what every provider needs of it. */
export interface AskedSpeech extends CallAt<SpeechCall> {
  /** What the provider is asked for, which need not be what the caller gets. */
  format: SpeechCall['responseFormat']
  /** The caller's voice, else the endpoint's usual one; null where the provider has one of its own. */
  voice: string | null
}

/** One request in JSON, whose response's body has the speech. */
export interface SpeechRequestForm {
  /** Below the base URL, with its query. */
  path(asked: AskedSpeech): string
  headers?: (asked: AskedSpeech) => Readonly<Record<string, string>>
  /** Members that the provider needs, where the caller's own options for it do not name them. */
  usual?: Members
  /** Members of the body. Objects among them take further members from the caller's own options for the provider. */
  body(asked: AskedSpeech): Members
  /** Members that the caller's options must not set, besides those of the body that are no objects. */
  reserved?: readonly string[]
  /** The body where it is not to be JSON. In JSON a clip stands as its `clipMark`. */
  encode?: (body: Members, asked: AskedSpeech) => { contentType: string; pieces: BodyPieces } | null
  open(asked: AskedSpeech, response: { context: AnswerContext; headers: Headers }): SpeechReader
}

/** An adapter of one request. The caller's options for the provider join the body where the gateway sets nothing. */
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

/** What the gateway sets wins, also inside of objects that both have. */
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

/** The contract's samples, from a provider that can be asked for them. */
export const contractSamples = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } as const

/** The members for a speed, where it is not the normal one: models without speed control refuse the member. */
export function speedMember(name: string, { call }: AskedSpeech): Members {
  return call.speed === 1 ? {} : { [name]: call.speed }
}
