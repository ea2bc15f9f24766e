import { afterAll, expect, test } from 'bun:test'
import { runCommand } from '../../src/cli/run.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { recordingContext } from '../story/command-context.ts'
import { at, startTestGateway, until } from '../support/gateway.ts'

// The days on which providers shut models down.

const openai = (base_url: string, discover: boolean) => ({
  preset: 'openai',
  base_url,
  api_key: 'key',
  weight: 1,
  models: [],
  discover,
})

const gateway = await startTestGateway({ providers: (url) => [openai(`${url}/v1`, false)] })
afterAll(() => gateway.stop())

test('a model that its provider shuts down shows the day, live and in its row for batches', async () => {
  const { json } = await gateway.get('/models?output_modalities=all')
  const days = new Map(
    (at(json, 'data') as { id: string; expiration_date?: string }[]).map((model) => [
      model.id,
      model.expiration_date,
    ]),
  )
  // https://developers.openai.com/api/docs/deprecations, as of 2026-11.
  expect(days.get('openai/whisper-1')).toBe('2027-02-26')
  expect(days.get('openai/tts-1')).toBe('2027-01-06')
  expect(days.get('openai/gpt-4o-mini')).toBe('2027-01-14')
  expect(days.get('openai/gpt-4o-mini:batch')).toBe('2027-01-14')
  expect(days.has('openai/text-embedding-3-small')).toBe(true)
  expect(days.get('openai/text-embedding-3-small')).toBeUndefined()
})

test('the day in a provider’s listing wins over the shipped one', async () => {
  const listing = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      Response.json({
        object: 'list',
        data: [
          { id: 'whisper-1', object: 'model', created: 1, owned_by: 'openai', shutdown_date: '2027-03-31' },
          { id: 'gpt-9', object: 'model', created: 1, owned_by: 'openai', shutdown_date: null },
        ],
      }),
  })
  const listed = await startTestGateway({
    providers: () => [openai(`http://127.0.0.1:${listing.port}`, true)],
  })
  // The listing is read in the background.
  const { json: other } = await until(
    () => listed.get('/models/openai%2Fgpt-9'),
    ({ status }) => status === 200,
  )
  const { json: whisper } = await listed.get('/models/openai%2Fwhisper-1')
  await listed.stop()
  await listing.stop(true)
  expect(at(whisper, 'expiration_date') ?? at(whisper, 'data.expiration_date')).toBe('2027-03-31')
  expect(JSON.stringify(other)).toContain('openai/gpt-9')
  expect(JSON.stringify(other)).not.toContain('expiration_date')
})

test('the doctor warns of models that end within 60 days, in the order of their days', async () => {
  const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const [gone, soon, later] = [inDays(-3), inDays(50), inDays(70)]
  const data = [
    { id: 'acme/gone', expiration_date: gone },
    { id: 'acme/soon', expiration_date: soon },
    { id: 'acme/soon:batch', expiration_date: soon },
    { id: 'acme/too', expiration_date: soon },
    { id: 'acme/later', expiration_date: later },
    { id: 'acme/stays' },
  ]
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ data }) })
  const openStorage = () => Promise.reject(new GatewayError('storage_unavailable', 'not here'))
  const context = recordingContext({ port: server.port ?? 0, openStorage })
  await runCommand(['doctor'], context)
  await server.stop(true)
  expect(context.output()).toContain(`shut down by their provider on ${gone}: acme/gone\n`)
  expect(context.output()).toContain(`shut down by their provider on ${soon}: acme/soon, acme/too\n`)
  expect(context.output()).not.toContain(later)
})
