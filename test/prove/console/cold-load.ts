import { atMost, journeyProof } from './rows.ts'

const bytesMax = 180_000
const usableMsMax = 3000
const slowdown = 4
const bitsPerSecond = 1_600_000
const latencyMs = 40

export const proof = journeyProof(
  `a cold load at ${slowdown}× CPU and 1.6 Mbit/s is usable within 3 s, and the whole view is at most 180 kB`,
  async (visit) => {
    const { page } = visit
    // The first request builds the console of a checkout; a package carries it.
    await visit.open('/overview')
    await page.locator('main h1').waitFor()
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.clearBrowserCache')
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: latencyMs,
      downloadThroughput: bitsPerSecond / 8,
      uploadThroughput: bitsPerSecond / 8,
    })
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    // As sent: compressed, with the headers of each answer.
    let bytes = 0
    const files: string[] = []
    const kinds = new Map<string, string>()
    session.on('Network.responseReceived', ({ requestId, response }) => kinds.set(requestId, response.url))
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const url = kinds.get(requestId) ?? ''
      if (!url.includes('/ui')) return
      bytes += encodedDataLength
      files.push(
        `${url.slice(url.lastIndexOf('/') + 1) || 'the page'} ${(encodedDataLength / 1000).toFixed(1)}`,
      )
    })
    const startMs = performance.now()
    await visit.open('/overview')
    // Usable: the page has its heading, its figures or the word that there are none, and takes a click.
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('Spend', { exact: true }).first().waitFor()
    const usableMs = Math.round(performance.now() - startMs)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    // The drawing comes after the figures, and belongs to the first view.
    await page.locator('.chart canvas').first().waitFor()
    await page.waitForLoadState('networkidle')
    return {
      faults: [...atMost('milliseconds', usableMs, usableMsMax), ...atMost('bytes', bytes, bytesMax)],
      figures: [
        `usable after ${usableMs} ms, ${(bytes / 1000).toFixed(1)} kB compressed: ${files.join(', ')}`,
      ],
    }
  },
)
