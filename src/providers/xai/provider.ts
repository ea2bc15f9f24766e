import { pcmInputRate } from '../../canonical/audio.ts'
import { xAiSpeech } from './speech.ts'
import type { ChatQuirkOptions } from '../../formats/text/chat/quirks.ts'
import type { AskedInterface } from '../../formats/text/text-interface.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider, named, notNamed, onlyFor } from '../define-provider.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { grokAudio, grokModels } from './capabilities.ts'
import { xAiBatchJobs } from './jobs.ts'
import { xAiPrices } from './prices.ts'

const xAiChat: ChatQuirkOptions = {
  accepts: ['search_parameters'],
  // Its completion's count omits reasoning.
  reasoningNotCounted: true,
}

/** Models that always think and refuse some members. https://docs.x.ai/docs/guides/reasoning */
const thinks = /grok-(3-mini|[4-9](?!.*non-reasoning)|code|build)/i

const isThinking = named(thinks)

/** Only chat completions take `stop`, and even they refuse it for a model that thinks. */
function isResponsesServed(asked: AskedInterface): boolean {
  if (asked.format !== 'messages') return asked.format === 'responses'
  return isThinking(asked) || !asked.parameters.includes('stop')
}

export const xai = defineProvider({
  slug: 'xai',
  name: 'xAI',
  status: 'recorded',
  baseUrl: 'https://api.x.ai/v1',
  keyVariable: 'XAI_API_KEY',
  author: 'x-ai',
  pricesProviderId: 'x-ai',
  family: grokModels,
  modelRules: grokAudio,
  prices: xAiPrices,
  // No list of what each model costs in batches was found, so the operator states it.
  batch: 'native',
  jobs: xAiBatchJobs,
  unlisted: ['grok-stt', 'grok-tts'],
  adapters: {
    language: [
      // xAI recommends it for new work; it shows thoughts and takes them back.
      onlyFor(
        isResponsesServed,
        openAiResponses({
          sealsThoughts: true,
          // It calls its own tools in the same form as the caller's tools. Seen in replies of August 2026.
          runsItself: ({ call_id: id }) => String(id).startsWith('xs_call_'),
        }),
      ),
      onlyFor(
        isThinking,
        openAiChat({ ...xAiChat, drops: ['presence_penalty', 'frequency_penalty'], refuses: ['stop'] }),
      ),
      onlyFor(notNamed(thinks), openAiChat(xAiChat)),
    ],
    // Its first model is used when the request names none; the caller's own options may name another.
    transcription: openAiTranscription({
      path: '/stt',
      sendsModel: false,
      listMark: '',
      hasGranularities: false,
      verboseFormat: null,
      hasTemperature: false,
      keytermsField: 'keyterm',
      sampleFields: { audio_format: 'pcm', sample_rate: String(pcmInputRate) },
    }),
    speech: xAiSpeech,
  },
  recordedAudio: ['transcription'],
})
