import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** Makers whose own services tell words and their speakers and take terms; how far that is carried here OpenRouter says itself. */
export const openRouterModels: readonly ModelRule[] = [
  {
    name: /^(?:deepgram|elevenlabs|assemblyai)\//,
    audio: { wordTimes: true, diarize: true, entities: true, keyterms: unboundedKeyterms },
  },
]
