import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { prepareGateway } from './real-gateway.ts'

// Every curl of the README, run in its order by a shell against a real gateway.

const page = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8')
const shown = 'http://127.0.0.1:8787/v1'
const recipes = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block = '']) => block.split(/\n(?=curl )/))
  .filter((recipe) => recipe.startsWith('curl '))
const hasCurl = Bun.which('curl') !== null
if (!hasCurl) console.warn('skipped: recipes need curl')
const gateway = prepareGateway()
let keys: Record<string, string> = {}

beforeAll(async () => {
  const printed = await gateway.start()
  keys = {
    HEADRACE_API_KEY: /inference key +(\S+)/.exec(printed)?.[1] ?? '',
    HEADRACE_MANAGEMENT_KEY: /management key +(\S+)/.exec(printed)?.[1] ?? '',
  }
})
afterAll(() => gateway.remove())

test('the README has a recipe for every operation', () => {
  const paths = recipes.map((recipe) => /\/v1(\/[a-z/]+)/.exec(recipe)?.[1])
  for (const path of [
    '/chat/completions',
    '/embeddings',
    '/rerank',
    '/completions',
    '/audio/speech',
    '/audio/transcriptions',
    '/organization/settings',
    '/batches',
    '/models',
    '/credits',
  ]) {
    expect(paths).toContain(path)
  }
})

test.skipIf(Bun.which('python3') === null)("the README's Python imports what it uses", () => {
  const block = /^```python\n([\s\S]*?)^```/m.exec(page)?.[1] ?? 'raise SystemExit("no Python")'
  // The package itself need not be installed, because only the lines are run.
  const stub =
    'import sys, types; m = types.ModuleType("openai"); m.OpenAI = dict; sys.modules["openai"] = m\n'
  const { exitCode, stderr } = Bun.spawnSync(['python3', '-c', stub + block], {
    env: { ...process.env, HEADRACE_API_KEY: 'a-key' },
  })
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
})

/** Calls of a program that was written for OpenAI, with one line changed to the README's address. */
const oneChangedLine: Readonly<Record<string, (client: OpenAI) => Promise<unknown>>> = {
  chat: async (client) => {
    const answer = await client.chat.completions.create({ model: 'openai/gpt-4o-mini', messages })
    return answer.choices[0]?.message.content
  },
  'a stream of chat': async (client) => {
    const request = { model: 'openai/gpt-4o-mini', messages, stream: true } as const
    let text = ''
    for await (const { choices } of await client.chat.completions.create(request))
      text += choices[0]?.delta.content ?? ''
    return text
  },
  responses: async (client) =>
    (await client.responses.create({ model: 'openai/gpt-4o-mini', input: 'Say one.' })).output_text,
  embeddings: async (client) => {
    const request = { model: 'openai/text-embedding-3-small', input: ['water', 'wheel'] }
    return (await client.embeddings.create(request)).data[1]?.embedding[0]
  },
  'speech, and its transcript as text': async (client) => {
    const speech = await client.audio.speech.create({
      model: 'openai/tts-1',
      voice: 'alloy',
      input: 'Water.',
    })
    expect(speech.headers.get('content-type')).toBe('audio/mpeg')
    const file = await toFile(speech, 'speech.mp3')
    return client.audio.transcriptions.create({ model: 'openai/whisper-1', file, response_format: 'text' })
  },
  models: async (client) => (await client.models.list()).data[0]?.id,
}
const messages = [{ role: 'user' as const, content: 'Say one.' }]

for (const [name, act] of Object.entries(oneChangedLine)) {
  test(`one changed line is enough for the openai package: ${name}`, async () => {
    const address = /new OpenAI\(\{ baseURL: '([^']+)'/.exec(page)?.[1] ?? ''
    expect(address).toEndWith('/openai/v1')
    const baseURL = `${new URL(gateway.baseUrl).origin}${new URL(address).pathname}`
    const client = new OpenAI({ baseURL, apiKey: keys['HEADRACE_API_KEY'] ?? '', maxRetries: 0 })
    expect(await act(client)).toBeTruthy()
  })
}

for (const recipe of recipes) {
  const name = /curl .*?\/v1(\/[a-z/]+)/.exec(recipe)?.[1] ?? recipe
  test.skipIf(!hasCurl)(`the recipe of ${name} does what it promises`, async () => {
    expect(recipe).toContain(shown)
    const command = recipe
      .replaceAll(shown, gateway.baseUrl)
      .replace(/^curl /, 'curl --silent --show-error --fail-with-body ')
    const shell = Bun.spawn(['sh', '-c', command], {
      cwd: gateway.folder,
      env: { PATH: process.env['PATH'] ?? '', ...keys },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors, code] = await Promise.all([
      new Response(shell.stdout).text(),
      new Response(shell.stderr).text(),
      shell.exited,
    ])
    expect(`${errors}${code === 0 ? '' : output}`).toBe('')
    if (recipe.includes(' -o speech.mp3')) {
      expect(Bun.file(join(gateway.folder, 'speech.mp3')).size).toBeGreaterThan(500)
      return
    }
    const answer = JSON.parse(output) as Record<string, unknown>
    expect(answer['error'] ?? null).toBeNull()
  })
}

/** Runs printed code in the gateway's folder, as a user does who pastes it. */
async function runCode(command: readonly string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([...command], {
    cwd: gateway.folder,
    env: { PATH: process.env['PATH'] ?? '', ...keys },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, output: texts.join('') }
}

test.skipIf(!hasCurl)('the shell script that try prints runs as it is', async () => {
  const { output: script } = await gateway.run(['try', '--print=curl'])
  expect(script).toContain(gateway.baseUrl)
  const { code, output } = await runCode(['sh', '-c', script])
  expect(code).toBe(0)
  expect(output).toContain('data: [DONE]')
  expect(output).toContain('is_filtered_model_catalog_enabled')
  expect(output).toContain('"object":"batch"')
  expect(output).not.toContain('"error":{')
  // The script waits for the batch and shows its results, each answer on a separate line.
  const lines = output.split('\n')
  for (const word of ['one', 'two'])
    expect(
      lines.filter((line) => line.startsWith('{"id":"batch_req_') && line.includes(`Say ${word}.`)),
    ).toHaveLength(1)
  expect(lines.some((line) => line.startsWith('{"data":{"id":"org_'))).toBe(true)
})

test('the TypeScript that try prints runs as it is, with the openai package', async () => {
  const { output: program } = await gateway.run(['try', '--print=ts'])
  // The package is found from the folder a program lies in, and this one has none installed.
  const installed = Bun.resolveSync('openai', import.meta.dir)
  const file = join(gateway.folder, 'printed.ts')
  await Bun.write(file, program.replace("from 'openai'", `from ${JSON.stringify(installed)}`))
  const { code, output } = await runCode([process.execPath, file])
  expect(output).not.toContain('rror')
  expect(code).toBe(0)
  expect(output).toContain('You said: "Say one."')
  expect(output).toContain('You said: "Say two."')
})
