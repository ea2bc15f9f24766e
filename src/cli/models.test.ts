import { expect, test } from 'bun:test'
import { recordingContext } from '../../test/story/command-context.ts'
import { runModels } from './models.ts'

const architecture = { input_modalities: ['audio'], output_modalities: ['transcription'] }
const data = [
  { id: 'a/by-time', architecture, pricing: { prompt: '0', completion: '0', audio: '0.0001' } },
  {
    id: 'a/by-token',
    architecture,
    pricing: { prompt: '0.0000025', completion: '0.00001', audio: '0.000006' },
  },
]

test('audio is shown with a price by the minute only where it is billed by time', async () => {
  const server = Bun.serve({ port: 0, fetch: () => Response.json({ data }) })
  try {
    const context = recordingContext({ port: server.port ?? 0 })
    expect(await runModels([], context)).toBe(0)
    const cells = context
      .output()
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(cells.slice(1).map((row) => [row[0], row[5]])).toEqual([
      ['a/by-time', '0.006'],
      ['a/by-token', '-'],
    ])
  } finally {
    await server.stop(true)
  }
})

test('only the requested models are shown, to people and to programs', async () => {
  const server = Bun.serve({ port: 0, fetch: () => Response.json({ data, total_count: 2 }) })
  const context = recordingContext({ port: server.port ?? 0 })
  expect(await runModels(['token', '--json'], context)).toBe(0)
  const shown = JSON.parse(context.output()) as { data: { id: string }[]; total_count: number }
  expect(shown.total_count).toBe(1)
  expect(shown.data.map(({ id }) => id)).toEqual(['a/by-token'])
  await server.stop(true)
})

test('the price of search units is shown by the thousand, without a zero for tokens', async () => {
  const reranker = {
    id: 'a/reranker',
    architecture: { input_modalities: ['text'], output_modalities: ['rerank'] },
    pricing: { prompt: '0', completion: '0' },
    headrace: { pricing_rules: { per_search_unit: '0.002' } },
  }
  const server = Bun.serve({ port: 0, fetch: () => Response.json({ data: [reranker, ...data] }) })
  const context = recordingContext({ port: server.port ?? 0 })
  expect(await runModels([], context)).toBe(0)
  const rows = context
    .output()
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  expect(rows[0]?.slice(3)).toEqual(['in $/M', 'out $/M', 'audio $/min', 'search $/k'])
  expect(rows[1]?.slice(3)).toEqual(['-', '-', '-', '2'])
  expect(rows[2]?.at(-1)).toBe('-')
  await server.stop(true)
})
