import type { ProviderConfig } from '../../src/config-file.ts'

/** A provider of speech as the simulator plays it. */
export interface SpeechProvider {
  preset: string
  /** Where its API is below the simulator's mount. */
  below: string
  model: string
  /** Absent where the voice is in the model's name or need not be given. */
  voice?: string
  /** A voice that it does not have, the status that the caller gets, and the field's name unless nothing tells it. */
  missing?: { voice: string; status: number; param?: null }
  /** A speed that it has, and one beyond; absent where it has none. */
  speeds?: { within: number; beyond: number }
  /** How many clips it can speak like; absent where none. */
  clips?: 1 | 3
  /** What the caller gets for its 503, where that is not 529. */
  busy?: number
  /** Characters billed of a text of a hundred, by what it says; absent where it says nothing. */
  billed?: number
}

export const speechProviders: readonly SpeechProvider[] = [
  {
    preset: 'cartesia',
    below: '/cartesia',
    model: 'cartesia/sonic-3',
    voice: 'a0e99841',
    missing: { voice: 'missing', status: 400 },
    speeds: { within: 1.5, beyond: 1.6 },
  },
  {
    preset: 'deepgram',
    below: '/deepgram/v1',
    model: 'deepgram/aura-2',
    voice: 'thalia-en',
    missing: { voice: 'missing-en', status: 400 },
    speeds: { within: 1.5, beyond: 1.6 },
    billed: 100,
  },
  {
    preset: 'elevenlabs',
    below: '/elevenlabs/v1',
    model: 'elevenlabs/eleven_flash_v2_5',
    voice: 'JBFqnCBsd6RMkjVDRZzb',
    missing: { voice: 'MissingMissingMissin', status: 400 },
    speeds: { within: 1.2, beyond: 1.3 },
    billed: 50,
  },
  {
    preset: 'fish-audio',
    below: '/fish-audio/v1',
    model: 'fish-audio/s1',
    clips: 3,
    // How it says so is not documented.
    missing: { voice: 'missing', status: 400, param: null },
    speeds: { within: 2, beyond: 2.1 },
  },
  {
    preset: 'google-ai-studio',
    below: '/v1beta',
    // It has no price of its own, so that characters alone are charged here.
    model: 'google/gemini-3.1-flash-tts-preview',
    voice: 'Kore',
    missing: { voice: 'missing', status: 400 },
  },
  {
    preset: 'hume',
    below: '/hume/v0',
    model: 'hume/octave-2',
    voice: 'ito',
    missing: { voice: 'missing', status: 400 },
    speeds: { within: 1.5, beyond: 1.6 },
  },
  {
    preset: 'inworld',
    below: '/inworld/tts/v1',
    model: 'inworld/inworld-tts-2',
    voice: 'Ashley',
    missing: { voice: 'missing', status: 400 },
    speeds: { within: 1.5, beyond: 1.6 },
    billed: 100,
  },
  {
    preset: 'lmnt',
    below: '/lmnt/v1',
    model: 'lmnt/blizzard',
    voice: 'leah',
    missing: { voice: 'missing', status: 400 },
  },
  {
    preset: 'minimax',
    below: '/minimax/v1',
    model: 'minimax/speech-2.8-turbo',
    voice: 'English_Graceful_Lady',
    missing: { voice: 'missing', status: 400 },
    speeds: { within: 2, beyond: 2.1 },
    // It has no code for an overload.
    busy: 502,
    billed: 100,
  },
  {
    preset: 'mistral',
    below: '/mistral/v1',
    model: 'mistralai/voxtral-mini-tts-3-0',
    voice: 'voice_478',
    clips: 1,
    missing: { voice: 'missing', status: 400 },
  },
  {
    preset: 'resemble',
    below: '/resemble',
    model: 'resemble/chatterbox-turbo',
    voice: '55592656',
    missing: { voice: 'missing', status: 400 },
  },
  {
    preset: 'xai',
    below: '/xai/v1',
    model: 'x-ai/grok-tts',
    voice: 'eve',
    missing: { voice: 'missing', status: 400 },
    speeds: { within: 1.5, beyond: 1.6 },
  },
  {
    preset: 'google-cloud-tts',
    below: '/google-cloud-tts/v1',
    model: 'google/chirp3-hd',
    voice: 'en-US-Chirp3-HD-Kore',
    // How it says so is not documented.
    missing: { voice: 'en-US-Chirp3-HD-missing', status: 400, param: null },
    speeds: { within: 2, beyond: 2.1 },
  },
]

/** Ten credits for a million of what it bills. */
export function pricesOf(preset: string): Record<string, string> {
  return preset === 'fish-audio' ? { utf8_bytes_per_million: '10' } : { characters_per_million: '10' }
}

/** All of them as deployments of one simulator; each has its own mount, named like its preset. */
export function speechDeployments(simulatorUrl: string): ProviderConfig[] {
  return speechProviders.map((provider) => deploymentOf(provider, simulatorUrl))
}

/** Those without mp3 of their own, or not as a stream. */
const withoutMp3: ReadonlySet<string> = new Set(['google-ai-studio', 'resemble'])

/** Providers that can be asked for mp3 alone: at 22,050, 24,000, 32,000 and 44,100 Hz. */
export const mp3Providers = speechProviders.filter(({ preset }) => !withoutMp3.has(preset))

/** Those as if mp3 were all that they gave. */
export function mp3OnlyDeployments(simulatorUrl: string): ProviderConfig[] {
  return mp3Providers.map((provider) =>
    deploymentOf(provider, simulatorUrl, { audio: { speech_formats: ['mp3'] } }),
  )
}

function deploymentOf(
  { preset, below, model }: SpeechProvider,
  simulatorUrl: string,
  stated: Partial<NonNullable<ProviderConfig['models']>[number]> = {},
): ProviderConfig {
  return {
    preset,
    base_url: `${simulatorUrl}/p/${preset}${below}`,
    api_key: 'simulated-key',
    weight: 1,
    models: [{ id: model, modality: 'speech', prices: pricesOf(preset), ...stated }],
  }
}
