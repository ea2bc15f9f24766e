import { afterAll, expect, test } from 'bun:test'
import { customProvider, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A provider that repeats what it was sent, in an answer that says 200: nothing of it may reach a caller or the log.

const secrets = { key: 'correct horse battery', header: 'swordfish', query: 'QRYSECRET-1357' }
const upstream = startScriptedUpstream()
const lines: string[] = []
const gateway = await startTestGateway({
  providers: () => [
    {
      ...customProvider(upstream.url, [{ id: 'acme/chat' }, { id: 'acme/vector', modality: 'embedding' }]),
      api_key: secrets.key,
      headers: { 'x-tenant': secrets.header },
      query: { sig: secrets.query },
    },
  ],
  logLevel: 'info',
  hooks: { writeLog: (line) => void lines.push(line) },
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const told = `no: key=${secrets.key}; header=${secrets.header}; query=${secrets.query}`
const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const begun = {
  id: 'x',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
}

function answerWith(code: number | string, isLate: boolean): void {
  upstream.answer(({ body }) => {
    const error = { error: { code, type: 'invalid_request_error', message: told } }
    if (!body.includes('"stream":true')) return Response.json(error)
    const text = `${isLate ? frame(begun) : ''}${frame(error)}`
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  })
}

const chat = { model: 'acme/chat', messages: [{ role: 'user', content: 'x' }] }

test('an error inside an answer shows no secret of its deployment, to nobody', async () => {
  const asked: [string, Record<string, unknown>][] = [
    ['/chat/completions', chat],
    ['/chat/completions', { ...chat, stream: true }],
    ['/responses', { model: 'acme/chat', input: 'x' }],
    ['/messages', { ...chat, max_tokens: 5, stream: true }],
    ['/embeddings', { model: 'acme/vector', input: 'x' }],
  ]
  let shown = ''
  for (const code of [400, 500, 'context_length_exceeded']) {
    for (const isLate of [false, true]) {
      answerWith(code, isLate)
      for (const [path, body] of asked) {
        const { text } = await gateway.post(path, body)
        expect(text).not.toBe('')
        shown += text
      }
    }
  }
  expect(shown).toContain('[secret]')
  for (const secret of Object.values(secrets)) expect(shown + lines.join('\n')).not.toContain(secret)
})

test('a line of the log has the id of the key whole', () => {
  const failed = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed')
  expect(failed.length).toBeGreaterThan(0)
  for (const { key_id: id } of failed) expect(id).toMatch(/^key_[a-z0-9]{16,}$/)
})
