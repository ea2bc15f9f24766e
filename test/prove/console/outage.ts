import { environmentOf, inferenceKey } from './browser.ts'
import { atMost, journeyProof } from './rows.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import type { Proof } from '../proof.ts'

const redMsMax = 5000

/** A provider that answers, then does not; the view must say so, with the next step, and the recovery without a reload. */
export const proof: Proof = {
  title:
    'a provider goes down: red within 5 s with the next step; the gateway goes down: readable, and back without a reload',
  async run() {
    const upstream = startScriptedUpstream()
    const prices = { input_per_million: '1', output_per_million: '1' }
    const config = {
      providers: [
        {
          preset: 'custom',
          id: 'acme',
          base_url: upstream.url,
          discover: false,
          models: [{ id: 'acme/chat', prices }],
        },
      ],
    }
    try {
      const inner = journeyProof(
        'outage',
        async (opened) => {
          const { page, origin, gateway, mode } = opened
          const faults: string[] = []
          await opened.open('/system')
          await page.getByText('acme').first().waitFor()
          await upstream.stop()
          const startMs = performance.now()
          const fail = () =>
            fetch(`${origin}/v1/chat/completions`, {
              method: 'POST',
              headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
              body: JSON.stringify({ model: 'acme/chat', messages: [{ role: 'user', content: 'x' }] }),
            }).then((answer) => answer.text())
          for (let count = 0; count < 3; count += 1) await fail()
          await page.locator('.trouble').waitFor({ timeout: 15_000 })
          const redMs = Math.round(performance.now() - startMs)
          faults.push(...atMost('milliseconds until red', redMs, redMsMax))
          const text = await page.locator('.trouble').textContent()
          if (text?.includes('Next:') !== true) faults.push(`no next step: ${text}`)
          await opened.look('outage-provider')
          opened.expectErrors(/ERR_|Failed to load resource|50\d/)
          await gateway.end('SIGKILL')
          await page.getByText('The gateway did not answer').first().waitFor({ timeout: 60_000 })
          if ((await page.locator('table').count()) === 0) faults.push('the data of before is gone')
          await opened.look('outage-gateway')
          await gateway.start(environmentOf(mode))
          await page.locator('.failure').first().waitFor({ state: 'detached', timeout: 60_000 })
          return { faults, figures: [`red after ${redMs} ms: ${text?.slice(0, 160)}`] }
        },
        { config },
      )
      return await inner.run()
    } finally {
      await upstream.stop()
    }
  },
}
