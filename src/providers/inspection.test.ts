import { describe, expect, test } from 'bun:test'
import { createInspector, type InspectionQuestion, type InspectionReply } from '../catalog/inspection.ts'
import { parseListing } from '../catalog/listing.ts'
import { llamaCppInspection } from './llamacpp/inspection.ts'
import { ollamaInspection } from './ollama/inspection.ts'

/** A server that answers by a table of `METHOD path model`, and refuses the connection for everything else. */
function serverOf(replies: Record<string, InspectionReply>) {
  const asked: string[] = []
  const ask = ({ method, path, body }: InspectionQuestion): Promise<InspectionReply> => {
    const question = `${method} ${path} ${String(body?.['model'] ?? '')}`.trim()
    asked.push(question)
    const reply = replies[question]
    return reply ? Promise.resolve(reply) : Promise.reject(new Error('refused'))
  }
  return { ask, asked }
}

const listing = (...ids: string[]) => parseListing({ data: ids.map((id) => ({ id, created: 1 })) })
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
    // Only what nobody told about is asked again.
    await inspector.complete(models, ask)
    expect(asked.slice(6).toSorted()).toEqual([
      'POST /api/show broken',
      'POST /api/show old',
      'POST /api/show silent',
    ])
    // Another model under the name is another question.
    const [replaced] = parseListing({ data: [{ id: 'tiny', created: 2 }] })
    if (replaced) await inspector.complete([replaced], ask)
    expect(asked.at(-1)).toBe('POST /api/show tiny')
  })
})

describe('a server of llama.cpp', () => {
  const notSupported = { status: 501, body: { error: { code: 501, type: 'not_supported_error' } } }

  test('that answers a probe was started for embeddings', async () => {
    const { ask } = serverOf({ 'POST /v1/embeddings m.gguf': { status: 200, body: { data: [] } } })
    const [model] = await createInspector(llamaCppInspection).complete(listing('m.gguf'), ask)
    expect(model?.modality).toBe('embedding')
  })

  test('that refuses the probe says what else its model takes', async () => {
    const { ask } = serverOf({
      'POST /v1/embeddings m.gguf': notSupported,
      'GET /props': { status: 200, body: { modalities: { vision: true, audio: false } } },
    })
    const [model] = await createInspector(llamaCppInspection).complete(listing('m.gguf'), ask)
    expect(model).toMatchObject({ modality: 'language', inputs: ['image'] })
    const plain = serverOf({ 'POST /v1/embeddings m.gguf': notSupported })
    expect(await createInspector(llamaCppInspection).complete(listing('m.gguf'), plain.ask)).toMatchObject([
      { modality: 'language' },
    ])
  })

  test('of several models is not asked, because each question would load one', async () => {
    const { ask, asked } = serverOf({})
    expect(await createInspector(llamaCppInspection).complete(listing('a', 'b'), ask)).toEqual(
      listing('a', 'b'),
    )
    expect(asked).toEqual([])
  })

  test('that still loads is asked again later', async () => {
    const loading = { status: 503, body: { error: { type: 'unavailable_error' } } }
    const replies: Record<string, InspectionReply> = { 'POST /v1/embeddings m': loading }
    const inspector = createInspector(llamaCppInspection)
    const { ask } = serverOf(replies)
    expect((await inspector.complete(listing('m'), ask))[0]?.modality).toBeUndefined()
    replies['POST /v1/embeddings m'] = { status: 200, body: {} }
    expect((await inspector.complete(listing('m'), ask))[0]?.modality).toBe('embedding')
  })
})
