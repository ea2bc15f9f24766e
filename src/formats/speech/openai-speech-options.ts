import type { SpeechOutput } from '../../canonical/audio.ts'
import type { SpeechReference } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { TextPath } from '../text/text-interface.ts'

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
  path?: TextPath
  /** Other paths by how a deployment's base URL ends, as `elsewhere` of a text interface. */
  elsewhere?: Readonly<Record<string, TextPath>>
  /** A provider that cannot give one of them has endpoints without it in `speechFormats`; it is made of the other. */
  mp3?: SpeechFormatChoice
  pcm?: SpeechFormatChoice
  /** The members for a voice or a picture to speak like; null where there are none, as the capabilities then say. */
  references?: ((references: readonly SpeechReference[]) => Readonly<Record<string, unknown>>) | null
  /** In what one of its models departs from the others. */
  modelOf?: (asked: Pick<Endpoint, 'model' | 'upstreamModel'>) => OpenAiSpeechOptions
}

/** Every option decided, for one model. */
export type SpeechForm = Required<Omit<OpenAiSpeechOptions, 'modelOf'>>

const usual: SpeechForm = {
  path: '/audio/speech',
  elsewhere: {},
  mp3: { name: 'mp3', output: { container: 'mpeg' } },
  pcm: { name: 'pcm', output: { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } },
  references: null,
}

/** For providers that give a WAV file: its header is taken off and its samples brought to the contract's rate. */
export const pcmFromWav: SpeechFormatChoice = { name: 'wav', output: { container: 'wav' } }

/** The options of a provider for one of its models. */
export function speechFormFor(
  { modelOf, ...departures }: OpenAiSpeechOptions,
  asked: Pick<Endpoint, 'model' | 'upstreamModel'>,
): SpeechForm {
  return { ...usual, ...departures, ...modelOf?.(asked) }
}
