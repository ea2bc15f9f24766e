import type { SpeechCall } from '../../canonical/call.ts'
import type { AudioCapabilities, Endpoint } from '../../canonical/endpoint.ts'

/**
 * What an endpoint is asked for: the caller's format where it has that one, else samples, of which the gateway itself makes
 * mp3. Samples cannot be made of mp3, so an endpoint without any must not be asked for them.
 */
export function formatToAsk(
  { responseFormat }: Pick<SpeechCall, 'responseFormat'>,
  { audio }: Pick<Endpoint, 'audio'>,
): SpeechCall['responseFormat'] {
  return audio === null || audio.speechFormats.includes(responseFormat) ? responseFormat : 'pcm'
}

/** Whether an endpoint's speech can be given in a format, converted or not. */
export function canGive({ speechFormats }: AudioCapabilities, format: SpeechCall['responseFormat']): boolean {
  return speechFormats.includes(format) || speechFormats.includes('pcm')
}
