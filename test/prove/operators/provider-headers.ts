import { prepareGateway, writeConfig } from '../../story/real-gateway.ts'
import { startScriptedUpstream, type UpstreamSeen } from '../../support/scripted-upstream.ts'
import { observation, type Check } from '../observations.ts'

const key = 'inference-key-of-the-proof'
const secrets = { HEADER_SECRET: 'hush-header-1234', QUERY_SECRET: 'hush-query-1234' }

const configOf = (url: string) => ({
  providers: [
    {
      id: 'acme',
      preset: 'custom',
      base_url: `${url}/v1`,
      discover: false,
      headers: { 'X-Gate': '${env:HEADER_SECRET}' },
      query: { sig: '${env:QUERY_SECRET}' },
      models: [
        { id: 'acme/chat' },
        { id: 'acme/mouth', modality: 'speech', audio: { speed: { min: 0.5, max: 2 } } },
      ],
    },
  ],
})

export const proof = observation({
  title: 'a provider takes headers and query of its own, never shown, and audio capabilities from the file',
  async observe(): Promise<Check[]> {
    const upstream = await startScriptedUpstream()
    const gateway = prepareGateway(null)
    writeConfig(gateway.folder, configOf(upstream.url))
    // A provider that repeats what it was sent.
    upstream.answer(({ headers, path, body }) =>
      path.endsWith('/speech')
        ? new Response(new Uint8Array(4_800), { headers: { 'content-type': 'audio/pcm' } })
        : Response.json(
            { error: { message: `bad ${headers.get('x-gate')} ${secrets.QUERY_SECRET} ${body.length}` } },
            { status: 400 },
          ),
    )
    try {
      const ready = await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key, ...secrets }).catch(() => null)
      if (ready === null) return refused
      const post = async (path: string, body: unknown) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        const response = await fetch(`${gateway.baseUrl}${path}`, init)
        return { status: response.status, text: await response.text() }
      }
      const messages = [{ role: 'user', content: 'hi' }]
      const chat = await post('/chat/completions', { model: 'acme/chat', messages })
      const sent = upstream.seen.at(-1)
      const speech = await post('/audio/speech', { model: 'acme/mouth', input: 'hi', voice: 'a', speed: 1.5 })
      const printed = await gateway.run(['--print-config'], secrets)
      const doctor = await gateway.run(['doctor'], secrets)
      const shown = [chat.text, printed.output, printed.errors, doctor.output, doctor.errors].join()
      return [
        { name: names.sent, held: hasHeader(sent), seen: `x-gate: ${hasHeader(sent) ? 'as set' : 'none'}` },
        {
          name: names.shown,
          held: !shown.includes('hush') && printed.output.includes('"X-Gate": "[secret]"'),
          seen: `${chat.status} ${chat.text.slice(0, 120)}`,
        },
        { name: names.speed, held: speech.status === 200, seen: `${speech.status}` },
      ]
    } finally {
      await gateway.remove()
      await upstream.stop()
    }
  },
})

const names = {
  sent: 'a header of the file is sent',
  shown: 'no answer, command or report shows a value of it',
  speed: 'speech of a custom server with a speed that its model is said to take',
}

const refused = Object.values(names).map((name) => ({ name, held: false, seen: 'the file is refused' }))

function hasHeader(sent: UpstreamSeen | undefined): boolean {
  return sent?.headers.get('x-gate') === secrets.HEADER_SECRET
}
