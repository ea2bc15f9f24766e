import type { Page } from 'playwright-core'
import { startSimulatorProcess } from '../simulator-process.ts'
import type { Proof } from '../proof.ts'
import { inferenceKey, type Visit } from './browser.ts'
import { journeyProof } from './rows.ts'

/** The third model takes a breath after each token, so that a person can stop it. */
const columns = [
  { id: 'acme/quick', upstream: 'gpt-4o-mini', fault: null },
  { id: 'acme/large', upstream: 'gpt-4o', fault: null },
  { id: 'acme/slow', upstream: 'gpt-4.1-mini', fault: 'chunk_delay=200' },
] as const
const prompt = `Repeat this: ${'water turns the wheel '.repeat(40)}`
const prices = { input_per_million: '1.5', output_per_million: '7' }

export const proof: Proof = {
  title:
    'three models side by side, one of them stopped: costs equal /generation, and the copied code runs as it is',
  async run() {
    const simulator = await startSimulatorProcess()
    try {
      const providers = []
      for (const { id, upstream, fault } of columns) {
        const name = id.slice('acme/'.length)
        if (fault !== null) await setFault(simulator.url, name, fault)
        providers.push({
          preset: 'custom',
          id: name,
          base_url: `${simulator.url}/p/${name}/v1`,
          api_key: 'any-key',
          discover: false,
          models: [{ id, upstream, prices }],
        })
      }
      return await journeyProof('compare', compare, { config: { providers } }).run()
    } finally {
      simulator.stop()
    }
  },
}

async function setFault(simulator: string, mount: string, fault: string): Promise<void> {
  const answer = await fetch(`${simulator}/admin/faults`, {
    method: 'POST',
    body: JSON.stringify({ mount, rules: [{ fault }] }),
  })
  if (!answer.ok) throw new Error(`the simulator did not take the fault: ${await answer.text()}`)
}

interface Shown {
  text: string
  href: string
}

async function compare(visit: Visit) {
  const { page, address } = visit
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await visit.open(`/chat?models=${encodeURIComponent(columns.map(({ id }) => id).join(','))}`)
  await page.getByLabel('Message', { exact: true }).fill(prompt)
  await page.keyboard.press('Enter')
  const answers = page.locator('article.step')
  const slow = answers.nth(2)
  await slow.getByText('water').waitFor()
  await visit.press(slow.getByRole('button', { name: 'Stop' }))
  await slow.getByText('Stopped', { exact: true }).waitFor()
  await page.locator('article.step[aria-busy="true"]').first().waitFor({ state: 'detached', timeout: 60_000 })
  await slow.locator('.step-foot span[title$="credits"]').waitFor({ timeout: 10_000 })
  await visit.look('compare')
  const shown: Shown[] = await answers.evaluateAll((elements) =>
    elements.map((element) => ({
      text: element.querySelector('.step-foot span[title$="credits"]')?.getAttribute('title') ?? '',
      href: element.querySelector('.step-actions a')?.getAttribute('href') ?? '',
    })),
  )
  const faults: string[] = shown.length === columns.length ? [] : [`${shown.length} answers are shown`]
  for (const { text, href } of shown) {
    const id = href.slice(href.lastIndexOf('/') + 1)
    const ledger = await costOf(address, id)
    const exact = toNanocredits(text.replace(' credits', ''))
    if (exact !== ledger || exact <= 0n) faults.push(`${id}: shown ${text}, the ledger has ${ledger}`)
  }
  faults.push(...(await runCode(visit)))
  return { faults, figures: [`costs ${shown.map(({ text }) => text).join(', ')}`] }
}

/** What a call cost, in nanocredits, as a program with the key is told. */
async function costOf(address: string, id: string): Promise<bigint> {
  const answer = await fetch(`${address}/v1/generation?id=${id}`, {
    headers: { authorization: `Bearer ${inferenceKey}` },
  })
  const { data } = (await answer.json()) as { data: { headrace: { cost_nanocredits: string } } }
  return BigInt(data.headrace.cost_nanocredits)
}

function toNanocredits(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
}

/** Asks a short question, copies its code in each language, and runs what the clipboard has. */
async function runCode(visit: Visit): Promise<string[]> {
  const { page } = visit
  await page.getByLabel('Message', { exact: true }).fill("It's “short”")
  await page.keyboard.press('Enter')
  const answer = page.locator('section.turn').last().locator('article.step').first()
  await answer.getByRole('link', { name: 'Open in Requests' }).waitFor()
  await visit.press(answer.getByLabel('Show the code'))
  const faults: string[] = []
  for (const [language, command] of [
    ['curl', ['bash', '-c']],
    ['TypeScript', [process.execPath, '--eval']],
    ['Python', ['python3', '-c']],
  ] as const) {
    await answer.getByRole('radio', { name: language }).check({ force: true })
    await visit.press(answer.getByRole('button', { name: `Copy the ${language} code` }))
    const run = Bun.spawn([...command, await copied(page)], {
      env: { ...process.env, HEADRACE_API_KEY: inferenceKey },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const output = await new Response(run.stdout).text()
    const errors = await new Response(run.stderr).text()
    if ((await run.exited) !== 0 || !output.includes('[DONE]'))
      faults.push(`${language}: ${(errors || output).slice(-300)}`)
  }
  return faults
}

async function copied(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText())
}
