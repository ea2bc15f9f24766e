import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { smallLanguageOptions } from '../../simulator/small-language.ts'

/** A word that was recognised, in seconds. */
export interface RecognisedWord {
  word: string
  start: number
  end: number
}

/** The options that write each container from a WAV file. */
export const containers: Readonly<Record<string, readonly string[]>> = {
  wav: ['-ar', '16000', '-ac', '1', '-f', 'wav'],
  mp3: ['-ar', '16000', '-ac', '1', '-b:a', '64k', '-f', 'mp3'],
  flac: ['-ar', '16000', '-ac', '1', '-f', 'flac'],
  m4a: ['-ar', '16000', '-ac', '1', '-c:a', 'aac', '-f', 'ipod'],
  ogg: ['-c:a', 'libopus', '-f', 'ogg'],
  webm: ['-c:a', 'libopus', '-f', 'webm'],
  aac: ['-ar', '16000', '-ac', '1', '-c:a', 'aac', '-f', 'adts'],
  pcm: ['-ar', '16000', '-ac', '1', '-f', 's16le'],
}

const needed = ['espeak-ng', 'ffmpeg', 'sox', 'pocketsphinx_continuous'] as const

/** The missing programs, as the printed reason; null when all are installed. */
export function whyNoSpokenSound(): string | null {
  const missing = needed.filter((program) => Bun.which(program) === null)
  return missing.length === 0 ? null : `no sound is spoken and recognised without ${missing.join(', ')}`
}

/** Makes and recognises sound with the programs of this machine, in its own folder. */
export function createSoundLab() {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-sound-'))
  let files = 0
  const next = (extension: string) => join(folder, `${files++}.${extension}`)

  async function run(command: readonly string[]): Promise<string> {
    const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe' })
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) === 0) return output
    throw new Error(`${command.join(' ')}: ${errors.slice(-500)}`)
  }
  const read = (path: string) => new Uint8Array(readFileSync(path))

  return {
    /** Restricts pocketsphinx to a small language. */
    recogniserOptions: smallLanguageOptions,
    /** Sentences by these voices, a second of silence after each, as a WAV file. */
    async say(parts: readonly { text: string; voice: string }[]): Promise<Uint8Array<ArrayBuffer>> {
      const spoken: string[] = []
      for (const { text, voice } of parts) {
        const [raw, even] = [next('wav'), next('wav')]
        await run(['espeak-ng', '-v', voice, '-s', '140', '-w', raw, text])
        // Without dither: random noise would be recognised as other words in each run.
        await run(['sox', '-D', raw, '-r', '16000', '-c', '1', '-b', '16', even, 'pad', '0.3', '1'])
        spoken.push(even)
      }
      const whole = next('wav')
      await run(['sox', '-D', ...spoken, whole])
      return read(whole)
    },
    /** The same sound in a container. */
    async convert(wave: Uint8Array, container: string): Promise<Uint8Array<ArrayBuffer>> {
      const [from, to] = [next('wav'), next(container)]
      writeFileSync(from, wave)
      await run(['ffmpeg', '-v', 'error', '-y', '-i', from, ...(containers[container] ?? []), to])
      return read(to)
    },
    /** Sound of any container, or samples of a rate, as a WAV file. */
    async decode(sound: Uint8Array, samples: { rate: number } | null): Promise<Uint8Array<ArrayBuffer>> {
      const [from, to] = [next('sound'), next('wav')]
      writeFileSync(from, sound)
      const raw = samples === null ? [] : ['-f', 's16le', '-ar', String(samples.rate), '-ac', '1']
      await run(['ffmpeg', '-v', 'error', '-y', ...raw, '-i', from, '-ac', '1', to])
      return read(to)
    },
    /** Silence of this many seconds as a FLAC file, in large frames with few samples, so that hours take a second. */
    async silence(seconds: number): Promise<Uint8Array<ArrayBuffer>> {
      const path = next('flac')
      const source = ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', String(seconds)]
      const written = ['-c:a', 'flac', '-compression_level', '0', '-frame_size', '16384']
      await run(['ffmpeg', '-v', 'error', ...source, ...written, path])
      return read(path)
    },
    /** The words that a recogniser hears in a file, without any server. */
    async recognise(sound: Uint8Array, container: string): Promise<RecognisedWord[]> {
      const [from, wave] = [next(container), next('wav')]
      writeFileSync(from, sound)
      const raw = container === 'pcm' ? ['-f', 's16le', '-ar', '16000', '-ac', '1'] : []
      await run(['ffmpeg', '-v', 'error', '-y', ...raw, '-i', from, '-ar', '16000', '-ac', '1', wave])
      const output = await run([
        'pocketsphinx_continuous',
        '-infile',
        wave,
        '-time',
        'yes',
        '-logfn',
        '/dev/null',
        ...smallLanguageOptions,
      ])
      return output.split('\n').flatMap((line): RecognisedWord[] => {
        const [, word = '', start = '', end = ''] = /^(\S+) ([\d.]+) ([\d.]+) [\d.]+$/.exec(line) ?? []
        if (word === '' || /^[<[+]/.test(word)) return []
        return [{ word: word.replace(/\(\d+\)$/, ''), start: Number(start), end: Number(end) }]
      })
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  }
}
