import { SQL } from 'bun'
import type { Page } from 'playwright-core'
import { startPostgres, whyNoPostgres, type TestPostgres } from '../../support/postgres.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'
import { environmentOf, inferenceKey, type Visit } from './browser.ts'
import { atMost, journeyProof } from './rows.ts'

const redMsMax = 5000
/** Some data is read again every quarter of a minute, and again at most 8 s after that failed. */
const toldMsMax = 40_000

export const proof: Proof = {
  title:
    'down and back without a reload: a provider, red within 5 s with the next step; the gateway; the database, told in every panel with its status',
  run: async () => combine([await provider(), await database()]),
}

/** A provider stops, then the gateway is killed. */
async function provider(): Promise<ProofResult> {
  const upstream = startScriptedUpstream()
  const prices = { input_per_million: '1', output_per_million: '1' }
  const models = [{ id: 'acme/chat', prices }]
  const acme = { preset: 'custom', id: 'acme', base_url: upstream.url, discover: false, models }
  const inner = journeyProof(
    'a provider, the gateway',
    async (visit) => {
      const { page, address, gateway, mode } = visit
      await visit.open('/system')
      await page.getByText('acme').first().waitFor()
      await upstream.stop()
      const startMs = performance.now()
      for (let count = 0; count < 3; count += 1) await failedCall(address)
      await page.locator('.trouble').waitFor({ timeout: 15_000 })
      const redMs = Math.round(performance.now() - startMs)
      const faults = atMost('milliseconds until red', redMs, redMsMax)
      const text = await page.locator('.trouble').textContent()
      if (text?.includes('Next:') !== true) faults.push(`no next step: ${text}`)
      await visit.look('outage-provider')
      visit.expectErrors(/ERR_|Failed to load resource/)
      await gateway.end('SIGKILL')
      await page.getByText('The gateway did not answer').first().waitFor({ timeout: toldMsMax })
      if ((await page.locator('table').count()) === 0) faults.push('the data of before is gone')
      await visit.look('outage-gateway')
      await gateway.start(environmentOf(mode))
      await page.locator('.stale').first().waitFor({ state: 'detached', timeout: toldMsMax })
      return { faults, figures: [`red after ${redMs} ms: ${text?.slice(0, 160)}`] }
    },
    { config: { providers: [acme] } },
  )
  try {
    return await inner.run()
  } finally {
    await upstream.stop()
  }
}

async function failedCall(address: string): Promise<void> {
  const answer = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/chat', messages: [{ role: 'user', content: 'x' }] }),
  })
  await answer.text()
}

/**
 * Each view that reads the database, by its name in the sidebar: how many panels of it read for themselves, and the status
 * that the public contract leaves for a gateway's own failure there (keys and members have no 503, batches no 500).
 */
const panels = {
  Requests: { count: 1, status: 503 },
  Batches: { count: 1, status: 502 },
  Keys: { count: 1, status: 500 },
  Members: { count: 1, status: 500 },
  Money: { count: 2, status: 503 },
  System: { count: 1, status: 503 },
} as const

async function database(): Promise<ProofResult> {
  const missing = whyNoPostgres()
  if (missing !== null) return notRun(missing)
  const postgres = await startPostgres()
  const inner = journeyProof('the database', (visit) => watchDatabase(visit, postgres), {
    env: async ({ name }) => ({ DATABASE_URL: await createDatabase(postgres.url, name) }),
  })
  try {
    return await inner.run()
  } finally {
    postgres.stop()
  }
}

async function createDatabase(server: string, mode: string): Promise<string> {
  const name = `console_${mode.replaceAll('-', '_')}`
  await using sql = new SQL(server, { max: 1 })
  await sql.unsafe(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function watchDatabase(visit: Visit, postgres: TestPostgres) {
  const { page } = visit
  const faults: string[] = []
  await visit.open('/overview')
  // The figures have their place before they are there; the chart is drawn from what was read.
  await page.locator('.chart').first().waitFor()
  await page.evaluate(() => Object.assign(window, { isTheSamePage: true }))
  visit.expectErrors(/Failed to load resource.*50\d/)
  postgres.kill()
  const killedMs = performance.now()
  await page.locator('.page-head .stale').waitFor({ timeout: toldMsMax })
  const told = ((performance.now() - killedMs) / 1000).toFixed(1)
  if (!(await page.locator('.chart').first().isVisible())) faults.push('the data of before is gone')
  await visit.look('outage-database-kept')
  for (const [name, { count, status }] of Object.entries(panels)) {
    await go(visit, name)
    const failures = page.locator('main .failure')
    await failures.nth(count - 1).waitFor({ timeout: toldMsMax })
    for (const text of await failures.allTextContents())
      if (!text.includes(`status ${status}`) || !/database|storage/i.test(text))
        faults.push(`${name}: ${text}`)
    await visit.look(`outage-database-${name.toLowerCase()}`)
  }
  postgres.start()
  const startedMs = performance.now()
  await page.locator('main .failure').first().waitFor({ state: 'detached', timeout: toldMsMax })
  await page.getByRole('table', { name: 'Deployments' }).waitFor()
  const back = ((performance.now() - startedMs) / 1000).toFixed(1)
  await go(visit, 'Money')
  await page.getByRole('table', { name: 'Postings' }).waitFor({ timeout: toldMsMax })
  if (!(await isTheSamePage(page))) faults.push('the page was loaded again')
  return {
    faults,
    figures: [`the view of before says so after ${told} s; all is back ${back} s after the database`],
  }
}

/** Follows a link of the sidebar. */
async function go(visit: Visit, name: string): Promise<void> {
  const { page, mode } = visit
  if (mode.width < 720) await visit.press(page.getByLabel('Open the menu'))
  await visit.press(page.getByRole('link', { name, exact: true }))
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

async function isTheSamePage(page: Page): Promise<boolean> {
  return page.evaluate(() => 'isTheSamePage' in window)
}
