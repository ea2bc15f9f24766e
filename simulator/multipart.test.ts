import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { boundaryOf, readMultipart } from './multipart.ts'

const boundary = 'b0undary'

function part(headers: string, content: string | Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
}

async function* inChunks(body: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < body.length; from += size) yield body.subarray(from, from + size)
}

function read(body: Buffer, size = body.length, bytesMax = 100_000_000) {
  return readMultipart(inChunks(body, size), boundary, bytesMax)
}

const end = Buffer.from(`--${boundary}--\r\n`)
const content = Buffer.from(`\r\n--${boundary.slice(0, 4)}\0\xff\r\n--`, 'latin1')
const form = Buffer.concat([
  Buffer.from('preamble\r\n'),
  part('Content-Disposition: form-data; name="model"', 'whisper-1'),
  part('Content-Disposition: form-data; name="empty"', ''),
  part(
    'Content-Disposition: form-data; name="file"; filename="a \\"b\\".wav"\r\nContent-Type: audio/wav',
    content,
  ),
  end,
])

describe('a multipart form', () => {
  test.each([1, 2, 3, 7, 64, 10_000])('reads the same in chunks of %d bytes', async (size) => {
    const parsed = await read(form, size)
    expect(parsed.fields).toEqual([
      { name: 'model', value: 'whisper-1' },
      { name: 'empty', value: '' },
    ])
    const [file] = parsed.files
    expect(file).toMatchObject({
      name: 'file',
      fileName: 'a "b".wav',
      contentType: 'audio/wav',
      bytes: content.length,
    })
    const path = (await file?.path()) ?? ''
    expect(await Bun.file(path).bytes()).toEqual(new Uint8Array(content))
    await parsed.dispose()
    expect(existsSync(dirname(path))).toBe(false)
  })

  test('keeps a large file on disk, byte for byte', async () => {
    const large = Buffer.alloc(5_000_003, 'abcdefg')
    const parsed = await read(
      Buffer.concat([part('Content-Disposition: form-data; name="file"; filename="x.mp3"', large), end]),
      65_536,
    )
    const path = (await parsed.files[0]?.path()) ?? ''
    expect(Bun.hash(await Bun.file(path).bytes())).toBe(Bun.hash(large))
    await parsed.dispose()
  })

  test('that is too large or broken is refused', async () => {
    await expect(read(form, 16, 100)).rejects.toMatchObject({ status: 413 })
    await expect(read(form.subarray(0, -10))).rejects.toMatchObject({ status: 400 })
    await expect(read(Buffer.concat([part('X-Nothing: 1', 'x'), end]))).rejects.toMatchObject({ status: 400 })
    const long = part('Content-Disposition: form-data; name="model"', 'x'.repeat(300_000))
    await expect(read(Buffer.concat([long, end]))).rejects.toMatchObject({ status: 400 })
  })
})

test('a boundary is read from the content type, quoted or not', () => {
  expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc')
  expect(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"')).toBe('a b')
  expect(boundaryOf('application/json')).toBeNull()
  expect(boundaryOf(undefined)).toBeNull()
})
