import { expect, test } from 'bun:test'
import { GatewayError } from '../../core/errors.ts'
import { createMessagesPassage } from './messages-pass-stream.ts'

test('a stream that breaks off in its first frame of output begins once', () => {
  const context = {
    generationId: 'gen-1',
    model: 'acme/one',
    provider: 'Acme',
    created: 1,
    hideSecrets: (text: string) => text,
    modelNames: [],
  }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 3 } }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const stream = createMessagesPassage(context)
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
