/** What this machine can make sound with: the simulator speaks mp3 only where an encoder is installed. */
export const hasMp3Encoder = Bun.which('ffmpeg') !== null || Bun.which('sox') !== null

/** The formats of speech that can be asked of the simulator here; says once what is left out. */
export function speechFormatsHere(): readonly ('mp3' | 'pcm')[] {
  if (hasMp3Encoder) return ['mp3', 'pcm']
  console.warn('skipped for mp3: neither ffmpeg nor sox is installed')
  return ['pcm']
}
