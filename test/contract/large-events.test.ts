import { afterAll, expect, test } from 'bun:test'
import { startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// One event of a provider is copied some seven times on its way, and a responses caller gets a text five times.

const upstream = startScriptedUpstream()
const model = 'acme/writer'
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'custom',
      id: 'acme',
      base_url: `${upstream.url}/v1`,
      weight: 1,
      discover: false,
      models: [{ id: model, prices: { input_per_million: '1', output_per_million: '1' } }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'writer',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

/** The first frame comes in a read of its own, so that the caller has been shown something. */
function tell(delta: object): void {
  const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 }
  const chunks = [chunk({ role: 'assistant', content: 'So ' }), chunk(delta), { ...chunk({}, 'stop'), usage }]
  const [first = '', ...others] = chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`)
  upstream.answer(() => {
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(first))
        await Bun.sleep(30)
        controller.enqueue(new TextEncoder().encode(`${others.join('')}data: [DONE]\n\n`))
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
}

const asked = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Hi.' }] },
  '/responses': { input: 'Hi.' },
  '/messages': { messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 9 },
}

async function streamTo(path: keyof typeof asked): Promise<string> {
  const body = JSON.stringify({ model, stream: true, ...asked[path] })
  return (await gateway.request(path, { method: 'POST', body })).text()
}

const megabytes = (count: number, letters: string): string =>
  letters.repeat((count * 1_000_000) / letters.length)

for (const path of ['/chat/completions', '/responses', '/messages'] as const) {
  test(`an event of 30 MB of text breaks a stream of ${path}, and none of it is sent`, async () => {
    tell({ content: megabytes(30, 'word ') })
    const told = await streamTo(path)
    expect(told.length).toBeLessThan(20_000)
    expect(told).toContain('sent what could not be read')
  }, 60_000)
}

test('a text of 5 MB in one event is not sent five times to a responses caller', async () => {
  tell({ content: megabytes(5, 'word ') })
  const told = await streamTo('/responses')
  expect([told.length < 20_000, told.includes('sent what could not be read')]).toEqual([true, true])
}, 60_000)

test('a picture of 20 MB in one event is sent twice to a responses caller, and its announcement has no bytes', async () => {
  const url = `data:image/png;base64,${megabytes(20, 'iVBO')}`
  tell({ images: [{ type: 'image_url', image_url: { url } }] })
  const told = await streamTo('/responses')
  expect(told.split('iVBOiVBO'.repeat(1_000)).length).toBeGreaterThan(1)
  expect(told).toContain('response.completed')
  expect(told.length).toBeLessThan(41_000_000)
}, 60_000)

test('a frame of a great many parts breaks a stream that is told in another format', async () => {
  const calls = Array.from({ length: 5_000 }, (_, index) => ({
    index,
    id: `c${index}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }))
  tell({ tool_calls: calls })
  const told = await streamTo('/messages')
  expect([told.length < 20_000, told.includes('sent what could not be read')]).toEqual([true, true])
})
