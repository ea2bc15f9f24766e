import type { Vendor } from './vendor.ts'
import { anthropic } from './vendors/anthropic.ts'
import { assemblyai } from './vendors/assemblyai.ts'
import { azure } from './vendors/azure.ts'
import { azureSpeech } from './vendors/azure-speech.ts'
import { cartesia } from './vendors/cartesia.ts'
import { cerebras } from './vendors/cerebras.ts'
import { deepgram } from './vendors/deepgram.ts'
import { elevenlabs } from './vendors/elevenlabs.ts'
import { fireworks } from './vendors/fireworks.ts'
import { fishAudio } from './vendors/fish-audio.ts'
import { gladia } from './vendors/gladia.ts'
import { googleAiStudio } from './vendors/google-ai-studio.ts'
import { googleCloudTts } from './vendors/google-cloud-tts.ts'
import { groq } from './vendors/groq.ts'
import { hume } from './vendors/hume.ts'
import { inworld } from './vendors/inworld.ts'
import { lmnt } from './vendors/lmnt.ts'
import { mistral } from './vendors/mistral.ts'
import { openai } from './vendors/openai.ts'
import { openrouter } from './vendors/openrouter.ts'
import { perplexity } from './vendors/perplexity.ts'
import { resemble } from './vendors/resemble.ts'
import { revai } from './vendors/revai.ts'
import { sambanova } from './vendors/sambanova.ts'
import { speechmatics } from './vendors/speechmatics.ts'
import { together } from './vendors/together.ts'
import { xai } from './vendors/xai.ts'
import { zai } from './vendors/zai.ts'

/** Every vendor with an official SDK. */
export const vendors: readonly Vendor[] = [
  anthropic,
  assemblyai,
  azure,
  azureSpeech,
  cartesia,
  cerebras,
  deepgram,
  elevenlabs,
  fireworks,
  fishAudio,
  gladia,
  googleAiStudio,
  googleCloudTts,
  groq,
  hume,
  inworld,
  lmnt,
  mistral,
  openai,
  openrouter,
  perplexity,
  resemble,
  revai,
  sambanova,
  speechmatics,
  together,
  xai,
  zai,
]

/** Whether an SDK is among this repository's own packages; the others are installed for a proof. */
export const isInSuite = ({ sdk }: Vendor): boolean => sdk.registry === 'npm' && sdk.isLarge !== true
