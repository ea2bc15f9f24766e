import type { AudioApi } from './audio-api.ts'
import { assemblyAi } from './assemblyai/assemblyai.ts'
import { cartesia } from './cartesia/cartesia.ts'
import { deepgram } from './deepgram/deepgram.ts'
import { deepinfra } from './deepinfra/deepinfra.ts'
import { elevenlabs } from './elevenlabs/elevenlabs.ts'
import { fireworks } from './fireworks/fireworks.ts'
import { fishAudio } from './fish-audio/fish-audio.ts'
import { gladia } from './gladia/gladia.ts'
import { groq } from './groq/groq.ts'
import { hume } from './hume/hume.ts'
import { inworld } from './inworld/inworld.ts'
import { lmnt } from './lmnt/lmnt.ts'
import { minimax } from './minimax/minimax.ts'
import { mistral } from './mistral/mistral.ts'
import { openrouter } from './openrouter/openrouter.ts'
import { resemble } from './resemble/resemble.ts'
import { speechmatics } from './speechmatics/speechmatics.ts'
import { together } from './together/together.ts'
import { xai } from './xai/xai.ts'

/** The providers' own audio APIs, in the order of the alphabet; each mount has them all, each below its slug. */
const audioApis: readonly AudioApi[] = [
  assemblyAi,
  cartesia,
  deepgram,
  deepinfra,
  elevenlabs,
  fireworks,
  fishAudio,
  gladia,
  groq,
  hume,
  inworld,
  lmnt,
  minimax,
  mistral,
  openrouter,
  resemble,
  speechmatics,
  together,
  xai,
]

/** Their slugs as an alternative of a pattern. */
export const audioSlugs = audioApis.map(({ slug }) => slug).join('|')

const prefixes = new RegExp(`^/(${audioSlugs})(/.*)$`)

/** The API that a path below a mount belongs to, with the path below the API's own prefix; null for every other path. */
export function audioApiAt(path: string): { api: AudioApi; below: string } | null {
  const [, slug, below = '/'] = prefixes.exec(path) ?? []
  const api = audioApis.find((one) => one.slug === slug)
  return api === undefined ? null : { api, below }
}
