import type { SpeechCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'

/**
 * What an endpoint is asked for: the caller's format where it has that one, else the other, of which the gateway itself
 * makes the caller's.
 */
export function formatToAsk(
  { responseFormat }: Pick<SpeechCall, 'responseFormat'>,
  { audio }: Pick<Endpoint, 'audio'>,
): SpeechCall['responseFormat'] {
  if (audio === null || audio.speechFormats.includes(responseFormat)) return responseFormat
  return responseFormat === 'mp3' ? 'pcm' : 'mp3'
}
