import { afterAll, expect, test } from 'bun:test'
import { request } from 'node:http'
import { startTestGateway } from '../support/gateway.ts'

// A provider that breaks off in the moment in which it begins to speak.

const sound = Buffer.alloc(3_000, 1)
const provider = Bun.serve({
  port: 0,
  fetch: () => new Response(`{"result":{"audioContent":"${sound.toString('base64')}`),
})
const gateway = await startTestGateway({
  hooks: { writeLog: () => undefined },
  providers: () => [
    {
      preset: 'inworld',
      id: 'inworld',
      base_url: `http://127.0.0.1:${provider.port}`,
      api_key: 'a',
      weight: 1,
      discover: false,
      models: [],
    },
  ],
})
const address = gateway.listen()
afterAll(async () => {
  await gateway.stop()
  await provider.stop(true)
})

/** Bytes of the answer up to where it breaks off; a client of few opinions, which gives what came before an error. */
function bytesHeard(): Promise<number> {
  return new Promise((resolve) => {
    let heard = 0
    const call = request(`${address}/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    })
    call.on('response', (answer) => {
      answer.on('data', (bytes: Buffer) => (heard += bytes.length))
      answer.on('close', () => resolve(heard))
      answer.on('error', () => undefined)
    })
    call.on('error', () => resolve(heard))
    call.end(JSON.stringify({ model: 'inworld/inworld-tts-2', voice: 'Ashley', input: 'Hello' }))
  })
}

test('what is charged of broken speech has left', async () => {
  // All but the end that waits for the money.
  expect(await bytesHeard()).toBe(sound.length - 1_024)
})
