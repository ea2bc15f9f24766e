import type { SpeechCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'

/**
 * The format to ask the endpoint for: the caller's if the endpoint has it, otherwise the other one, which the gateway
 * converts.
 */
export function formatToAsk(
  { responseFormat }: Pick<SpeechCall, 'responseFormat'>,
  { audio }: Pick<Endpoint, 'audio'>,
): SpeechCall['responseFormat'] {
  if (audio === null || audio.speechFormats.includes(responseFormat)) return responseFormat
  return responseFormat === 'mp3' ? 'pcm' : 'mp3'
}
