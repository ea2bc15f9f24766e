import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareGateway } from './real-gateway.ts'

// Every curl of the README, run in its order by a shell against a real gateway.

const page = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8')
const shown = 'http://127.0.0.1:8787/v1'
const recipes = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block = '']) => block.split(/\n(?=curl )/))
  .filter((recipe) => recipe.startsWith('curl '))
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

for (const recipe of recipes) {
  const name = /curl .*?\/v1(\/[a-z/]+)/.exec(recipe)?.[1] ?? recipe
  test.skipIf(Bun.which('curl') === null)(`the recipe of ${name} does what it promises`, async () => {
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
