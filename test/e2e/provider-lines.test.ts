import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from '../../simulator/server.ts'

const launcher = join(import.meta.dir, '../../bin/headrace.js')
const badKey = 'bad-key-of-an-operator'
const folder = mkdtempSync(join(tmpdir(), 'headrace-lines-'))
let simulator: Awaited<ReturnType<typeof startSimulator>>

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, quiet: true })
  const providers = [
    { preset: 'openai', base_url: `${simulator.url}/v1`, api_key: '${env:OPENAI_API_KEY}' },
    { preset: 'custom', id: 'acme', base_url: `${simulator.url}/wrong`, api_key: 'any' },
    { preset: 'custom', id: 'fine', base_url: `${simulator.url}/v1`, api_key: 'any' },
  ]
  writeFileSync(join(folder, 'headrace.config.json'), JSON.stringify({ providers }))
})

afterAll(async () => {
  await simulator.stop()
  rmSync(folder, { recursive: true, force: true })
})

function spawn(command: string): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
  const { PATH = '', HOME = '' } = process.env
  return Bun.spawn(['node', launcher, command], {
    cwd: folder,
    env: { PATH, HOME, HEADRACE_PORT: '0', HEADRACE_LOG_LEVEL: 'silent', OPENAI_API_KEY: badKey },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

const refusedLine = 'openai: the key was refused (status 401); check OPENAI_API_KEY'
const wrongLine = 'acme: there is no list of models (status 404); check base_url of "acme" in '

test('a start says in one line each which key was refused and which address is wrong', async () => {
  const gateway = spawn('serve')
  let output = ''
  for await (const piece of gateway.stdout) {
    output += new TextDecoder().decode(piece)
    if (output.includes('✓ fine')) gateway.kill('SIGTERM')
  }
  expect(await gateway.exited).toBe(0)
  const lines = output.split('\n').filter((line) => /^[✓✗]/.test(line))
  expect(lines).toHaveLength(3)
  expect(lines[0]).toBe(`✗ ${refusedLine}`)
  expect(lines[1]).toStartWith(`✗ ${wrongLine}`)
  expect(lines[1]).toContain('headrace.config.json')
  expect(lines[2]).toMatch(/^✓ fine: \d+ models$/)
  expect(output).not.toContain(badKey)
})

test('doctor says the same and fails', async () => {
  const doctor = spawn('doctor')
  const output = await new Response(doctor.stdout).text()
  expect(await doctor.exited).toBe(1)
  expect(output).toMatch(/✗ openai +the key was refused \(status 401\); check OPENAI_API_KEY/)
  expect(output).toMatch(/✗ acme +there is no list of models \(status 404\)/)
  expect(output).toMatch(/✓ fine +\d+ models/)
  expect(output).not.toContain(badKey)
})
