import type { Page } from 'playwright-core'
import { inferenceKey } from './browser.ts'
import { journeyProof } from './rows.ts'

const models = ['openai/gpt-4o-mini', 'openai/gpt-4o', 'openai/o4-mini']
/** Long enough that a column still streams when it is stopped. */
const prompt = `Repeat this: ${'water turns the wheel '.repeat(400)}`

interface Shown {
  text: string
  href: string
}

export const proof = journeyProof(
  'three models side by side, one of them stopped: costs equal /generation, and the copied code runs as it is',
  async (visit) => {
    const { page, origin } = visit
    const faults: string[] = []
    await visit.open(`/chat?models=${encodeURIComponent(models.join(','))}`)
    const message = page.getByLabel('Message', { exact: true })
    await message.fill(prompt)
    await page.keyboard.press('Enter')
    const answers = page.locator('article.step')
    // At once: the simulator is done before a person's hand would have come to the button.
    await answers.nth(2).getByRole('button', { name: 'Stop' }).dispatchEvent('click')
    await page
      .locator('article.step[aria-busy="true"]')
      .first()
      .waitFor({ state: 'detached', timeout: 60_000 })
    await answers.nth(2).locator('.step-foot span[title$="credits"]').waitFor({ timeout: 10_000 })
    await visit.look('compare')
    const shown: Shown[] = await answers.evaluateAll((elements) =>
      elements.map((element) => ({
        text: element.querySelector('.step-foot span[title$="credits"]')?.getAttribute('title') ?? '',
        href: element.querySelector('.step-actions a')?.getAttribute('href') ?? '',
      })),
    )
    for (const { text, href } of shown) {
      const id = href.slice(href.lastIndexOf('/') + 1)
      const answer = await page.evaluate(
        async (url) => (await fetch(url, { headers: { 'x-headrace-console': '1' } })).json(),
        `${origin}/v1/generation?id=${id}`,
      )
      const nanocredits = BigInt(
        (answer as { data: { headrace: { cost_nanocredits: string } } }).data.headrace.cost_nanocredits,
      )
      const exact = toNanocredits(text.replace(' credits', ''))
      if (exact !== nanocredits) faults.push(`${id}: shown ${text}, the ledger has ${nanocredits}`)
    }
    faults.push(...(await runCode(visit)))
    return { faults, figures: [`costs ${shown.map(({ text }) => text).join(', ')}`] }
  },
)

function toNanocredits(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
}

/** Asks a short question and runs its code in each language as it stands on the page. */
async function runCode({ page }: { page: Page }): Promise<string[]> {
  await page.getByLabel('Message', { exact: true }).fill("It's “short”")
  await page.keyboard.press('Enter')
  const answer = page.locator('section.turn').last().locator('article.step').first()
  await answer.getByRole('link', { name: 'Open in Requests' }).waitFor()
  await answer.getByLabel('Show the code').click()
  const faults: string[] = []
  for (const [language, command] of [
    ['curl', ['bash', '-c']],
    ['TypeScript', [process.execPath, '--eval']],
    ['Python', ['python3', '-c']],
  ] as const) {
    await answer.getByRole('radio', { name: language }).check({ force: true })
    const code = (await answer.locator('pre code').textContent()) ?? ''
    const run = Bun.spawn([...command, code], {
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
