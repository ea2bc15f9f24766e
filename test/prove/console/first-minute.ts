import { environmentOf, signInLink } from './browser.ts'
import { atMost, journeyProof } from './rows.ts'

const secondsMax = 60
const clicksMax = 6

const tries = ['Ask a model', 'Hear a voice', 'Have that voice written down', 'Run a batch']

export const proof = journeyProof(
  `a link signs in once, and everything is tried within ${secondsMax} s and ${clicksMax} clicks`,
  async (visit) => {
    const { page, gateway, mode, context } = visit
    const link = await signInLink(gateway, environmentOf(mode))
    const startMs = performance.now()
    await page.goto(link)
    let clicks = 0
    if (mode.width < 720) {
      await visit.press(page.getByLabel('Open the menu'))
      clicks += 1
    }
    await visit.press(page.getByRole('link', { name: 'Start', exact: true }))
    clicks += 1
    for (const name of tries) {
      const item = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
      await visit.press(item.getByRole('button', { name: /^Try/ }))
      clicks += 1
      await item.getByText('Done', { exact: true }).waitFor({ timeout: 30_000 })
    }
    const seconds = (performance.now() - startMs) / 1000
    await visit.look('first-minute')
    // Another browser: this one is signed in already.
    visit.expectErrors(/401/)
    const other = await context.browser()?.newContext()
    const second = await other?.newPage()
    await second?.goto(link)
    const refusal = second?.getByText('This link was used already')
    await refusal?.waitFor()
    await other?.close()
    return {
      faults: [...atMost('seconds', seconds, secondsMax), ...atMost('clicks', clicks, clicksMax)],
      figures: [`${seconds.toFixed(1)} s, ${clicks} clicks; the link a second time is refused`],
    }
  },
  { isSignedOut: true },
)
