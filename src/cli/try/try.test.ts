import { expect, test } from 'bun:test'
import { keyStorage, recordingContext } from '../../../test/story/command-context.ts'
import { runCommand } from '../run.ts'
import { chooseModels, type ListedByGateway } from './try-models.ts'
import { secondsOf, toWav } from './wav.ts'

function listed(id: string, output: string, promptPrice = '0.001'): ListedByGateway {
  return {
    id,
    inputs: ['text'],
    outputs: [output],
    contextLength: 0,
    promptPrice,
    completionPrice: '0',
    audioPrice: '',
    searchPrice: '',
    voices: [],
  }
}

test('quick and cheap models are chosen, batch variants and unknown prices never first', () => {
  const chosen = chooseModels([
    listed('a/huge', 'text'),
    listed('a/gpt-4o-mini:batch', 'text'),
    listed('a/gpt-4o-mini', 'text', '-1'),
    listed('a/tiny-mini', 'text'),
    listed('b/embed-large', 'embeddings'),
  ])
  expect(chosen.chat?.id).toBe('a/tiny-mini')
  expect(chosen.embeddings?.id).toBe('b/embed-large')
  expect(chosen.speech).toBeNull()
  expect(chooseModels([listed('x/only', 'text', '-1')]).chat?.id).toBe('x/only')
  expect(chooseModels([]).chat).toBeNull()
})

test('samples become a WAV file whose header states their length', () => {
  const samples = new Uint8Array(48_000)
  const file = toWav(samples)
  const view = new DataView(file.buffer)
  expect(new TextDecoder().decode(file.subarray(0, 4))).toBe('RIFF')
  expect(view.getUint32(4, true)).toBe(file.length - 8)
  expect(view.getUint32(24, true)).toBe(24_000)
  expect(view.getUint32(40, true)).toBe(48_000)
  expect(secondsOf(samples)).toBe(1)
})

test('a gateway on other data is recognised, and the keys made for it are disabled again', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      request.url.includes('/models')
        ? Response.json({ data: [] })
        : Response.json({ error: { code: 401, message: 'No.' } }, { status: 401 }),
  })
  const { storage, keys, isClosed } = keyStorage()
  const context = recordingContext({ port: server.port ?? 0, openStorage: () => Promise.resolve(storage) })
  expect(await runCommand(['try'], context)).toBe(1)
  expect(context.errors()).toContain('works on another data folder')
  expect(context.errors()).toContain('HEADRACE_DATA')
  expect(keys.map((key) => key.disabled)).toEqual([true, true])
  expect(isClosed()).toBe(true)
  await server.stop(true)
})

test('with a gateway that serves no model no step fails, and the changed setting is restored', async () => {
  const changes: unknown[] = []
  let isOn = true
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.url.includes('/models')) return Response.json({ data: [] })
      if (request.method === 'PATCH') {
        const body = (await request.json()) as { is_filtered_model_catalog_enabled: boolean }
        changes.push(body)
        isOn = body.is_filtered_model_catalog_enabled
      }
      return Response.json({ data: { is_filtered_model_catalog_enabled: isOn } })
    },
  })
  const env = { HEADRACE_API_KEY: 'a', HEADRACE_MANAGEMENT_KEY: 'b' }
  const context = recordingContext({ port: server.port ?? 0, env })
  expect(await runCommand(['try'], context)).toBe(0)
  expect(context.output()).toContain('on → off → on (as it was)')
  expect(context.output()).toContain('Everything worked (7 left out).')
  expect(changes).toHaveLength(2)
  await server.stop(true)
})

test('the setting is put back when reading it fails in between', async () => {
  let isOn = false
  let reads = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.url.includes('/models')) return Response.json({ data: [] })
      if (request.method === 'PATCH')
        isOn =
          ((await request.json()) as Record<string, boolean>)['is_filtered_model_catalog_enabled'] === true
      else if (++reads === 2) return new Response('', { status: 500 })
      return Response.json({ data: { is_filtered_model_catalog_enabled: isOn } })
    },
  })
  const env = { HEADRACE_API_KEY: 'a', HEADRACE_MANAGEMENT_KEY: 'b' }
  const context = recordingContext({ port: server.port ?? 0, env })
  expect(await runCommand(['try'], context)).toBe(1)
  expect(isOn).toBe(false)
  await server.stop(true)
})
