import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lineOfItem, scanBatchFile, uploadOf } from './batch-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-batch-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fileOf(text: string): string {
  const path = join(folder, `${Bun.hash(text).toString(36)}.jsonl`)
  writeFileSync(path, text)
  return path
}

const plain = (id: string) => `{"custom_id":"${id}","body":{"model":"a/b","messages":[]}}`

test('plain lines are counted, and model and endpoint found', async () => {
  const file = await scanBatchFile(fileOf(`${plain('1')}\n\n${plain('2')}`), {})
  expect(file).toMatchObject({ items: 2, model: 'a/b', endpoint: '/v1/chat/completions' })
})

test("OpenAI's lines name the endpoint, and a body with input is for embeddings", async () => {
  const openAi = '{"custom_id":"1","method":"POST","url":"/v1/embeddings","body":{"model":"e","input":"x"}}'
  expect(await scanBatchFile(fileOf(openAi), {})).toMatchObject({ endpoint: '/v1/embeddings', model: 'e' })
  const bare = '{"custom_id":"1","body":{"model":"e","input":"x"}}'
  expect((await scanBatchFile(fileOf(bare), {})).endpoint).toBe('/v1/embeddings')
})

test('options of the command line win over the lines of the file', async () => {
  const file = await scanBatchFile(fileOf(plain('1')), { model: 'c/d', endpoint: '/v1/chat/completions' })
  expect(file.model).toBe('c/d')
})

test('the first wrong line is named with its number', async () => {
  const cases: [string, string][] = [
    [`${plain('1')}\nnot json`, ':2: not JSON'],
    [`${plain('1')}\n{"body":{}}`, ':2: custom_id is missing'],
    [`${plain('1')}\n{"custom_id":"2"}`, ':2: body is missing'],
    ['[]', ':1: custom_id is missing'],
    ['{"custom_id":7,"body":{}}', ':1: custom_id must be a text'],
    ['{"custom_id":"","body":{}}', ':1: custom_id must be a text'],
    ['{"custom_id":"1","body":[]}', ':1: body must be an object'],
    ['{"custom_id":"1","body":null}', ':1: body must be an object'],
    ['x'.repeat(32_000_001), ':1: the line is longer than 32.0 MB'],
    ['\n\n', 'has no items'],
    ['{"custom_id":"1","body":{}}', 'No line of'],
    [
      '{"custom_id":"1","url":"/v1/embeddings","body":{"model":"m"}}\n{"custom_id":"2","url":"/v1/messages","body":{}}',
      ':2: url is /v1/messages',
    ],
  ]
  for (const [text, message] of cases) await expect(scanBatchFile(fileOf(text), {})).rejects.toThrow(message)
  await expect(scanBatchFile(join(folder, 'missing.jsonl'), {})).rejects.toThrow('There is no file')
})

test('a file that is not UTF-8 is refused with its line, and not sent with replacement characters', async () => {
  const path = join(folder, 'latin1.jsonl')
  writeFileSync(path, Buffer.from(`${plain('1')}\n${plain('café')}\n`, 'latin1'))
  await expect(scanBatchFile(path, {})).rejects.toThrow('latin1.jsonl:2: not UTF-8')
  const marked = fileOf(`\ufeff${plain('1')}\r\n${plain('é\ufffd')}\r\n`)
  expect(await scanBatchFile(marked, {})).toMatchObject({ items: 2 })
})

test('a folder, a pipe and a missing file each have a message of their own', async () => {
  await expect(scanBatchFile(folder, {})).rejects.toThrow('is a folder')
  for (const pipe of ['-', '/dev/null'])
    await expect(scanBatchFile(pipe, {})).rejects.toThrow('Save them first')
})

test('the line of an item is found beyond empty ones', async () => {
  const path = fileOf(`\n${plain('1')}\n\n${plain('2')}\n`)
  expect([await lineOfItem(path, 0), await lineOfItem(path, 1)]).toEqual([2, 4])
})

test('the upload is one JSON body with every line unchanged, even across many pieces', async () => {
  const items = 5_000
  const lines = Array.from({ length: items }, (_, index) => plain(`é-${index}-${'x'.repeat(40)}`))
  const file = await scanBatchFile(fileOf(`\n${lines.join('\r\n')}\n`), {})
  let sent = 0
  const text = await new Response(uploadOf(file, (bytes) => void (sent = bytes))).text()
  expect(sent).toBe(Buffer.byteLength(text))
  const body = JSON.parse(text) as { requests: unknown[]; model: string; endpoint: string }
  expect([body.model, body.endpoint]).toEqual(['a/b', '/v1/chat/completions'])
  expect(body.requests).toEqual(lines.map((line) => JSON.parse(line) as unknown))
})

test('numbers beyond a double and repeated members are sent unchanged', async () => {
  const line = '{"custom_id":"1","body":{"model":"m","seed":12345678901234567890,"a":1,"a":2}}'
  const file = await scanBatchFile(fileOf(line), {})
  expect(await new Response(uploadOf(file, () => undefined)).text()).toContain(line)
})
