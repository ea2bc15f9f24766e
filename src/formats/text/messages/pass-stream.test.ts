import { expect, test } from 'bun:test'
import { GatewayError } from '../../../core/errors.ts'
import { runStream, testContext } from '../testing.ts'
import { createMessagesPassage } from './pass-stream.ts'
import { messagesQuirks } from './quirks.ts'

test('a stream that breaks off in its first frame of output begins once', () => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 3 } }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const stream = createMessagesPassage(testContext, messagesQuirks())
  const frame = (wire: { type: string }) => `event: ${wire.type}\ndata: ${JSON.stringify(wire)}`
  // The last frame lacks the empty line that would end it.
  const shown = stream.push(
    new TextEncoder().encode(
      `${frame(Object.assign({ type: 'message_start' }, { message }))}\n\n${frame(block)}`,
    ),
  )
  expect(shown).toBeNull()
  stream.end()
  expect(stream.failure).toMatchObject({ type: 'provider_failed' })
  const told = new TextDecoder().decode(
    stream.encodeError(stream.failure ?? new GatewayError('internal', 'no failure')),
  )
  expect([...told.matchAll(/^event: (\S+)$/gm)].map(([, name]) => name)).toEqual([
    'message_start',
    'content_block_start',
    'error',
  ])
})

test('a stream that ends as a chat stream does is whole, with or without the format’s own end', () => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 3 } }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  for (const given of [events, events.slice(0, 5), events.slice(0, 4)]) {
    const frames = given.map((wire) => `event: ${wire.type}\ndata: ${JSON.stringify(wire)}\n\n`)
    const bytes = new TextEncoder().encode(`${frames.join('')}data: [DONE]\n\n`)
    const { shown, ending, rewriter } = runStream(createMessagesPassage(testContext, messagesQuirks()), bytes)
    expect(rewriter.failure).toBeNull()
    expect(rewriter.stage).toBe('terminated')
    const told = shown + ending
    expect([...told.matchAll(/^event: (\S+)$/gm)].map(([, name]) => name)).toEqual(
      events.map(({ type }) => type),
    )
    expect(told).toContain('"stop_reason":"end_turn"')
    expect(told).not.toContain('[DONE]')
  }
})

test('a stream that its provider did not begin is begun, once, before the first block', () => {
  const events = [
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: {} },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 3, output_tokens: 2 },
    },
    { type: 'message_stop' },
  ]
  for (const given of [events, events.filter(({ type }) => type !== 'message_start'), events.slice(5)]) {
    const frames = given.map((wire) => `event: ${wire.type}\ndata: ${JSON.stringify(wire)}\n\n`)
    const bytes = new TextEncoder().encode(frames.join(''))
    const { shown, ending, rewriter } = runStream(createMessagesPassage(testContext, messagesQuirks()), bytes)
    expect(rewriter.failure).toBeNull()
    const told = shown + ending
    const names = [...told.matchAll(/^event: (\S+)$/gm)].map(([, name]) => name)
    expect(names.filter((name) => name === 'message_start')).toHaveLength(1)
    expect(names[0]).toBe('message_start')
    const [begin = ''] = told.split('\n\n')
    expect(JSON.parse(begin.replace(/^event: .*\ndata: /, ''))).toMatchObject({
      message: { id: testContext.generationId, role: 'assistant', content: [], model: testContext.model },
    })
    expect(told).toContain('"output_tokens":2')
  }
})
