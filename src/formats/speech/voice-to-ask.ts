import type { SpeechCall } from '../../canonical/call.ts'
import { voiceAt, type Endpoint } from '../../canonical/endpoint.ts'

/**
 * The caller's voice in the endpoint's spelling, otherwise the endpoint's usual voice; null when the provider has its
 * own default.
 */
export function voiceToAsk(
  { voice }: Pick<SpeechCall, 'voice'>,
  { audio }: Pick<Endpoint, 'audio'>,
): string | null {
  if (voice === null) return audio?.defaultVoice ?? null
  return audio === null ? voice : (voiceAt(voice, audio) ?? voice)
}
