import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environmentOf, type Visit } from './browser.ts'
import { atMost, journeyProof, type Journey } from './rows.ts'

const firstSoundMsMax = 150
const highlightMsMax = 100

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
)

async function speak(visit: Visit): Promise<Journey> {
  const { page } = visit
  await visit.open('/speech')
  await visit.press(page.getByRole('button', { name: 'Speak', exact: true }))
  await page.getByText('all of it').waitFor()
  const mark = await page.evaluate(() => {
    const [entry] = performance.getEntriesByName('headrace:first-sound') as (PerformanceMark & {
      detail: { afterFirstByteMs: number }
    })[]
    return entry?.detail.afterFirstByteMs ?? Infinity
  })
  await visit.look('speech')
  return {
    faults: atMost('first sound', mark, firstSoundMsMax),
    figures: [`first sound ${mark.toFixed(0)} ms after the first byte`],
  }
}

/** A file of speech is dropped in, and each word must be marked while it sounds. */
async function follow(visit: Visit): Promise<Journey> {
  const { page } = visit
  const folder = mkdtempSync(join(tmpdir(), 'headrace-console-'))
  try {
    const file = join(folder, 'speech.wav')
    await Bun.spawn(['espeak-ng', '-w', file, 'The weather is good today.']).exited
    await visit.open('/transcription')
    await page.getByLabel('Audio file').setInputFiles(file)
    await page.locator('.said').first().waitFor({ timeout: 30_000 })
    await visit.look('transcript')
    const late = await page.evaluate(async () => {
      const audio = document.querySelector('audio')
      const words = [...document.querySelectorAll<HTMLElement>('.said')]
      if (audio === null) return Infinity
      let worst = 0
      const observer = new MutationObserver((changes) => {
        for (const { target } of changes) {
          const word = target as HTMLElement
          if (!word.hasAttribute('data-sounding')) continue
          const [minutes = '0', seconds = '0'] = word.title.split(':')
          const start = Number(minutes) * 60 + Number(seconds)
          worst = Math.max(worst, Math.abs(audio.currentTime - start) * 1000)
        }
      })
      for (const word of words)
        observer.observe(word, { attributes: true, attributeFilter: ['data-sounding'] })
      audio.muted = true
      await audio.play()
      await new Promise((resolve) => audio.addEventListener('ended', resolve, { once: true }))
      return worst
    })
    // A title is rounded to a tenth of a second.
    return {
      faults: atMost('highlight', late - 50, highlightMsMax),
      figures: [`the last highlight came ${late.toFixed(0)} ms off its word at most`],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Records from the (fake) microphone and kills the gateway while the recording is on its way. */
async function outlive(visit: Visit): Promise<Journey> {
  const { page, gateway, mode } = visit
  visit.expectErrors(/ERR_|Failed to load resource|50\d/)
  await visit.open('/transcription')
  await visit.press(page.getByRole('button', { name: 'Record' }))
  await page.getByText('Recording 0:0').waitFor()
  await page.waitForTimeout(1500)
  await visit.look('recording')
  // The upload is held up, so that it is under way when the gateway dies.
  await page.route('**/v1/audio/transcriptions', async (route) => {
    await gateway.end('SIGKILL')
    await route.continue()
  })
  await visit.press(page.getByRole('button', { name: 'Stop and transcribe' }))
  await page.getByText('The recording is kept here').waitFor({ timeout: 30_000 })
  await visit.look('recording-kept')
  await page.unroute('**/v1/audio/transcriptions')
  await gateway.start(environmentOf(mode))
  await visit.press(page.getByRole('button', { name: 'Send again' }))
  await page.getByRole('heading', { name: 'Transcript' }).waitFor({ timeout: 30_000 })
  return { faults: [], figures: ['the recording was kept and sent again'] }
}
