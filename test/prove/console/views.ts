import { inferenceKey, type Visit } from './browser.ts'
import { journeyProof } from './rows.ts'

const paths = [
  '/overview',
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
  'every view, with calls and failures behind it: no fault, a picture each',
  async (visit) => {
    await makeCalls(visit)
    for (const path of paths) {
      await visit.open(path)
      await visit.page.locator('main h1').waitFor()
      await visit.page.waitForLoadState('networkidle').catch(() => undefined)
      await visit.look(`view${path.replaceAll('/', '-')}`)
    }
    await visit.open('/requests')
    const row = visit.page.locator('table a.row-link').first()
    await visit.press(row)
    await visit.page.getByRole('heading', { name: 'Course' }).waitFor()
    await visit.look('view-request')
    return { faults: [], figures: [`${paths.length + 1} views`] }
  },
)

/** Answers, a refusal, and a batch whose second item fails. */
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
