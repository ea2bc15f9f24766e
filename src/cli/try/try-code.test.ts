import { expect, test } from 'bun:test'
import { renderCode } from './try-code.ts'

const given = { baseUrl: 'http://127.0.0.1:9/v1', models: null }
const paths = [
  '/chat/completions',
  '/audio/speech',
  '/audio/transcriptions',
  '/organization/settings',
  '/batches',
]

test('the shell script parses and calls all five operations', () => {
  const code = renderCode('curl', given)
  for (const path of paths) expect(code).toContain(`http://127.0.0.1:9/v1${path}`)
  const checked = Bun.spawnSync(['sh', '-n'], { stdin: Buffer.from(code) })
  expect(checked.stderr.toString()).toBe('')
  expect(checked.exitCode).toBe(0)
})

test('the TypeScript parses, and takes keys from the environment only', () => {
  const code = renderCode('ts', given)
  expect(() => new Bun.Transpiler({ loader: 'ts' }).transformSync(code)).not.toThrow()
  expect(code).toContain('process.env.HEADRACE_API_KEY')
  expect(code).not.toContain('sk-')
})

test.skipIf(Bun.which('python3') === null)('the Python parses', () => {
  const source = renderCode('python', given)
  const checked = Bun.spawnSync(['python3', '-c', 'import ast,sys; ast.parse(sys.stdin.read())'], {
    stdin: Buffer.from(source),
  })
  expect(checked.stderr.toString()).toBe('')
})
