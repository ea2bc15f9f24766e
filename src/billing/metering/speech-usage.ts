import type { SpeechBilled } from '../../canonical/audio.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { Demand, Usage } from '../../canonical/usage.ts'

/**
 * What a speech that was delivered used, by the units that its price has; null where nobody said and it must be estimated.
 * The text is counted exactly here, and its provider's own count of characters goes before ours, because that is what it
 * bills. Output that its provider does not tell apart is all sound. Whether a report can be true is for the meter to judge.
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
