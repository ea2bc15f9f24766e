import type { Page } from 'playwright-core'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { environmentOf } from './browser.ts'
import { atMost, journeyProof } from './rows.ts'

const linesCount = 50_000
const badLine = 31_207
/** These the gateway refuses as items: they fail. */
const failedEvery = 1000
const heapBytesMax = 50_000_000

export const proof = journeyProof(
  `${linesCount.toLocaleString('en-US')} lines dropped: flat heap, the bad line named, confirmed, watched through a kill -9, failed items downloaded`,
  async (visit) => {
    const { page, gateway, mode } = visit
    const folder = mkdtempSync(join(tmpdir(), 'headrace-console-'))
    const faults: string[] = []
    try {
      const file = join(folder, 'items.jsonl')
      await writeLines(file)
      await visit.open('/batches/new')
      const session = await page.context().newCDPSession(page)
      const heap = async () => {
        await session.send('HeapProfiler.collectGarbage')
        return (await session.send('Runtime.getHeapUsage')).usedSize
      }
      const before = await heap()
      await page.getByLabel('File of lines').last().setInputFiles(file)
      await page.getByText(/items can be sent/).waitFor({ timeout: 120_000 })
      const named = await page.getByRole('list', { name: 'Bad lines' }).textContent()
      if (named?.includes(`line ${badLine.toLocaleString('en-US')}`) !== true)
        faults.push(`bad line: ${named}`)
      await visit.look('batch-checked')
      const model = page.getByRole('combobox', { name: 'model', exact: true })
      if ((await model.inputValue()) === '') faults.push('the model of the lines was not taken')
      await visit.press(page.getByRole('button', { name: 'Estimate' }))
      const create = page.getByRole('button', { name: /Create the batch/ })
      await create.waitFor({ timeout: 120_000 })
      const grown = (await heap()) - before
      faults.push(...atMost('heap', grown, heapBytesMax))
      await visit.look('batch-estimate')
      await visit.press(create)
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 120_000 })
      await visit.look('batch-running')
      visit.expectErrors(/ERR_|Failed to load resource|50\d/)
      await gateway.end('SIGKILL')
      await gateway.start(environmentOf(mode))
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 })
      const stale = await staleness(page)
      faults.push(...atMost('seconds behind', stale, 2))
      await page.getByRole('button', { name: /^Retry/ }).waitFor({ timeout: 600_000 })
      await visit.look('batch-ended')
      const download = page.waitForEvent('download')
      await visit.press(page.getByRole('button', { name: 'Failed items' }))
      const saved = await (await download).path()
      const failed = readFileSync(saved, 'utf8').trim().split('\n').length
      const expected = linesCount / failedEvery
      if (failed !== expected) faults.push(`${failed} failed items were downloaded, not ${expected}`)
      return {
        faults,
        figures: [
          `the page's heap grew by ${(grown / 1e6).toFixed(1)} MB; ${failed} failed items downloaded; the progress was ${stale.toFixed(1)} s behind`,
        ],
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

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

/** How long the page's count of done items was behind a change that the API already shows, in seconds. */
async function staleness(page: Page): Promise<number> {
  const shown = async () =>
    Number((await page.locator('.figure:has(dt:text-is("Done")) dd').textContent())?.replaceAll(',', ''))
  const id = page.url().split('/').at(-1) ?? ''
  const told = await page.evaluate(async (name) => {
    const base = document.querySelector('meta[name="headrace-base-path"]')?.getAttribute('content') ?? ''
    const list = await (
      await fetch(`${base}/v1/batches?limit=5`, { headers: { 'x-headrace-console': '1' } })
    ).json()
    return (list as { data: { id: string; request_counts: { completed: number } }[] }).data.find(
      (one) => one.id === name,
    )?.request_counts.completed
  }, id)
  const startMs = performance.now()
  while ((await shown()) < (told ?? 0)) {
    if (performance.now() - startMs > 30_000) return 30
    await page.waitForTimeout(50)
  }
  return (performance.now() - startMs) / 1000
}
