import { EventStreamCodec } from '@smithy/eventstream-codec'
import { describe, expect, test } from 'bun:test'
import { decodeMessagesRequest } from '../messages/read-request.ts'
import { messagesQuirks } from '../messages/quirks.ts'
import { selectCodec } from '../formats.ts'
import { runStream, testContext } from '../testing.ts'
import { ChunkStream } from './chunk-stream.ts'

// Frames by Amazon's own encoder, after https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html

const encoder = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text),
)
const header = (value: string) => ({ type: 'string' as const, value })

function frame(names: Record<string, string>, payload: unknown): Uint8Array {
  const headers = Object.fromEntries(Object.entries(names).map(([name, value]) => [name, header(value)]))
  return encoder.encode({ headers, body: Buffer.from(JSON.stringify(payload)) })
}

const chunk = (event: unknown) =>
  frame(
    { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
    { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcd' },
  )
const counts = { inputTokenCount: 5, outputTokenCount: 3, invocationLatency: 900, firstByteLatency: 300 }
const events = [
  {
    type: 'message_start',
    message: {
      id: 'msg_bdrk_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Gr\u00fc\u00dfe, ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Oslo.' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 3 },
  },
  { type: 'message_stop', 'amazon-bedrock-invocationMetrics': counts },
]

const call = decodeMessagesRequest(
  Buffer.from('{"model":"a/b","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}'),
  { sessionIdHeader: null },
)
const open = () =>
  new ChunkStream(selectCodec('messages', 'messages').createStream(testContext, messagesQuirks(), call))
const whole = Buffer.concat(events.map(chunk))

function textIn(stream: string): string {
  const data = stream.split('\n').filter((line) => line.startsWith('data: '))
  const wires = data.map((line) => JSON.parse(line.slice(6)) as { delta?: { text?: string } })
  return wires.map(({ delta }) => delta?.text ?? '').join('')
}

describe('a model’s stream in frames of Amazon', () => {
  test('is shown as the model’s own events, cut at every byte', () => {
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const rewriter = open()
      const { shown, ending } = runStream(rewriter, whole, [cut])
      expect(rewriter.failure).toBeNull()
      expect(textIn(shown + ending)).toBe('Gr\u00fc\u00dfe, Oslo.')
      expect(shown + ending).not.toContain('invocationMetrics')
      expect(rewriter.reading().usage).toMatchObject({ inputTokens: 5, outputTokens: 3 })
    }
  })

  test('breaks off at a wrong checksum, after what came before it', () => {
    const broken = Buffer.from(whole)
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 0xff
    const rewriter = open()
    const shown = Buffer.from(rewriter.push(broken) ?? '').toString()
    expect(textIn(shown)).toBe('Gr\u00fc\u00dfe, Oslo.')
    expect(rewriter.failure?.type).toBe('provider_failed')
    expect(rewriter.push(whole)).toBeNull()
  })

  test('breaks off with the reason of an exception, whatever follows it', () => {
    const exception = frame(
      { ':message-type': 'exception', ':exception-type': 'throttlingException' },
      { message: 'Too many tokens, please wait before trying again.' },
    )
    const rewriter = open()
    rewriter.push(Buffer.concat([...events.slice(0, 3).map(chunk), exception, ...events.slice(3).map(chunk)]))
    expect(rewriter.failure?.type).toBe('upstream_rate_limited')
  })

  test('that ends without its last event has failed', () => {
    const rewriter = open()
    rewriter.push(Buffer.concat(events.slice(0, 4).map(chunk)))
    rewriter.end()
    expect(rewriter.failure?.type).toBe('provider_failed')
  })
})
