import { describe, expect, test } from 'bun:test'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Step } from '../../canonical/steps.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import { geminiTranscription, inlineAudioBytesMax } from './transcription.ts'
import { testTranscription } from '../../formats/transcription/transcription-testing.ts'

// The expectations come from the calls of Google's SDK (npm @google/genai 3.1.0), not from the code.

const adapter = geminiTranscription({ modelOf: () => ({ thinking: { kind: 'none' } }) })
const base = testEndpoint('gemini-2.5-flash', 'google-ai-studio')
const sizeBytes = inlineAudioBytesMax + 1

function askedAt(baseUrl: string, changes: Partial<TranscriptionCall> = {}) {
  const call = testTranscription(changes)
  return {
    call: { ...call, audio: { ...call.audio, sizeBytes, open: () => new Blob(['sound']).stream() } },
    endpoint: {
      ...base,
      deployment: { ...base.deployment, baseUrl },
      modality: 'transcription' as const,
      audio: leastAudio,
    },
    context: { ...testContext, generationId: 'gen-stt-1' },
  }
}

const google = askedAt('https://generativelanguage.googleapis.com/v1beta')
const place =
  'https://generativelanguage.googleapis.com/upload/v1beta/files?upload_id=abc&upload_protocol=resumable'
const replyOf = (wire: unknown, headers: Record<string, string> = {}) => ({
  headers: new Headers(headers),
  bytes: new TextEncoder().encode(JSON.stringify(wire)),
})
const file = (state: string) => ({
  name: 'files/f-1',
  uri: 'https://generativelanguage.googleapis.com/v1beta/files/f-1',
  state,
})

type AnyStep = Step<ReturnType<typeof stateOf>, unknown, never>
function stateOf(step: ReturnType<typeof adapter.first>) {
  return step.type === 'send' ? step.state : null
}

function sendOf(step: AnyStep) {
  if (step.type !== 'send') throw new Error('expected a request')
  return step
}

const textOf = async ({ body }: UpstreamRequest) => {
  if (body === null) return ''
  return 'open' in body ? new Response(body.open()).text() : body.join('')
}

describe('sound that is too large for one request', () => {
  test('is uploaded, asked for until it is ready, and named in the request', async () => {
    const begun = sendOf(adapter.first(google))
    expect(begun.exchange.request).toMatchObject({
      method: 'POST',
      path: '/upload/v1beta/files',
      inPlaceOf: '/v1beta',
      headers: {
        'x-goog-upload-protocol': 'resumable',
        'x-goog-upload-command': 'start',
        'x-goog-upload-header-content-length': String(sizeBytes),
        'x-goog-upload-header-content-type': 'audio/wav',
      },
    })
    expect(JSON.parse(await textOf(begun.exchange.request))).toEqual({ file: { displayName: 'gen-stt-1' } })

    const sent = sendOf(adapter.next(begun.state, replyOf({}, { 'x-goog-upload-url': place }), google))
    expect(sent.exchange.request).toMatchObject({
      method: 'POST',
      path: '/upload/v1beta/files?upload_id=abc&upload_protocol=resumable',
      inPlaceOf: '/v1beta',
      headers: { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' },
      body: { contentLength: sizeBytes },
    })
    expect(sent.exchange.makes).toEqual({ kind: 'gemini.file', marker: 'gen-stt-1' })
    expect(await textOf(sent.exchange.request)).toBe('sound')

    const looked = sendOf(adapter.next(sent.state, replyOf({ file: file('PROCESSING') }), google))
    expect(looked.exchange.request).toMatchObject({ method: 'GET', path: '/files/f-1', body: null })
    expect(looked.exchange.waitMs).toBeGreaterThan(0)
    const again = sendOf(adapter.next(looked.state, replyOf(file('PROCESSING')), google))
    expect(again.exchange.request.path).toBe('/files/f-1')

    const asked = sendOf(adapter.next(again.state, replyOf(file('ACTIVE')), google))
    expect(asked.exchange.request.path).toBe('/models/gemini-2.5-flash:generateContent')
    expect(JSON.parse(await textOf(asked.exchange.request)).contents[0].parts[0]).toEqual({
      fileData: {
        mimeType: 'audio/wav',
        fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/f-1',
      },
    })

    const parts = [{ text: '{"language":"en","text":"Hi."}' }]
    const wire = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
    expect(adapter.next(asked.state, replyOf(wire), google)).toMatchObject({
      type: 'answer',
      answer: { text: 'Hi.' },
    })
  })

  test('goes to the deployment’s own host, whatever host the reply names', () => {
    const elsewhere = { 'x-goog-upload-url': 'https://evil.example/take?upload_id=abc' }
    const { exchange } = sendOf(adapter.next({ stage: 'begun' }, replyOf({}, elsewhere), google))
    expect(exchange.request.path).toBe('/upload/v1beta/files?upload_id=abc')
    expect(() => adapter.next({ stage: 'begun' }, replyOf({}), google)).toThrow(
      expect.objectContaining({ type: 'provider_failed' }),
    )
  })

  test('is refused for a base URL from which the address of uploads does not follow', () => {
    expect(() => adapter.first(askedAt('https://proxy.example/gemini'))).toThrow(
      expect.objectContaining({ type: 'invalid_request', param: 'file' }),
    )
  })

  test('that Google cannot read is the caller’s fault; a reply without a file name is a failure of Google', () => {
    const read = (wire: unknown) => () => adapter.next({ stage: 'sent' }, replyOf(wire), google)
    expect(read(file('FAILED'))).toThrow(expect.objectContaining({ type: 'invalid_request' }))
    expect(read({ ...file('ACTIVE'), name: 'files/../models' })).toThrow(
      expect.objectContaining({ type: 'provider_failed' }),
    )
  })
})

describe('a file that was left', () => {
  const kind = adapter.resources?.['gemini.file']

  test('is removed by the name that its upload was answered with', () => {
    expect(kind?.readId(replyOf({ file: file('PROCESSING') }))).toBe('files/f-1')
    expect(kind?.readId(replyOf({ file: { name: '../x' } }))).toBeNull()
    expect(kind?.remove?.('files/f-1')).toMatchObject({ method: 'DELETE', path: '/files/f-1' })
  })

  test('is found by the name that it was given, page by page', () => {
    const files = [
      { name: 'files/f-2', displayName: 'gen-stt-2', createTime: '2026-11-22T10:00:02Z' },
      { name: 'files/f-1', displayName: 'gen-stt-1', createTime: '2026-11-22T10:00:01.5Z' },
      { name: 'files/f-0', createTime: '2026-11-22T10:00:00Z' },
    ]
    const page = kind?.listing?.read(replyOf({ files, nextPageToken: 'n 1' }), 'gen-stt-1')
    expect(page).toEqual({
      found: [{ id: 'files/f-1', createdAtMs: Date.UTC(2026, 10, 22, 10, 0, 1, 500) }],
      oldestAtMs: Date.UTC(2026, 10, 22, 10, 0, 0),
      older: 'n 1',
    })
    expect(kind?.listing?.request('n 1').path).toBe('/files?pageSize=100&pageToken=n%201')
    expect(kind?.listing?.read(replyOf({}), 'gen-stt-1')).toEqual({
      found: [],
      oldestAtMs: null,
      older: null,
    })
  })
})
