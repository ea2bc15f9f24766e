import Lmnt from 'lmnt-node'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

const clientOf = ({ url, key }: At) => new Lmnt({ apiKey: key, baseURL: url, maxRetries: 0 })
const spoken = { text: 'Hello there', voice: 'leah', model: 'blizzard', sample_rate: 24_000 } as const

export const intentions: Intentions = {
  mp3: (at) => clientOf(at).speech.generate({ ...spoken, format: 'mp3' }),
  pcm: (at) => clientOf(at).speech.generate({ ...spoken, format: 'pcm_s16le' }),
}
