import type { Packages } from '../clients/packages.ts'
import { createSoundLab } from '../support/spoken-sound.ts'
import { startServer } from './real-server.ts'
import { piper } from './sound-servers.ts'

/** Sound that was spoken, and what was said. */
export interface SpokenSound {
  voice: string
  text: string
  wave: Uint8Array<ArrayBuffer>
  /** The share of wrong words that Whisper tiny may hear in it; a recogniser that hears nothing is beyond it. */
  errorRateMax: number
}

export type SoundLab = ReturnType<typeof createSoundLab>

/** What the real servers hear, and hear with. */
export interface Sounds {
  lab: SoundLab
  spoken: readonly SpokenSound[]
  /** Which voice is missing and why; null when all have spoken. */
  lacking: string | null
}

const sentences = [
  'The weather is good today.',
  'Please send five letters to the office.',
  'The quick brown fox jumps over the lazy dog near the river bank.',
  'She sells fresh bread and apples in the market every Monday morning.',
]
/** More than half a minute, which is as much as Whisper hears at once. */
const story = [
  ...sentences,
  'Last year my brother moved to a small house near the sea.',
  'He reads the newspaper before breakfast and drinks two cups of tea.',
  'In the evening his friends come over and play music in the garden.',
  'When the winter is cold they stay inside and tell old stories.',
  'Nobody knows what the new teacher is going to say about the test.',
]
const needed = ['espeak-ng', 'ffmpeg', 'sox'] as const

/** Speaks the sentences with espeak-ng, and with Piper where it can be installed. Says what is missing instead without the programs. */
export async function speakSounds(packages: Packages): Promise<Sounds | string> {
  const missing = needed.filter((program) => Bun.which(program) === null)
  if (missing.length > 0) return `nothing is spoken without ${missing.join(', ')}`
  const lab = createSoundLab()
  const say = async (voice: string, lines: readonly string[]): Promise<SpokenSound> => ({
    voice: `espeak-ng ${voice}, ${lines.length} sentences`,
    text: lines.join(' '),
    wave: await lab.say(lines.map((text) => ({ text, voice }))),
    errorRateMax: 0.5,
  })
  const spoken = [await say('en-us', sentences), await say('en-gb', story)]
  const running = await startServer(piper, packages)
  if (typeof running === 'string') return { lab, spoken, lacking: `no voice of Piper's: ${running}` }
  try {
    for (const lines of [sentences, story]) {
      const text = lines.join(' ')
      const response = await fetch(`${String(running.provider['base_url'])}/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'tts-1', voice: 'joe', input: text, response_format: 'wav' }),
      })
      if (!response.ok) throw new Error(`Piper said ${response.status}: ${await response.text()}`)
      const wave = new Uint8Array(await response.arrayBuffer())
      spoken.push({ voice: `Piper joe, ${lines.length} sentences`, text, wave, errorRateMax: 0.15 })
    }
    return { lab, spoken, lacking: null }
  } finally {
    await running.stop()
  }
}
