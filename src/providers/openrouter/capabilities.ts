import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/**
 * Makers whose own services support word times, speakers and terms. OpenRouter's listing says how much of that it
 * offers.
 */
export const openRouterModels: readonly ModelRule[] = [
  {
    name: /^(?:deepgram|elevenlabs|assemblyai)\//,
    audio: { wordTimes: true, diarize: true, entities: true, keyterms: unboundedKeyterms },
  },
]
