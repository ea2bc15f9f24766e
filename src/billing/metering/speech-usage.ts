import type { SpeechBilled } from '../../canonical/audio.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { Demand, Usage } from '../../canonical/usage.ts'

/**
 * The usage of a delivered speech, in the units that its price has; null when the provider did not report those and the
 * usage must be estimated. The text is counted exactly here, but the provider's own count of characters wins, because
 * that is what it bills. Output of unstated kind is sound. The meter judges whether a report can be true.
 */
export function speechUsage(
  demand: Demand,
  { price }: Pick<Endpoint, 'price'>,
  billed: SpeechBilled,
): Usage | null {
  const {
    outputTokens = 0,
    outputAudioTokens = outputTokens,
    inputTokens = 0,
    audioMilliseconds = 0,
  } = billed
  const usage = {
    ...noUsage,
    characters: demand.characters,
    utf8Bytes: demand.utf8Bytes ?? 0,
    ...billed,
    outputAudioTokens,
  }
  if ((price.character ?? price.utf8Byte) !== undefined) return usage
  if (price.audioHour !== undefined) return audioMilliseconds > 0 ? usage : null
  const hasTokens = inputTokens + outputTokens > 0
  return hasTokens || !isByTokens(price) ? usage : null
}

function isByTokens({ inputToken, outputToken, outputAudioToken }: Endpoint['price']): boolean {
  return (inputToken ?? outputToken ?? outputAudioToken) !== undefined
}
