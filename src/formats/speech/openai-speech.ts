import type { SpeechAdapter, SpeechOutput } from '../../canonical/audio.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { formatToAsk } from './format-to-ask.ts'
import { rawSpeech } from './raw-speech.ts'

/** What to ask for and what then arrives, for one format of the contract. */
export interface SpeechFormatChoice {
  /** The provider's own `response_format`. */
  name: string
  output: SpeechOutput
  /** Further members that this choice needs, such as a sample rate. */
  members?: Readonly<Record<string, unknown>>
}

/** How one provider departs from OpenAI's speech call. */
export interface OpenAiSpeechOptions {
  /** Below the base URL. */
  path?: string
  /** A provider that cannot give one of them has endpoints without it in `speechFormats`. */
  mp3?: SpeechFormatChoice
  pcm?: SpeechFormatChoice
}

const mp3: SpeechFormatChoice = { name: 'mp3', output: { container: 'mpeg' } }
const pcm: SpeechFormatChoice = {
  name: 'pcm',
  output: { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 },
}

/** For providers that give a WAV file: its header is taken off and its samples brought to the contract's rate. */
export const pcmFromWav: SpeechFormatChoice = { name: 'wav', output: { container: 'wav' } }

/** OpenAI's speech call, for the providers that took it over, each with its departures as data. */
export function openAiSpeech(options: OpenAiSpeechOptions = {}): SpeechAdapter {
  const choices = { mp3: options.mp3 ?? mp3, pcm: options.pcm ?? pcm }
  const path = options.path ?? '/audio/speech'
  return {
    first({ call, endpoint }) {
      const choice = choices[formatToAsk(call, endpoint)]
      const body = [JSON.stringify(toBody(call, endpoint, choice))]
      const request = { method: 'POST' as const, path, headers: jsonHeaders, body }
      const dropped = optionsLeftOut(call.preferences, endpoint, (name) => !reserved.has(name))
      return { type: 'stream', exchange: { request, dropped }, open: () => rawSpeech(choice.output) }
    },
    next() {
      throw new Error('speech is the body of the first response')
    },
    readError: readUpstreamFailure,
  }
}

const jsonHeaders = { 'content-type': 'application/json' }

function toBody(call: SpeechCall, endpoint: Endpoint, choice: SpeechFormatChoice): Record<string, unknown> {
  const passed = Object.entries(optionsFor(call.preferences, endpoint)).filter(
    ([name]) => !reserved.has(name),
  )
  const voice = call.voice ?? endpoint.audio?.defaultVoice ?? null
  return {
    ...Object.fromEntries(passed),
    model: endpoint.upstreamModel,
    input: call.input,
    ...(voice === null ? {} : { voice }),
    response_format: choice.name,
    ...choice.members,
    // The normal speed is not forwarded: models without the field refuse it.
    ...(call.speed === 1 ? {} : { speed: call.speed }),
  }
}

/** What the gateway itself decides, and what would change the shape of the answer, is not for the caller to set. */
const reserved: ReadonlySet<string> = new Set([
  'model',
  'input',
  'voice',
  'response_format',
  'response_encoding',
  'sample_rate',
  'speed',
  'stream',
  'stream_format',
  'session_id',
  'user',
  'trace',
])
