import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareGateway } from '../story/real-gateway.ts'
import { bareMachine, runScriptReadOnly } from '../support/bare-machine.ts'

const gateway = prepareGateway()
const env = bareMachine(gateway.folder)
const keys: Record<string, string> = {}

beforeAll(async () => {
  const printed = await gateway.start(env)
  keys['HEADRACE_API_KEY'] = /inference key +(\S+)/.exec(printed)?.[1] ?? ''
  keys['HEADRACE_MANAGEMENT_KEY'] = /management key +(\S+)/.exec(printed)?.[1] ?? ''
})
afterAll(() => gateway.remove())

test('everything can be tried without ffmpeg and without a temporary folder', async () => {
  const { code, output, errors } = await gateway.run(['try'], env)
  expect([code, errors]).toEqual([0, ''])
  expect(output).toContain('no temporary folder can be written, so it is not kept')
  expect(output).toContain('Everything worked.')
})

test.skipIf(Bun.which('curl') === null)(
  'the shell script that try prints needs no ffmpeg and writes nothing',
  async () => {
    const { output: script } = await gateway.run(['try', '--print=curl'], env)
    const { code, output } = await runScriptReadOnly(script, { ...env, ...keys })
    expect([code, output]).toEqual([0, expect.stringContaining('data: [DONE]')])
    expect(output).toMatch(/^\{"text":".+"usage":/m)
    expect(output).toMatch(/^\{.*"custom_id":"two"/m)
  },
)

test('where the data is, a batch is run and watched without a key, and no key is left', async () => {
  const file = join(gateway.folder, 'items.jsonl')
  const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Say one.' }] }
  writeFileSync(file, `${JSON.stringify({ custom_id: 'one', body })}\n`)
  const { code, output, errors } = await gateway.run(['batch', 'run', file, '--yes'])
  expect([code, errors]).toEqual([0, ''])
  expect(output).toContain('completed: 1 answered, 0 failed')
  expect(readFileSync(`${file}.results.jsonl`, 'utf8')).toContain('"custom_id":"one"')
  expect((await gateway.run(['batch', 'watch'])).output).toContain('completed')
  const { output: listed } = await gateway.run(['keys'])
  const temporary = listed.split('\n').filter((line) => line.includes('headrace batch'))
  expect(temporary.length).toBeGreaterThan(0)
  for (const line of temporary) expect(line).toContain('disabled')
})

test('a first start whose port is taken makes nothing and shows no key; the next one shows them', async () => {
  const other = prepareGateway()
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  try {
    const refused = await other.run(['serve'], { HEADRACE_PORT: String(taken.port) })
    expect(refused.code).toBe(1)
    expect(refused.errors).toContain(`port ${taken.port} on 127.0.0.1 is taken`)
    expect(refused.output).not.toContain('sk-hr-v1-')
    expect(existsSync(other.databasePath)).toBe(false)
    expect(await other.start()).toContain('inference key   sk-hr-v1-')
  } finally {
    await taken.stop(true)
    await other.remove()
  }
})
