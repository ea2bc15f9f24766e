import { describe, expect, test } from 'bun:test'
import { createInspector } from '../../catalog/inspection.ts'
import { listing, serverOf } from '../../catalog/inspection.case.ts'
import { parseListing } from '../../catalog/listing.ts'
import { ollamaInspection } from './inspection.ts'

const shown = (...capabilities: string[]) => ({ status: 200, body: { capabilities } })

describe('a server of Ollama', () => {
  test('is asked about each model that its listing does not tell, and once', async () => {
    const inspector = createInspector(ollamaInspection)
    const { ask, asked } = serverOf({
      'POST /api/show tiny': shown('embedding'),
      'POST /api/show eyes': shown('completion', 'vision', 'tools'),
      'POST /api/show brush': shown('image'),
      'POST /api/show old': { status: 200, body: { details: {} } },
      'POST /api/show broken': { status: 500, body: undefined },
    })
    const models = listing('tiny', 'eyes', 'brush', 'old', 'broken', 'silent')
    const [tiny, eyes, brush, ...untold] = await inspector.complete(models, ask)
    expect(tiny).toMatchObject({ upstream: 'tiny', created: 1, modality: 'embedding' })
    expect(eyes).toMatchObject({ modality: 'language', inputs: ['image'] })
    expect(brush?.modality).toBeNull()
    expect(untold.map(({ modality }) => modality)).toEqual([undefined, undefined, undefined])
    expect(asked).toHaveLength(6)
    // Only models without an answer are asked again.
    await inspector.complete(models, ask)
    expect(asked.slice(6).toSorted()).toEqual([
      'POST /api/show broken',
      'POST /api/show old',
      'POST /api/show silent',
    ])
    // A new model under the same name is asked about again.
    const [replaced] = parseListing({ data: [{ id: 'tiny', created: 2 }] })
    if (replaced) await inspector.complete([replaced], ask)
    expect(asked.at(-1)).toBe('POST /api/show tiny')
  })
})
