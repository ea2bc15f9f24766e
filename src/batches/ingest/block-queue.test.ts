import { expect, test } from 'bun:test'
import { BlockQueue } from './block-queue.ts'

const block = (text: string): Promise<Uint8Array> => Promise.resolve(Buffer.from(text))

async function readAll(queue: BlockQueue): Promise<string> {
  let text = ''
  for await (const content of queue) text += content.toString()
  return text
}

test('blocks come in order, even blocks that are added later', async () => {
  const queue = new BlockQueue()
  void queue.add(block('a'))
  const read = readAll(queue)
  const passed = queue.add(block('b'))
  await passed
  void queue.add(block('c'))
  queue.end()
  expect(await read).toBe('abc')
})

test('a failed block fails the reader, and ends the wait for it', async () => {
  const queue = new BlockQueue()
  const first = queue.add(Promise.reject(new Error('no memory')))
  const second = queue.add(block('x'))
  const read = readAll(queue)
  expect(await read.catch(String)).toContain('no memory')
  queue.abandon()
  await Promise.all([first, second, queue.add(block('later'))])
})

test('the wait of a reader for more ends when the blob is given up', async () => {
  const queue = new BlockQueue()
  const read = readAll(queue)
  await Promise.resolve()
  queue.abandon()
  expect(await read.catch(String)).toContain('given up')
})
