import { prepareGateway } from '../../story/real-gateway.ts'
import { nginxMissing, startNginx } from '../../support/nginx.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { observation, type Check } from '../observations.ts'

const frames = 6
const pauseMs = 500

export const proof = observation({
  title: 'the frames of a slow stream arrive one by one through an nginx with its defaults',
  missing: () => nginxMissing,
  async observe(): Promise<Check[]> {
    const upstream = startScriptedUpstream()
    upstream.answer(() => new Response(slowly(), { headers: { 'content-type': 'text/event-stream' } }))
    const provider = {
      preset: 'custom',
      id: 'acme',
      base_url: upstream.url,
      discover: false,
      models: [{ id: 'acme/chat' }],
    }
    const gateway = prepareGateway({ providers: [provider] })
    try {
      const key = 'proof-inference-key-0001'
      await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
      const nginx = await startNginx(new URL(gateway.baseUrl).origin)
      try {
        return await watch(`${nginx.url}/v1`, gateway.baseUrl, key)
      } finally {
        await nginx.stop()
      }
    } finally {
      await gateway.remove()
      await upstream.stop()
    }
  },
})

async function* slowly() {
  for (let index = 0; index < frames; index += 1) {
    const choice = { index: 0, delta: { content: `word${index} ` }, finish_reason: null as string | null }
    if (index === frames - 1) choice.finish_reason = 'stop'
    const frame = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'chat', choices: [choice] }
    yield Buffer.from(`data: ${JSON.stringify(frame)}\n\n`)
    await Bun.sleep(pauseMs)
  }
  yield Buffer.from('data: [DONE]\n\n')
}

async function watch(proxied: string, direct: string, key: string): Promise<Check[]> {
  const ask = (baseUrl: string) =>
    fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'acme/chat',
        stream: true,
        messages: [{ role: 'user', content: 'Count.' }],
      }),
    })
  const response = await ask(proxied)
  const timesMs: number[] = []
  for await (const _ of response.body ?? []) timesMs.push(performance.now())
  const spanMs = Math.round((timesMs.at(-1) ?? 0) - (timesMs[0] ?? 0))
  const plain = await ask(direct)
  await plain.text()
  const headers = ['x-accel-buffering', 'cache-control'].map((name) => plain.headers.get(name) ?? 'none')
  return [
    {
      name: 'the frames of a stream of three seconds do not arrive together',
      held: timesMs.length >= frames && spanMs > (frames * pauseMs) / 2,
      seen: `${timesMs.length} reads within ${spanMs} ms`,
    },
    {
      name: 'the stream says what it asks of proxies',
      held: headers[0] === 'no' && headers[1] === 'no-cache, no-transform',
      seen: headers.join('; '),
    },
  ]
}
