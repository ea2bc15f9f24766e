import type { SpeechCall } from '../../canonical/call.ts'
import { voiceAt, type Endpoint } from '../../canonical/endpoint.ts'

/** The caller's voice as the endpoint writes it, else the endpoint's usual one; null where the provider has one of its own. */
export function voiceToAsk(
  { voice }: Pick<SpeechCall, 'voice'>,
  { audio }: Pick<Endpoint, 'audio'>,
): string | null {
  if (voice === null) return audio?.defaultVoice ?? null
  return audio === null ? voice : (voiceAt(voice, audio) ?? voice)
}
