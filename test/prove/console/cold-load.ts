import type { Page } from 'playwright-core'
import type { Visit } from './browser.ts'
import { atMost, journeyProof } from './rows.ts'

const bytesMax = 180_000
const usableMsMax = 3000
const slowdown = 4
const bitsPerSecond = 1_600_000
const latencyMs = 40
/** What else the machine does can only make a load slower, so the fastest of these counts. */
const loads = 3

export const proof = journeyProof(
  `a cold load at ${slowdown}× CPU and 1.6 Mbit/s is usable within 3 s, and the whole view is at most 180 kB`,
  async (visit) => {
    // The first request builds the console of a checkout; a package carries it.
    await visit.open('/overview')
    await visit.page.locator('.chart canvas').first().waitFor()
    const seen = []
    for (let count = 0; count < loads; count += 1) seen.push(await loadCold(visit))
    const times = seen.map(({ usableMs }) => usableMs)
    const bytes = Math.max(...seen.map((load) => load.bytes))
    return {
      faults: [
        ...atMost('milliseconds', Math.min(...times), usableMsMax),
        ...atMost('bytes', bytes, bytesMax),
      ],
      figures: [
        `usable after ${times.join(', ')} ms, ${(bytes / 1000).toFixed(1)} kB compressed: ${seen[0]?.files.join(', ')}`,
      ],
    }
  },
)

/** Loads the first view in a browser that was never here, but for the cookie of the session. */
async function loadCold({ context, mode, origin }: Visit) {
  const cold = await context.browser()?.newContext({
    viewport: { width: mode.width, height: mode.height },
    colorScheme: mode.theme,
    storageState: await context.storageState(),
  })
  if (cold === undefined) throw new Error('the browser is gone')
  try {
    const page = await cold.newPage()
    const sent = await slowDown(page)
    const startMs = performance.now()
    await page.goto(`${origin}/ui/overview`)
    // Usable: the figures themselves, not only their places.
    await page.locator('.figure dd [title$="credits"]').first().waitFor()
    const usableMs = Math.round(performance.now() - startMs)
    // The drawing comes after the figures, and belongs to the first view.
    await page.locator('.chart canvas').first().waitFor()
    await page.waitForLoadState('networkidle')
    return { usableMs, ...sent() }
  } finally {
    await cold.close()
  }
}

/** Makes the page's machine and network slow; what comes back tells what was sent to it below `/ui` so far. */
async function slowDown(page: Page): Promise<() => { bytes: number; files: readonly string[] }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: bitsPerSecond / 8,
    uploadThroughput: bitsPerSecond / 8,
  })
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  const urls = new Map<string, string>()
  // As sent: compressed, with the headers of each answer.
  const sizes = new Map<string, number>()
  session.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const url = urls.get(requestId) ?? ''
    if (url.includes('/ui')) sizes.set(url.slice(url.lastIndexOf('/') + 1), encodedDataLength)
  })
  return () => ({
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    files: [...sizes].map(([name, size]) => `${name} ${(size / 1000).toFixed(1)}`),
  })
}
