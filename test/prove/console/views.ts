import { inferenceKey, managementKey, type Visit } from './browser.ts'
import { journeyProof } from './rows.ts'

const paths = [
  '/overview',
  '/overview?by=key',
  '/overview?by=user',
  '/requests',
  '/batches',
  '/batches/new',
  '/models',
  '/model/openai/gpt-4o-mini',
  '/start',
  '/chat',
  '/speech',
  '/transcription',
  '/keys',
  '/keys/new',
  '/organization',
  '/members',
  '/money',
  '/system',
  '/you',
  '/nowhere',
]

export const proof = journeyProof(
  'every view, with calls, failures and long names behind it: no fault, no table wider than the page, a picture each',
  async (visit) => {
    await makeCalls(visit)
    const wide: string[] = []
    for (const path of paths) {
      await visit.open(path)
      await visit.page.locator('main h1').waitFor()
      await visit.page.waitForLoadState('networkidle').catch(() => undefined)
      await visit.look(`view${path.replaceAll(/[/?=]/g, '-')}`)
      wide.push(...(await wideTables(visit)).map((table) => `wider than its page at ${path}: ${table}`))
    }
    await visit.open('/requests')
    const row = visit.page.locator('table a.row-link').first()
    await visit.press(row)
    await visit.page.getByRole('heading', { name: 'Course' }).waitFor()
    await visit.look('view-request')
    const faults = [...wide, ...(await followFilters(visit))]
    return { faults, figures: [`${paths.length + 1} views`] }
  },
)

/** Filters requests by the name of a key and by an outcome, opens one, and goes back by the arrow. */
async function followFilters(visit: Visit): Promise<string[]> {
  const { page } = visit
  await visit.open('/requests?outcome=refused&error_type=model_not_found')
  const row = page.locator('table a.row-link').first()
  await row.waitFor()
  const keyName = (await page.locator('td.wide-only:nth-child(5)').first().textContent()) ?? ''
  await page.getByLabel('Another filter').selectOption('key')
  await page.getByLabel('Value of key').fill(keyName)
  await page.getByLabel('Value of key').press('Enter')
  await page.waitForURL(/key=key_/)
  await page.getByRole('button', { name: `key: ${keyName}` }).waitFor()
  const { href } = new URL(page.url())
  await visit.press(row)
  await page.getByText('Look at the name under Models').waitFor()
  await visit.look('view-request-refused')
  await visit.press(page.getByRole('link', { name: 'All requests' }))
  await row.waitFor()
  return page.url() === href ? [] : [`the arrow led from ${href} to ${page.url()}`]
}

/** Tables that scroll sideways, or a page that does. */
async function wideTables({ page }: Visit): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.table-wrap')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map(
        (element) =>
          `${element.querySelector('caption')?.textContent ?? element.tagName} ${element.scrollWidth} of ${element.clientWidth}`,
      ),
  )
}

/** Answers, a refusal, a batch whose second item fails, and a key and a user with names as long as they may be. */
async function makeCalls({ origin }: Visit): Promise<void> {
  const headers = { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' }
  const send = (path: string, body: unknown) =>
    fetch(`${origin}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  for (const model of ['openai/gpt-4o-mini', 'openai/gpt-4o', 'openai/o4-mini'])
    await send('/chat/completions', {
      model,
      user: 'ann',
      messages: [{ role: 'user', content: 'Say hello' }],
    })
  await fetch(`${origin}/v1/keys`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${managementKey}` },
    body: JSON.stringify({
      name: 'The key of the night shift in the large warehouse, '.repeat(5),
      limit: 1234.56,
    }),
  })
  await send('/chat/completions', {
    model: 'openai/gpt-4o',
    user: 'somebody-with-a-rather-long-name'.repeat(6),
    messages: [{ role: 'user', content: 'Say hello' }],
  })
  await send('/chat/completions', { model: 'nobody/none', messages: [{ role: 'user', content: 'x' }] })
  await send('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    requests: [
      { custom_id: 'good', body: { messages: [{ role: 'user', content: 'Say hello' }] } },
      { custom_id: 'bad', body: { messages: [{ role: 'user', content: 'Say hello' }], max_tokens: -1 } },
    ],
  })
}
