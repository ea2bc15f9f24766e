import { afterAll, expect, test } from 'bun:test'
import { startTestGateway } from '../support/gateway.ts'
import { mp3OnlyDeployments, mp3Providers } from '../support/speech-providers.ts'

// Providers of speech, with the assumption that they give only mp3.

const gateway = await startTestGateway({ providers: mp3OnlyDeployments })
afterAll(() => gateway.stop())

const input = 'x'.repeat(100)
const speak = (body: Record<string, unknown>) =>
  gateway.request('/audio/speech', { method: 'POST', key: gateway.key, body: { input, ...body } })
const fault = (mount: string, spec: string) => gateway.admin('faults', { mount, rules: [{ fault: spec }] })

test.each(mp3Providers)('$preset still gives samples', async ({ preset, model, voice }) => {
  await fault(preset, 'tone')
  const asked = { model, ...(voice === undefined ? {} : { voice }) }
  const samples = await speak(asked)
  expect([samples.status, samples.headers.get('content-type')]).toEqual([
    200,
    'audio/pcm;rate=24000;channels=1',
  ])
  // A tone of 60 ms for each character, and what the encoder adds at both ends: these streams do not tell of it.
  expect((await samples.bytes()).length / 48_000).toBeWithin(5.99, 6.2)
  const mp3 = await speak({ ...asked, response_format: 'mp3' })
  expect([mp3.status, mp3.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
  expect((await mp3.bytes()).length).toBeGreaterThan(20_000)
})

test('speech that breaks off has no proper end', async () => {
  await fault('cartesia', 'tone,cut_after=3')
  const response = await speak({ model: 'cartesia/sonic-3', voice: 'a0e99841' })
  const ended = await response.bytes().then(
    () => 'whole',
    () => 'broken off',
  )
  expect([response.status === 200 ? ended : 'refused']).not.toEqual(['whole'])
})
