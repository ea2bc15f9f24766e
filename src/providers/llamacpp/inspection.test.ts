import { describe, expect, test } from 'bun:test'
import { createInspector, type InspectionReply } from '../../catalog/inspection.ts'
import { listing, serverOf } from '../../catalog/inspection.case.ts'
import { llamaCppInspection } from './inspection.ts'

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
