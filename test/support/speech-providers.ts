import type { ProviderConfig } from '../../src/config-file.ts'
import type { SpeechProvider } from './provider-rows.ts'
import { rowsOf } from './rows-of-providers.ts'

/** Every speech provider with a fake. */
export const speechProviders: readonly SpeechProvider[] = rowsOf('speech')

/** Ten credits per million of its billed unit. */
export function pricesOf(preset: string): Record<string, string> {
  return preset === 'fish-audio' ? { utf8_bytes_per_million: '10' } : { characters_per_million: '10' }
}

/** All of them as deployments of one simulator; each has its own mount, named like its preset. */
export function speechDeployments(simulatorUrl: string): ProviderConfig[] {
  return speechProviders.map((provider) => deploymentOf(provider, simulatorUrl))
}

/** Providers without their own mp3, or without a stream of it. */
const withoutMp3: ReadonlySet<string> = new Set(['google-ai-studio', 'resemble'])

/** Providers that can be asked for mp3 only: at 22,050, 24,000, 32,000 and 44,100 Hz. */
export const mp3Providers = speechProviders.filter(({ preset }) => !withoutMp3.has(preset))

/** These providers, configured as if they had only mp3. */
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
