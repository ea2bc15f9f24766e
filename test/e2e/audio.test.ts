import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, at, startTestGateway, type TestRequest } from '../support/gateway.ts'
import { isThorough } from '../support/thorough.ts'

// A sentence spoken by espeak-ng goes through the gateway in every way in which audio is taken, to a recogniser that
// really listens; and what the gateway speaks is read by a program that knows nothing of it. Listening takes a second for
// each: `npm run prove -- spoken-sentence` has every container and every kind of answer heard.

// This voice and speed are understood well by pocketsphinx; most others it mishears wholly.
const sentence = 'The president said that the economy is strong'
const voice = ['-v', 'en-us+f2', '-s', '150']

const programs = ['espeak-ng', 'ffmpeg', 'ffprobe', 'pocketsphinx_continuous']
const missing = programs.filter((program) => Bun.which(program) === null)
if (missing.length > 0) {
  console.log(`NOT RUN: end-to-end audio needs ${missing.join(', ')}`)
  if (process.env['CI'] === 'true')
    test('audio programs are installed in CI', () => expect(missing).toEqual([]))
}

const folder = mkdtempSync(join(tmpdir(), 'headrace-audio-'))
const gateway = await startTestGateway({ hasRealSound: true })
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr.toString()}`)
  return stdout.toString()
}

const path = (name: string) => join(folder, name)

function durationOf(file: string, ...inputOptions: string[]): number {
  return Number(
    run(
      'ffprobe',
      '-v',
      'error',
      ...inputOptions,
      '-show_entries',
      'format=duration',
      '-of',
      'csv=p=0',
      file,
    ),
  )
}

/**
 * The sentence in a container, with a little silence after it, without which the last word is misheard; pcm is the
 * contract's, 16-bit little-endian mono at 16,000 Hz.
 */
function spoken(format: string): Uint8Array<ArrayBuffer> {
  const made = path(`made.${format}`)
  const raw = format === 'pcm' ? ['-f', 's16le'] : []
  const options = ['-af', 'apad=pad_dur=0.3', '-ar', '16000', '-ac', '1', '-b:a', '64k', ...raw]
  run('ffmpeg', '-v', 'error', '-y', '-i', path('said.wav'), ...options, made)
  return new Uint8Array(readFileSync(made))
}

const words = (text: string) => new Set(text.toLowerCase().match(/[a-z]+/g))

/** The share of the sentence's words that were heard. */
function shareHeard(text: string): number {
  const heard = words(text)
  const said = [...words(sentence)]
  return said.filter((word) => heard.has(word)).length / said.length
}

describe.skipIf(missing.length > 0)('audio end to end', () => {
  if (missing.length === 0) run('espeak-ng', ...voice, '-w', path('said.wav'), sentence)
  const seconds = missing.length === 0 ? durationOf(path('said.wav')) + 0.3 : 0

  const transcribe = (body: unknown, init: TestRequest = {}): Promise<Answer> =>
    gateway.post('/audio/transcriptions', body, init)
  const asJson = (format: string, more: Record<string, unknown> = {}) => ({
    model: 'openai/whisper-1',
    input_audio: { data: Buffer.from(spoken(format)).toString('base64'), format },
    ...more,
  })
  const asForm = (format: string, fields: readonly [string, string][] = []) => {
    const form = new FormData()
    form.append('model', 'openai/whisper-1')
    for (const [name, value] of fields) form.append(name, value)
    form.append('file', new File([spoken(format)], `said.${format}`))
    return form
  }

  for (const format of isThorough ? ['wav', 'mp3', 'flac', 'ogg', 'pcm'] : ['mp3', 'pcm']) {
    test(`a sentence in ${format}, as base64 in JSON, is understood`, async () => {
      const { status, json } = await transcribe(asJson(format))
      expect(status).toBe(200)
      expect(shareHeard(String(json['text']))).toBeGreaterThan(0.5)
      // What is billed by the second is rounded up by the provider.
      expect(Math.abs(Number(at(json, 'usage.seconds')) - seconds)).toBeLessThan(1)
    })
  }

  for (const format of isThorough ? ['wav', 'mp3', 'ogg'] : ['ogg']) {
    test(`a sentence in ${format}, as a file in a form, is understood`, async () => {
      const { status, json } = await transcribe(asForm(format))
      expect(status).toBe(200)
      expect(shareHeard(String(json['text']))).toBeGreaterThan(0.5)
    })
  }

  test('verbose_json has segments and word times in order, within the audio', async () => {
    const form = asForm('wav', [
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word,segment'],
    ])
    const { json } = await transcribe(form)
    expect(Math.abs(Number(json['duration']) - seconds)).toBeLessThan(0.3)
    const heard = json['words'] as { word: string; start: number; end: number }[]
    expect(shareHeard(heard.map(({ word }) => word).join(' '))).toBeGreaterThan(0.5)
    let last = 0
    for (const { start, end } of heard) {
      expect(start).toBeGreaterThanOrEqual(last)
      expect(end).toBeGreaterThanOrEqual(start)
      last = start
    }
    expect(heard.at(-1)?.end).toBeLessThanOrEqual(seconds + 0.3)
    expect((json['segments'] as unknown[]).length).toBeGreaterThan(0)
  })

  test('subtitles and plain text come by Accept', async () => {
    const kinds: readonly [accept: string, begins: RegExp][] = [
      ['text/vtt', /^WEBVTT\n\n(?:\d+\n)?00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}/],
      ['application/x-subrip', /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/],
      ['text/plain', /^[a-z]/i],
    ]
    for (const [accept, begins] of isThorough ? kinds : kinds.slice(0, 1)) {
      const { status, text, headers } = await transcribe(asJson('wav'), { headers: { accept } })
      expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, accept])
      expect(text).toMatch(begins)
      expect(shareHeard(text)).toBeGreaterThan(0.5)
    }
  })

  for (const format of ['mp3', 'pcm', 'wav'] as const) {
    test(`speech in ${format} is read by ffprobe, and lasts about as long as espeak’s own`, async () => {
      run('espeak-ng', '-w', path('own.wav'), sentence)
      const response = await gateway.request('/audio/speech', {
        method: 'POST',
        // WAV is for those who ask for it by header; the body's values are the contract's two.
        ...(format === 'wav' ? { headers: { accept: 'audio/wav' } } : {}),
        body: {
          model: 'openai/tts-1',
          input: sentence,
          voice: 'alloy',
          ...(format === 'wav' ? {} : { response_format: format }),
        },
      })
      expect(response.status).toBe(200)
      if (format === 'wav') expect(response.headers.get('content-type')).toBe('audio/wav')
      writeFileSync(path(`spoken.${format}`), await response.bytes())
      const raw = format === 'pcm' ? ['-f', 's16le', '-ar', '24000', '-ch_layout', 'mono'] : []
      const own = durationOf(path('own.wav'))
      const ratio = durationOf(path(`spoken.${format}`), ...raw) / own
      expect(ratio).toBeGreaterThan(0.7)
      expect(ratio).toBeLessThan(1.3)
    })
  }

  test('what the gateway spoke, it can be asked to transcribe', async () => {
    const spokenBack = await gateway.request('/audio/speech', {
      method: 'POST',
      body: { model: 'openai/tts-1', input: sentence, voice: 'nova', response_format: 'mp3' },
    })
    const data = Buffer.from(await spokenBack.arrayBuffer()).toString('base64')
    const { status, json } = await transcribe({
      model: 'openai/whisper-1',
      input_audio: { data, format: 'mp3' },
    })
    expect([status, typeof json['text']]).toEqual([200, 'string'])
    expect(Number(at(json, 'usage.seconds'))).toBeGreaterThan(1)
  })
})
