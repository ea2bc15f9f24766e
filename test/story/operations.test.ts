import { afterAll, expect, test } from 'bun:test'
import { readText } from '../tidy/sources.ts'
import { startTestGateway, toneWav, until } from '../support/gateway.ts'

const page = readText('docs/operations.md')
const lines: string[] = []
const gateway = await startTestGateway({
  credits: '10',
  logLevel: 'info',
  hooks: { writeLog: (line) => void lines.push(line) },
})
afterAll(() => gateway.stop())

/** The rows between two marks of the page: the text between backticks in each cell. */
function rowsOf(mark: string): string[][][] {
  const table = page.split(`<!-- ${mark} -->`)[1]?.split(`<!-- end: ${mark} -->`)[0] ?? ''
  return table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '')),
    )
}

/** One of each request that a metric counts: each operation, a stream, a caller who leaves, an error, a batch. */
async function useEverything(): Promise<void> {
  const model = 'openai/gpt-4o-mini'
  const messages = [{ role: 'user', content: 'Say one.' }]
  await gateway.post('/chat/completions', { model, messages })
  await gateway.post('/chat/completions', { model, messages, stream: true })
  await gateway.post('/chat/completions', { model: 'no/such', messages })
  await gateway.post('/embeddings', { model: 'openai/text-embedding-3-small', input: 'water' })
  await gateway.post('/audio/speech', { model: 'openai/tts-1', voice: 'alloy', input: 'Water.' })
  const form = new FormData()
  form.set('model', 'openai/whisper-1')
  form.set('file', new File([toneWav(1)], 'a.wav', { type: 'audio/wav' }))
  const upload = new Request('http://gateway.test/v1/audio/transcriptions', {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
  })
  await (await gateway.gateway.fetch(upload)).text()
  const left = await gateway.request('/chat/completions', {
    method: 'POST',
    body: { model, messages, stream: true },
  })
  const reader = left.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await gateway.post('/chat/completions', { model, messages }, { key: 'not-a-key-of-anybody' })
  const requests = [{ custom_id: 'one', body: { messages } }]
  const { json } = await gateway.post('/batches', { endpoint: '/v1/chat/completions', model, requests })
  await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    ({ json: batch }) => batch['status'] === 'completed',
  )
}

test('the page has every metric with its labels, and no other', async () => {
  await useEverything()
  const { text } = await gateway.get('//metrics')
  const listed = new Map(rowsOf('metrics').map(([name, labels]) => [name?.[0] ?? '', labels ?? []]))
  const shown = [...text.matchAll(/^# HELP (headrace_\S+) (.*)$/gm)].map(([, name = '', help = '']) => ({
    name,
    help,
  }))
  const missing = shown
    .filter(({ name }) => !listed.has(name))
    .map(
      ({ name, help }) =>
        `| \`${name}\` | ${labelsOf(text, name)
          .map((label) => `\`${label}\``)
          .join(', ')} | ${help} |`,
    )
  expect(missing, 'rows that the page needs').toEqual([])
  expect(
    [...listed.keys()].filter((name) => !shown.some((one) => one.name === name)),
    'rows of metrics that are gone',
  ).toEqual([])
  for (const [name, labels] of listed) {
    const sent = labelsOf(text, name)
    // A metric without a series yet shows none of its labels.
    if (text.match(new RegExp(`^${name}(_count)?[{ ]`, 'm'))) expect([name, labels]).toEqual([name, sent])
  }
})

function labelsOf(text: string, name: string): string[] {
  const series = new RegExp(`^${name}(?:_count)?\\{([^}]*)\\}`, 'm').exec(text)?.[1] ?? ''
  return [...series.matchAll(/(\w+)="/g)].map(([, label]) => label ?? '')
}

test('the page has every field of a line of the log', () => {
  const listed = new Set(rowsOf('log fields').flatMap(([names]) => names ?? []))
  const seen = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['msg'] === 'request')
    .flatMap((line) => Object.keys(line))
  expect(seen.length).toBeGreaterThan(50)
  expect([...new Set(seen)].filter((field) => !listed.has(field))).toEqual([])
})
