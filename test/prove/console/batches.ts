import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { environmentOf, type Visit } from './browser.ts'
import { watchHeaps } from './heaps.ts'
import { atMost, journeyProof, type Journey } from './rows.ts'

const linesCount = 50_000
const badLine = 31_207
/** These the gateway refuses as items: they fail. */
const failedEvery = 1000
const failedCount = linesCount / failedEvery
const heapBytesMax = 50_000_000
const staleSecondsMax = 2
const runMsMax = 1_200_000

export const proof = journeyProof(
  `${linesCount.toLocaleString('en-US')} lines dropped: flat heaps, the bad line named, confirmed, watched through a kill -9, failed items downloaded`,
  async (visit) => {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-console-'))
    try {
      const file = join(folder, 'items.jsonl')
      await writeLines(file)
      const sent = await send(visit, file)
      const watched = await watch(visit)
      const ended = await takeFailed(visit)
      return {
        faults: [...sent.faults, ...watched.faults, ...ended.faults],
        figures: [...sent.figures, ...watched.figures, ...ended.figures],
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

/** Valid lines, and between them one that is none. */
async function writeLines(file: string): Promise<void> {
  const stream = createWriteStream(file)
  const filler = 'water '.repeat(40)
  for (let line = 1; line <= linesCount + 1; line += 1) {
    const id = line > badLine ? line - 1 : line
    const body = {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: filler }],
      max_tokens: id % failedEvery === 0 ? -1 : 1,
    }
    const text =
      line === badLine ? '{"custom_id":"broken",' : JSON.stringify({ custom_id: `item-${id}`, body })
    if (!stream.write(`${text}\n`)) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'finish')
}

/** From the file to the running batch. */
async function send(visit: Visit, file: string): Promise<Journey> {
  const { page } = visit
  const faults: string[] = []
  await visit.open('/batches/new')
  await page.getByRole('button', { name: 'Choose a file' }).waitFor()
  const heaps = await watchHeaps(page)
  await give(visit, file)
  await page.getByText(/items can be sent/).waitFor({ timeout: 300_000 })
  const named = await page.getByRole('list', { name: 'Bad lines' }).textContent()
  if (named?.includes(`line ${badLine.toLocaleString('en-US')}`) !== true) faults.push(`bad line: ${named}`)
  // The picker names the model once the list of models has come.
  const model = page.getByRole('combobox', { name: 'model', exact: true })
  for (let waits = 0; waits < 50 && (await model.inputValue()) === ''; waits += 1)
    await page.waitForTimeout(100)
  if ((await model.inputValue()) === '') faults.push('the model of the lines was not taken')
  await visit.press(page.getByRole('button', { name: 'Estimate' }))
  const create = page.getByRole('button', { name: /Create the batch/ })
  await create.waitFor({ timeout: 300_000 })
  const { grownBytes, workers } = await heaps.end()
  faults.push(...atMost('heap', grownBytes, heapBytesMax))
  if (workers !== 2) faults.push(`${workers} workers were watched: one that checks and one that packs`)
  await visit.look('batch-estimate')
  await visit.press(create)
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 300_000 })
  return {
    faults,
    figures: [
      `the heaps of the page and its worker grew by ${(grownBytes / 1e6).toFixed(1)} MB at most; named: ${named?.slice(0, 60)}`,
    ],
  }
}

/** By the mouse the file is dropped, by the keyboard it is chosen. */
async function give({ page, mode, press, context }: Visit, file: string): Promise<void> {
  if (mode.isKeyboard) {
    const chooser = page.waitForEvent('filechooser')
    await press(page.getByRole('button', { name: 'Choose a file' }))
    await (await chooser).setFiles(file)
    return
  }
  const box = await page.getByRole('group', { name: 'File of lines' }).boundingBox()
  if (box === null) throw new Error('there is no place to drop a file')
  const session = await context.newCDPSession(page)
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at, data })
  await session.detach()
}

/** Watches the batch while the gateway dies and comes back. */
async function watch(visit: Visit): Promise<Journey> {
  const { page, gateway, mode } = visit
  await visit.look('batch-running')
  const before = await freshness(visit)
  const doneBefore = await shownDone(page)
  visit.expectErrors(/ERR_|Failed to load resource|50\d/)
  await gateway.end('SIGKILL')
  await page.getByText('Connecting', { exact: true }).waitFor({ timeout: 30_000 })
  await visit.look('batch-gateway-gone')
  await gateway.start(environmentOf(mode))
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 })
  await untilDone(page, doneBefore + 100)
  const after = await freshness(visit)
  const stale = Math.max(before, after)
  return {
    faults: atMost('seconds behind', stale, staleSecondsMax),
    figures: [
      `the progress was ${stale.toFixed(2)} s old at most; killed at ${doneBefore} done items, it went on`,
    ],
  }
}

const freshnessRounds = 10

/** How long the page was behind what the API already told, in seconds: the worst of some looks. */
async function freshness({ page, context, origin }: Visit): Promise<number> {
  const id = page.url().split('/').at(-1) ?? ''
  let worst = 0
  for (let round = 0; round < freshnessRounds; round += 1) {
    const answer = await context.request.get(`${origin}/v1/batches?limit=5`, {
      headers: { 'x-headrace-console': '1' },
    })
    const { data } = (await answer.json()) as {
      data: { id: string; request_counts: { completed: number } }[]
    }
    const told = data.find((batch) => batch.id === id)?.request_counts.completed
    if (told === undefined) throw new Error(`the list of batches does not have ${id}`)
    const startMs = performance.now()
    await untilDone(page, told)
    worst = Math.max(worst, (performance.now() - startMs) / 1000)
    await page.waitForTimeout(300)
  }
  return worst
}

async function shownDone(page: Page): Promise<number> {
  const text = await page.locator('.figure:has(dt:text-is("Done")) dd').first().textContent()
  return Number(text?.replaceAll(',', ''))
}

async function untilDone(page: Page, count: number): Promise<void> {
  const endMs = performance.now() + runMsMax
  while ((await shownDone(page)) < count) {
    if (performance.now() > endMs) throw new Error(`the page does not show ${count} done items`)
    await page.waitForTimeout(20)
  }
}

/** The end of the batch, and what failed as a file. */
async function takeFailed(visit: Visit): Promise<Journey> {
  const { page } = visit
  const faults: string[] = []
  await page.getByRole('button', { name: /^Retry/ }).waitFor({ timeout: runMsMax })
  await page.getByText(`${failedCount} items`).first().waitFor({ timeout: 60_000 })
  await visit.look('batch-ended')
  const done = await shownDone(page)
  if (done !== linesCount - failedCount) faults.push(`${done} items are done`)
  // All results are read for it.
  const download = page.waitForEvent('download', { timeout: 300_000 })
  await visit.press(page.getByRole('button', { name: 'Failed items' }))
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\n')
  const ids = lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)
  const isExpected = ids.every((id) => Number(id.replace('item-', '')) % failedEvery === 0)
  if (new Set(ids).size !== failedCount || !isExpected)
    faults.push(`failed items: ${ids.length}, ${ids.slice(0, 3).join(', ')}`)
  return { faults, figures: [`${ids.length} failed items were downloaded, ${done} are done`] }
}
