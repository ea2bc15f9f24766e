import type { Visit } from './browser.ts'
import { journeyProof } from './rows.ts'

export const proof = journeyProof(
  'a key, on plain HTTP in a LAN: Escape and a reload keep its secret, it copies, its limit gives 402 and the view says so; rotated it stays on its page',
  async (visit) => {
    const { page, address } = visit
    const faults: string[] = []
    await visit.open('/keys/new')
    await page.getByLabel('name', { exact: true }).fill('colleague')
    await page.getByLabel('limit', { exact: true }).fill('0')
    await visit.press(page.getByRole('button', { name: 'Create the key' }))
    const output = page.locator('output.secret-text')
    await output.waitFor()
    const secret = (await output.textContent()) ?? ''
    await visit.look('key-secret')
    await page.keyboard.press('Escape')
    if ((await output.textContent()) !== secret) faults.push('Escape lost the secret')
    page.once('dialog', (dialog) => void dialog.accept())
    await page.reload()
    await output.waitFor()
    if ((await output.textContent()) !== secret) faults.push('a reload lost the secret')
    await visit.press(page.getByRole('button', { name: 'Copy the secret' }))
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await page.evaluate(() => {
      const field = document.createElement('textarea')
      field.id = 'pasted'
      document.body.append(field)
      field.focus()
    })
    await page.keyboard.press('Control+v')
    const pasted = await page.locator('#pasted').inputValue()
    if (pasted !== secret) faults.push('what was copied is not the secret')
    await page.evaluate(() => document.querySelector('#pasted')?.remove())
    await visit.press(page.getByRole('button', { name: 'I saved it' }))
    await page.getByText('Limit reached').waitFor()
    const answer = await fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'x' }] }),
    })
    if (answer.status !== 402) faults.push(`the call was answered ${answer.status}`)
    await page.getByText('refused with 402').waitFor()
    await visit.look('key-limit')
    faults.push(...(await rotate(visit)))
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    if (kept.includes('sk-hr-')) faults.push('the secret is kept after "I saved it"')
    const isSecure = await page.evaluate(() => window.isSecureContext)
    if (isSecure) faults.push('the page was not on plain HTTP of a LAN')
    return { faults, figures: [`on plain HTTP; the call beyond the limit: ${answer.status}`] }
  },
  { lanName: 'gateway.lan' },
)

/** Gives the key another secret: its hash changes, and the page goes with it. A 404 on the way is a fault of every journey. */
async function rotate(visit: Visit): Promise<string[]> {
  const { page } = visit
  const before = new URL(page.url()).pathname
  await visit.press(page.getByRole('button', { name: 'Rotate', exact: true }))
  await page.getByLabel('The current secret goes on working').selectOption('0')
  await page.getByText('Earlier secrets of the key that still work end now too.').waitFor()
  await visit.look('key-rotate')
  await visit.press(page.getByRole('button', { name: 'Rotate the key' }))
  const output = page.locator('output.secret-text')
  await output.waitFor()
  await page.waitForURL((url) => url.pathname !== before)
  const secret = await output.textContent()
  await visit.look('key-rotated')
  page.once('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await output.waitFor()
  const faults = (await output.textContent()) === secret ? [] : ['a reload lost the rotated secret']
  await visit.press(page.getByRole('button', { name: 'I saved it' }))
  await page.getByText('Limit reached').waitFor()
  if (new URL(page.url()).pathname === before) faults.push('the page stayed at the former hash')
  return faults
}
