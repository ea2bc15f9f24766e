import type { SpeechOutput } from '../../canonical/audio.ts'
import type { SpeechReference } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { TextPath } from '../text/text-interface.ts'

/** The format to ask for, and the sound that then arrives, for one format of the contract. */
export interface SpeechFormatChoice {
  /** The provider's name of the `response_format`. */
  name: string
  output: SpeechOutput
  /** Further members that this choice needs, such as a sample rate. */
  members?: Readonly<Record<string, unknown>>
}

/** Where a provider differs from OpenAI's speech call. */
export interface OpenAiSpeechOptions {
  /** The path below the base URL. */
  path?: TextPath
  /** Other paths, by the end of a deployment's base URL, like `elsewhere` of a text interface. */
  elsewhere?: Readonly<Record<string, TextPath>>
  /**
   * When a provider lacks one of these formats, `speechFormats` of its endpoints omits it and the gateway converts the
   * other.
   */
  mp3?: SpeechFormatChoice
  pcm?: SpeechFormatChoice
  /**
   * Makes the members that carry a reference voice or picture; null when the provider takes no references, as its
   * capabilities also say.
   */
  references?: ((references: readonly SpeechReference[]) => Readonly<Record<string, unknown>>) | null
  /** The options in which one model differs from the provider's other models. */
  modelOf?: (asked: Pick<Endpoint, 'model' | 'upstreamModel'>) => OpenAiSpeechOptions
}

/** All options for one model, with defaults. */
export type SpeechForm = Required<Omit<OpenAiSpeechOptions, 'modelOf'>>

const usual: SpeechForm = {
  path: '/audio/speech',
  elsewhere: {},
  mp3: { name: 'mp3', output: { container: 'mpeg' } },
  pcm: { name: 'pcm', output: { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } },
  references: null,
}

/** For providers that send a WAV file: the gateway removes its header and resamples it to the contract's rate. */
export const pcmFromWav: SpeechFormatChoice = { name: 'wav', output: { container: 'wav' } }

/** The options of a provider for one of its models. */
export function speechFormFor(
  { modelOf, ...departures }: OpenAiSpeechOptions,
  asked: Pick<Endpoint, 'model' | 'upstreamModel'>,
): SpeechForm {
  return { ...usual, ...departures, ...modelOf?.(asked) }
}
