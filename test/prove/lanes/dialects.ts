import { join } from 'node:path'
import { createPackages } from '../../clients/packages.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { runCommand, runTests } from '../command.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

const python = {
  name: 'python-batches',
  registry: 'python',
  versions: { anthropic: '2.12.0', openai: '3.54.0' },
} as const

export const proof: Proof = {
  title:
    'dialects: the clients of OpenAI and Anthropic, in JavaScript and Python, run batches unchanged, from files and from requests, and each reads what the other made',
  run: async () =>
    combine([
      await runTests(
        ['test/contract/message-batches', 'test/contract/openai-batches', 'src/files', 'src/formats/batch'],
        { msMax: 300_000 },
      ),
      await runPython(),
    ]),
}

const counts = {
  anthropic: { canceled: 0, errored: 0, expired: 0, processing: 0, succeeded: 2 },
  openai: { completed: 2, failed: 0, total: 2 },
}

async function runPython(): Promise<ProofResult> {
  const packages = createPackages()
  const gateway = await startTestGateway()
  try {
    const installed = await packages.install(python)
    if (installed.folder === null) return { status: 'NOT RUN', figures: [installed.reason] }
    const origin = gateway.listen().replace(/\/v1$/, '')
    const program = join(import.meta.dir, 'dialects-client.py')
    const interpreter = join(installed.folder, 'bin', 'python')
    const command = [interpreter, program, origin, gateway.key, 'openai/gpt-4o-mini']
    const { code, output } = await runCommand(command, { msMax: 120_000 })
    if (code !== 0) return { status: 'FAIL', figures: [output.trim().split('\n').at(-1) ?? ''] }
    const seen = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Record<
      string,
      Record<string, unknown>
    >
    const isRight = Object.entries(counts).every(
      ([client, expected]) =>
        Bun.deepEquals(seen[client]?.['counts'], expected) && seen[client]?.['listed'] === true,
    )
    const figures = Object.entries(seen).map(([client, one]) => `Python, ${client}: ${JSON.stringify(one)}`)
    return { status: isRight ? 'PASS' : 'FAIL', figures }
  } finally {
    await gateway.stop()
    packages.remove()
  }
}
