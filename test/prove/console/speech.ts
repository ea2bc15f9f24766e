import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { environmentOf, tabTo, type Visit } from './browser.ts'
import { heardAfter, listenToSpeech } from './ear.ts'
import { atMost, journeyProof, type Journey } from './rows.ts'

const firstSoundMsMax = 150
const highlightMsMax = 100
/** How far the simulator's recogniser may be off where a first word begins, beside what the console may be. */
const recogniserMsMax = 150
/** What the simulator's recogniser knows. */
const sentence = 'The weather is good today.'
const recordedSeconds = 5
/** So slow that a recording of a few seconds is under way for some more. */
const slowBytesPerSecond = 8_000

export const proof = journeyProof(
  'speech sounds at once; words follow the sound; a recording outlives the gateway that dies in the middle of its upload',
  async (visit) => {
    const spoken = await speak(visit)
    const followed = await follow(visit)
    const kept = await outlive(visit)
    return {
      faults: [...spoken.faults, ...followed.faults, ...kept.faults],
      figures: [...spoken.figures, ...followed.figures, ...kept.figures],
    }
  },
  { flags: microphoneFlags },
)

/** A microphone that hears the sentence, once, after a second of silence. */
async function microphoneFlags(folder: string): Promise<string[]> {
  const voice = join(folder, 'voice.wav')
  const heard = join(folder, 'heard.wav')
  await Bun.spawn(['espeak-ng', '-w', voice, sentence]).exited
  await Bun.spawn(['sox', voice, '-r', '48000', '-c', '1', heard, 'pad', '1', '3']).exited
  if (!existsSync(heard)) throw new Error('espeak-ng or sox made no sound for the microphone')
  return [`--use-file-for-fake-audio-capture=${heard}%noloop`]
}

/** The time between the first byte of an answer and its first sound at the end of the browser's own graph. */
async function speak(visit: Visit): Promise<Journey> {
  const { page } = visit
  await page.addInitScript(listenToSpeech)
  await visit.open('/speech')
  await visit.press(page.getByRole('button', { name: 'Speak', exact: true }))
  await page.getByText('Playing while it arrives').or(page.getByText('all of it')).first().waitFor()
  const { soundMs, silentMs, askedMs, aheadMs } = await heardAfter(page)
  await page.getByText('all of it').waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached', timeout: 20_000 })
  await visit.look('speech')
  const fold = page.locator('.split-fold > summary')
  if (await fold.isVisible()) await visit.press(fold)
  await visit.press(page.getByRole('button', { name: 'Speak with nova' }))
  await visit.press(page.getByRole('button', { name: 'Show the code' }).first())
  await page.getByText('all of it').nth(1).waitFor()
  await visit.look('speech-code')
  return {
    faults: atMost('first sound', soundMs - silentMs, firstSoundMsMax),
    figures: [
      `the voice sounds ${soundMs.toFixed(0)} ms after the first byte, ${silentMs.toFixed(0)} ms of which are silence of the answer itself; it was asked for after ${askedMs.toFixed(0)} ms, ${aheadMs.toFixed(0)} ms ahead`,
    ],
  }
}

interface HeardWord {
  word: string
  start: number
}

/** Records what the microphone hears; each word must be marked while it sounds. */
async function follow(visit: Visit): Promise<Journey> {
  const { page } = visit
  await visit.open('/transcription')
  await visit.press(page.getByRole('button', { name: 'Record' }))
  await page.getByText(`Recording 0:0${recordedSeconds}`).waitFor()
  await visit.look('recording')
  const answered = page.waitForResponse((response) => response.url().endsWith('/audio/transcriptions'))
  await visit.press(page.getByRole('button', { name: 'Stop and transcribe' }))
  const { words = [] } = (await (await answered).json()) as { words?: HeardWord[] }
  await page.locator('.said').first().waitFor()
  const faults: string[] = []
  const text = words.map(({ word }) => word).join(' ')
  if (text !== 'the weather is good today') faults.push(`the recording was heard as "${text}"`)
  const onset = await onsetOf(await recordingOf(visit))
  const marks = await playAndWatch(page)
  if (marks.length !== words.length)
    faults.push(`${marks.length} words of ${words.length} were marked while the recording played`)
  const lateMs = marks.map(({ index, atSeconds }) => (atSeconds - (words[index]?.start ?? Infinity)) * 1000)
  const worst = Math.max(...lateMs.map(Math.abs), 0)
  faults.push(...atMost('highlight', worst, highlightMsMax))
  const firstMs = Math.abs((marks[0]?.atSeconds ?? Infinity) - onset) * 1000
  faults.push(
    ...atMost('highlight of the first word against its sound', firstMs, highlightMsMax + recogniserMsMax),
  )
  faults.push(...(await seeks(visit, words)))
  await visit.look('transcript')
  return {
    faults,
    figures: [
      `"${text}": each word marked within ${worst.toFixed(0)} ms of its time, the first ${firstMs.toFixed(0)} ms from where the recording begins to sound`,
    ],
  }
}

/** The file that the page has of the recording. */
async function recordingOf({ page, press }: Visit): Promise<string> {
  const download = page.waitForEvent('download')
  await press(page.getByRole('button', { name: 'Download the recording' }))
  return (await download).path()
}

const sampleRate = 16_000
/** A word is louder than this part of the loudest sample, a coder's noise before it is not. */
const loudShare = 0.1

/** When a file begins to sound, in seconds. */
async function onsetOf(path: string): Promise<number> {
  const decoder = Bun.spawn(
    ['ffmpeg', '-v', 'error', '-i', path, '-ar', String(sampleRate), '-ac', '1', '-f', 'f32le', '-'],
    { stdout: 'pipe' },
  )
  const samples = new Float32Array(await new Response(decoder.stdout).arrayBuffer())
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  return samples.findIndex((sample) => Math.abs(sample) > loudShare * peak) / sampleRate
}

/** Plays the recording from its beginning; where it was when each word was marked. */
async function playAndWatch(page: Page): Promise<{ index: number; atSeconds: number }[]> {
  return page.evaluate(async () => {
    const audio = document.querySelector('audio')
    if (audio === null) throw new Error('the page has no recording')
    const marks: { index: number; atSeconds: number }[] = []
    const observer = new MutationObserver((changes) => {
      for (const { target } of changes) {
        const word = target as HTMLElement
        if (!word.hasAttribute('data-sounding')) continue
        marks.push({ index: Number(word.dataset['piece']), atSeconds: audio.currentTime })
      }
    })
    for (const word of document.querySelectorAll('.said'))
      observer.observe(word, { attributes: true, attributeFilter: ['data-sounding'] })
    const ended = new Promise((resolve) => audio.addEventListener('ended', resolve, { once: true }))
    await audio.play()
    await ended
    observer.disconnect()
    return marks
  })
}

/** A click on a word plays from there. */
async function seeks({ page, mode }: Visit, words: readonly HeardWord[]): Promise<string[]> {
  const index = words.length - 2
  if (mode.isKeyboard) {
    await tabTo(page, page.locator('[data-piece="0"]'))
    for (let count = 0; count < index; count += 1) await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
  } else await page.locator(`[data-piece="${index}"]`).click()
  await page.locator(`[data-piece="${index}"][data-sounding]`).waitFor({ timeout: 5000 })
  const at = await page.evaluate(() => document.querySelector('audio')?.currentTime ?? 0)
  const start = words[index]?.start ?? 0
  return at >= start && at < start + 5 ? [] : [`a click on the word at ${start} s led to ${at} s`]
}

/** Kills the gateway while a recording is on its way to it. */
async function outlive(visit: Visit): Promise<Journey> {
  const { page, gateway, mode, context } = visit
  visit.expectErrors(/ERR_|Failed to load resource|50\d/)
  await visit.open('/transcription')
  await visit.press(page.getByRole('button', { name: 'Record' }))
  await page.getByText(`Recording 0:0${recordedSeconds}`).waitFor()
  const session = await context.newCDPSession(page)
  const limitUpload = (uploadThroughput: number) =>
    session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    })
  await session.send('Network.enable')
  await limitUpload(slowBytesPerSecond)
  await visit.press(page.getByRole('button', { name: 'Stop and transcribe' }))
  const sending = page.getByText(/^Sending [\d.]+ kB of/)
  await sending.waitFor({ timeout: 20_000 })
  const words = (await sending.textContent()) ?? ''
  await gateway.end('SIGKILL')
  await page.getByText('The recording is kept here').waitFor({ timeout: 30_000 })
  await visit.look('recording-kept')
  const kept = await recordingOf(visit)
  await limitUpload(-1)
  await gateway.start(environmentOf(mode))
  await visit.press(page.getByRole('button', { name: 'Send again' }))
  await page.locator('.said').first().waitFor({ timeout: 60_000 })
  const text = (await page.locator('.words').textContent()) ?? ''
  const isHeard = /the\s*weather\s*is\s*good\s*today/.test(text)
  return {
    faults: isHeard ? [] : [`the recording that was sent again was heard as "${text}"`],
    figures: [
      `killed at "${words}"; ${readFileSync(kept).length} bytes were kept, sent again and heard as "${text}"`,
    ],
  }
}
