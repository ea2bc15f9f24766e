import { expect, test } from 'bun:test'
import { GatewayError } from '../../core/errors.ts'
import { chatQuirks } from '../../formats/text/chat/quirks.ts'
import { createChatStream } from '../../formats/text/chat/pass-stream.ts'
import { streamOf, testContext } from '../../formats/text/testing.ts'
import type { UpstreamResponse } from '../../transport/exchange.ts'
import { isWhole, openStream, takeInWhatIsHere } from './opened-stream.ts'

const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const words = { ...base, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] }
const finish = { ...base, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const broken = new GatewayError('provider_failed', 'The connection to the provider broke off.')

type Piece = Uint8Array | 'end' | 'break' | 'silence'

/** An upstream that gives these pieces, each as soon as it is asked for. */
function upstreamOf(pieces: readonly Piece[]) {
  let next = 0
  const seen = { isCancelled: false }
  const body = {
    read() {
      const piece = pieces[next] ?? 'end'
      next += 1
      if (piece === 'break') return Promise.reject(broken)
      if (piece === 'silence') return new Promise<never>(() => undefined)
      if (piece === 'end') return Promise.resolve({ done: true as const, value: undefined })
      return Promise.resolve({ done: false as const, value: piece })
    },
    cancel: () => void (seen.isCancelled = true),
  }
  return { seen, response: { body } as unknown as UpstreamResponse }
}

async function take(pieces: readonly Piece[]) {
  const { seen, response } = upstreamOf(pieces)
  const opened = await openStream(response, createChatStream(testContext, chatQuirks()), 1)
  const thrown = await takeInWhatIsHere(opened).catch((error: unknown) => error)
  return { opened, thrown, seen }
}

const begun = streamOf([words], { done: false })
const terminator = streamOf([])

test('an answer that has already arrived is whole, with or without the end of its body', async () => {
  for (const pieces of [[begun, streamOf([words, finish])], [streamOf([words, finish])]]) {
    for (const last of ['end', 'silence'] as const) {
      const { opened, thrown } = await take([...pieces, last])
      expect(thrown).toBeUndefined()
      expect(isWhole(opened)).toBe(true)
    }
  }
})

test('an answer that goes on is not waited for, and no read of it is lost', async () => {
  const { opened, thrown } = await take([begun, begun, 'silence'])
  expect(thrown).toBeUndefined()
  expect(isWhole(opened)).toBe(false)
  expect(String(opened.first).split('Hello').length - 1).toBe(2)
})

test('after an answer that has already broken off another endpoint is tried, because no byte was shown', async () => {
  expect((await take([begun, 'break'])).thrown).toBe(broken)
  expect((await take([begun, 'end'])).thrown).toBeInstanceOf(GatewayError)
  expect((await take([Buffer.concat([begun, terminator]), 'silence'])).thrown).toBeInstanceOf(GatewayError)
  await expect(take([terminator, 'silence'])).rejects.toBeInstanceOf(GatewayError)
  const error = Buffer.from('data: {"error":{"message":"overloaded","code":503}}\n\n')
  for (const pieces of [[begun, error], [Buffer.concat([begun, error])]]) {
    const { thrown, seen } = await take([...pieces, 'silence'])
    expect(thrown).toBeInstanceOf(GatewayError)
    expect(seen.isCancelled).toBe(true)
  }
})
