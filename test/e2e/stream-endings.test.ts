import { afterAll, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Where the answer of a provider is whole, and its connection does not end as it should.

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: () => [
    customProvider(upstream.url, [
      {
        id: 'acme/chat',
        modality: 'language',
        prices: { input_per_million: '1', output_per_million: '2' },
      },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const frame = (delta: object, finish: string | null = null, extra: object = {}) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'chat',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...extra,
  })}\n\n`
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const said = [frame({ role: 'assistant', content: 'one ' }), frame({ content: 'two ' })]
const done = 'data: [DONE]\n\n'
const usageFrame = `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [], usage })}\n\n`

const rests: Readonly<Record<string, number>> = { rest: 100, pause: 1_500 }

/** Frames with pauses between them, `rest` and `pause` longer ones; then the body ends, breaks, or stays open. */
function slowly(frames: readonly string[], ending: 'end' | 'break' | 'stay'): Response {
  async function* body() {
    for (const text of frames) {
      const restMs = rests[text]
      if (restMs === undefined) yield Buffer.from(text)
      await Bun.sleep(restMs ?? 40)
    }
    if (ending === 'break') throw new Error('broken off')
    if (ending === 'stay') await Bun.sleep(8_000)
  }
  return new Response(body(), { headers: { 'content-type': 'text/event-stream' } })
}

async function ask(more: object = {}) {
  const response = await gateway.request('/chat/completions', {
    method: 'POST',
    body: { model: 'acme/chat', stream: true, messages: [{ role: 'user', content: 'hi' }], ...more },
  })
  const startedMs = performance.now()
  const text = await response.text()
  return { response, text, tookMs: performance.now() - startedMs }
}

async function expectWhole({ response, text }: { response: Response; text: string }) {
  expect(text).toContain('"finish_reason":"stop"')
  expect(text).not.toContain('"error"')
  expect(text).toEndWith(done)
  const id = response.headers.get('x-generation-id') ?? ''
  const { json } = await until(
    () => gateway.get(`/generation?id=${id}`),
    ({ status }) => status === 200,
  )
  expect(at(json, 'data.total_cost')).toBe(0.000011)
}

test('an answer that its provider ended as an error costs nothing, whatever was said before', async () => {
  for (const reason of ['error', 'insufficient_system_resource']) {
    upstream.answer(() => slowly([...said, frame({}, reason, { usage }), done], 'end'))
    const { response, text } = await ask()
    expect(text).toContain('"finish_reason":"error"')
    expect(text).toContain('"cost":0,')
    const id = response.headers.get('x-generation-id') ?? ''
    const { json } = await until(
      () => gateway.get(`/generation?id=${id}`),
      ({ status }) => status === 200,
    )
    expect(at(json, 'data.total_cost')).toBe(0)
    expect(at(json, 'data.tokens_completion')).toBe(3)
  }
})

test('a stream is over at its terminator, though the provider keeps the connection open', async () => {
  upstream.answer(() => slowly([...said, frame({}, 'stop', { usage }), done], 'stay'))
  const answer = await ask()
  await expectWhole(answer)
  expect(answer.tookMs).toBeLessThan(4_000)
})

test('what breaks after the terminator, or after all was said, is a whole answer and paid for', async () => {
  upstream.answer(() => slowly([...said, frame({}, 'stop', { usage }), done], 'break'))
  await expectWhole(await ask())
  upstream.answer(() => slowly([...said, frame({}, 'stop', { usage })], 'break'))
  await expectWhole(await ask())
})

test('what breaks while another choice is being written is not whole', async () => {
  upstream.answer(() => slowly([...said, frame({}, 'stop', { usage })], 'break'))
  const { text } = await ask({ n: 2 })
  expect(text).toContain('"finish_reason":"error"')
})

test('a terminator before any finish reason ends nothing well', async () => {
  upstream.answer(() => slowly([...said, done], 'stay'))
  const { text, tookMs } = await ask()
  expect(text).toContain('"finish_reason":"error"')
  expect(tookMs).toBeLessThan(4_000)
})

test('a stream without a terminator is over once its finish and its usage are here', async () => {
  upstream.answer(() => slowly([...said, frame({}, 'stop'), usageFrame], 'stay'))
  const answer = await ask()
  await expectWhole(answer)
  expect(answer.tookMs).toBeLessThan(4_000)
})

test('usage that comes later than that is still waited for', async () => {
  upstream.answer(() => slowly([...said, frame({}, 'stop'), 'pause', usageFrame], 'stay'))
  await expectWhole(await ask())
})

test('words that go on after a finish reason are waited for anew', async () => {
  const words = ['three ', 'four ', 'five '].flatMap((content, index) => [
    index === 0 ? 'rest' : 'pause',
    frame({ content }, 'stop', { usage }),
  ])
  upstream.answer(() => slowly([...said, frame({}, 'stop', { usage }), ...words, done], 'end'))
  const answer = await ask()
  expect(answer.text).toContain('five')
  await expectWhole(answer)
})

test('an answer that comes in one piece needs no end of its connection either', async () => {
  const whole = [...said, frame({}, 'stop'), usageFrame].join('')
  for (const text of [whole + done, frame({ content: 'one two' }, 'stop', { usage }) + done, whole]) {
    upstream.answer(() => slowly([text], 'stay'))
    const startedMs = performance.now()
    await expectWhole(await ask())
    expect(performance.now() - startedMs).toBeLessThan(4_000)
  }
})

test('a provider that gives fewer choices than were asked for needs no terminator either', async () => {
  const [first, second] = [0, 1].map((index) =>
    frame({ content: 'yes' }, 'stop').replace('"index":0', `"index":${index}`),
  )
  for (const begun of [[first ?? ''], [first ?? '', second ?? '']]) {
    upstream.answer(() => slowly([...said, ...begun, usageFrame], 'stay'))
    const answer = await ask({ n: 3 })
    await expectWhole(answer)
    expect(answer.tookMs).toBeLessThan(4_000)
  }
})

test('usage that another choice follows is not the last', async () => {
  const second = frame({ content: 'three' }, 'length', { usage }).replace('"index":0', '"index":1')
  upstream.answer(() =>
    slowly([...said, frame({}, 'stop'), usageFrame, 'rest', second, 'pause', done], 'end'),
  )
  const { text } = await ask({ n: 3 })
  expect(text).toContain('three')
  expect(text).toContain('"finish_reason":"length"')
})

test('another choice may come after the first has finished', async () => {
  const second = frame({ content: 'three' }).replace('"index":0', '"index":1')
  const end = frame({}, 'length', { usage }).replace('"index":0', '"index":1')
  upstream.answer(async () =>
    slowly([...said, frame({}, 'stop', { usage }), 'pause', second, end, done], 'end'),
  )
  const { text } = await ask({ n: 2 })
  expect(text).toContain('three')
  expect(text).toContain('"finish_reason":"length"')
  expect(text).toEndWith(done)
})
