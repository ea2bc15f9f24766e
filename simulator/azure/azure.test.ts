import { describe, expect, test } from 'bun:test'
import { wave } from '../audio/testing.ts'
import { at, eventsOf, readAnswer, respondTo, say, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const messages = [{ role: 'user', content: 'hello' }]
const dated = '?api-version=2024-10-21'

async function ask(path: string, body: unknown, headers: Record<string, string> = { 'api-key': 'key' }) {
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  return readAnswer(await fetch(`${simulator.url('azure')}${path}`, init))
}

describe('Azure', () => {
  test('has every operation of OpenAI below openai/v1, without a version', async () => {
    const chat = await ask('/openai/v1/chat/completions', say('hello'))
    expect([chat.status, at(chat.json, 'object')]).toEqual([200, 'chat.completion'])
    const response = await ask('/openai/v1/responses', respondTo('hello'))
    expect([response.status, at(response.json, 'object')]).toEqual([200, 'response'])
    const vectors = await ask('/openai/v1/embeddings', { model: 'text-embedding-3-small', input: 'hello' })
    expect([vectors.status, at(vectors.json, 'object')]).toEqual([200, 'list'])
    expect((await ask('/openai/v1/chat/completions', { messages })).json).toMatchObject({
      error: { code: 'missing_required_parameter', param: 'model' },
    })
    expect(chat.headers.get('apim-request-id')).toMatch(/^\w{32}$/)
    expect(chat.headers.get('openai-version')).toBeNull()
  })

  test('takes the deployment in an older address as the model, whatever the body says', async () => {
    const path = `/openai/deployments/gpt-4o-mini/chat/completions${dated}`
    const chat = await ask(path, { messages })
    expect([chat.status, at(chat.json, 'model')]).toEqual([200, 'gpt-4o-mini-2024-07-18'])
    expect(at((await ask(path, { messages, model: 'gpt-4o' })).json, 'model')).toBe('gpt-4o-mini-2024-07-18')
    const stream = await ask(path, { messages, stream: true })
    expect(eventsOf(stream.text).at(-1)).toBe('[DONE]')
    const vectors = await ask(`/openai/deployments/text-embedding-3-small/embeddings${dated}`, { input: 'a' })
    expect([vectors.status, at(vectors.json, 'data.0.object')]).toEqual([200, 'embedding'])
    const counters = await simulator.admin('counters?mount=azure')
    const last = (counters['last_requests'] as { path: string; model: string }[]).at(-1)
    expect(last).toMatchObject({
      path: '/openai/deployments/text-embedding-3-small/embeddings',
      model: 'text-embedding-3-small',
    })
  })

  test('hears and speaks at both addresses', async () => {
    const form = (model?: string) => {
      const parts = new FormData()
      if (model !== undefined) parts.append('model', model)
      parts.append('file', new File([wave(2)], 'a.wav'))
      return parts
    }
    const post = async (path: string, body: FormData) => {
      const headers = { 'api-key': 'key', 'x-simulator-fault': 'text=hello' }
      const url = `${simulator.url('azure')}${path}`
      return readAnswer(await fetch(url, { method: 'POST', headers, body }))
    }
    const older = `/openai/deployments/whisper-1/audio/transcriptions${dated}`
    for (const heard of [
      await post('/openai/v1/audio/transcriptions', form('whisper-1')),
      await post(older, form()),
      await post(older, form('another')),
    ])
      expect(heard.json).toEqual({ text: 'hello', usage: { type: 'duration', seconds: 2 } })
    const speech = { input: 'hi', voice: 'alloy', response_format: 'pcm' }
    const spoken = await ask(`/openai/deployments/tts-1/audio/speech${dated}`, speech)
    expect([spoken.status, spoken.headers.get('content-type')]).toEqual([200, 'audio/pcm'])
  })

  test('takes the model from the body at addresses below models', async () => {
    const chat = await ask('/models/chat/completions?api-version=2024-05-01-preview', say('hello'))
    expect([chat.status, at(chat.json, 'object')]).toEqual([200, 'chat.completion'])
  })

  test.each([
    '/openai/deployments/gpt-4o-mini/chat/completions',
    '/openai/deployments/gpt-4o-mini/chat/completions?api-version=newest',
    `/openai/deployments/gpt-5.4/responses${dated}`,
    '/models/chat/completions',
    `/openai/chat/completions${dated}`,
    '/openai/v1/messages',
  ])('has nothing at %s', async (path) => {
    const { status, json } = await ask(path, say('hello'))
    expect([status, json]).toEqual([404, { error: { code: '404', message: 'Resource not found' } }])
  })

  test.each([
    '/openai/v1/chat/completions',
    `/openai/deployments/gpt-4o-mini/chat/completions${dated}`,
    `/models/chat/completions${dated}`,
  ])('takes a key in its own header or as a bearer at %s', async (path) => {
    const statusWith = async (headers: Record<string, string>) => {
      const { status, json } = await ask(path, say('hello'), headers)
      return [status, at(json, 'error.code')]
    }
    expect(await statusWith({ 'api-key': 'key' })).toEqual([200, undefined])
    expect(await statusWith({ authorization: 'Bearer token' })).toEqual([200, undefined])
    expect(await statusWith({})).toEqual([401, '401'])
    expect(await statusWith({ 'x-api-key': 'key' })).toEqual([401, '401'])
    expect(await statusWith({ 'api-key': 'bad-key-1' })).toEqual([401, '401'])
    expect(await statusWith({ authorization: 'Bearer bad-key-1' })).toEqual([401, '401'])
  })

  test('refuses a call beyond a limit in Azure’s own form', async () => {
    const headers = { 'api-key': 'key', 'x-simulator-fault': 'status=429;retry_after=31' }
    const limited = await ask('/openai/v1/chat/completions', say('hello'), headers)
    expect([limited.status, at(limited.json, 'error.code')]).toEqual([429, 'RateLimitReached'])
    expect(limited.headers.get('retry-after')).toBe('31')
    expect(limited.headers.get('x-ratelimit-reset-requests')).toBe('31')
  })
})
