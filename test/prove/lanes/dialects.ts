import { join } from 'node:path'
import { createPackages, type PackageSet } from '../../clients/packages.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { runCommand, runTests } from '../command.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

/** A program of Python clients, and what each of them must have seen. */
interface PythonClients {
  packages: PackageSet
  program: string
  expected: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const programMsMax = 600_000

const clients: readonly PythonClients[] = [
  {
    packages: {
      name: 'python-batches',
      registry: 'python',
      versions: { anthropic: '2.12.0', openai: '3.54.0' },
    },
    program: 'dialects-client.py',
    expected: {
      anthropic: {
        counts: { canceled: 0, errored: 0, expired: 0, processing: 0, succeeded: 2 },
        listed: true,
      },
      openai: { counts: { completed: 2, failed: 0, total: 2 }, listed: true },
    },
  },
  {
    packages: {
      name: 'python-curator',
      registry: 'python',
      // It asks for a function that later versions of instructor do not have.
      versions: { 'bespokelabs-curator': '0.1.31', instructor: '1.14.5' },
    },
    program: 'curator-client.py',
    expected: {
      'curator, openai': { answers: 3, own: true },
      'curator, anthropic': { answers: 3, own: true },
    },
  },
  {
    packages: {
      name: 'python-langchain-batches',
      registry: 'python',
      versions: { 'langchain-openai': '1.7.4', 'langchain-anthropic': '1.7.10' },
    },
    program: 'langchain-client.py',
    expected: {
      'langchain-openai': { answers: 6, own: true },
      'langchain-anthropic': { answers: 6, own: true },
    },
  },
]

export const proof: Proof = {
  title:
    'dialects: the clients of OpenAI and Anthropic, in JavaScript and Python, and curator run batches unchanged, from files and from requests, and each reads what the other made; LangChain’s batch helpers, which make live calls; plain HTTP after the specification, four endpoints at three families of providers each',
  run: async () => {
    const tests = await runTests(
      [
        'test/contract/message-batches',
        'test/contract/openai-batches',
        'test/contract/batch-families',
        'src/files',
        'src/formats/batch',
      ],
      { msMax: 300_000 },
    )
    const ran: ProofResult[] = []
    for (const each of clients) ran.push(await runPython(each))
    return combine([tests, ...ran])
  },
}

async function runPython({ packages: wanted, program, expected }: PythonClients): Promise<ProofResult> {
  const packages = createPackages()
  const model = (id: string) => ({
    api_key: 'simulated-key',
    weight: 1,
    discover: false,
    models: [{ id }],
  })
  const gateway = await startTestGateway({
    providers: (url) => [
      { preset: 'openai', base_url: `${url}/v1`, ...model('openai/gpt-4o-mini') },
      { preset: 'anthropic', base_url: `${url}/v1`, ...model('anthropic/claude-haiku-4-5') },
    ],
  })
  try {
    const installed = await packages.install(wanted)
    if (installed.folder === null) return { status: 'NOT RUN', figures: [installed.reason] }
    const origin = gateway.listen().replace(/\/v1$/, '')
    const interpreter = join(installed.folder, 'bin', 'python')
    // The last one is a folder for curator, and a model for the others.
    const last = program.startsWith('curator') ? join(packages.folder, 'curator') : 'openai/gpt-4o-mini'
    const command = [interpreter, join(import.meta.dir, program), origin, gateway.key, last]
    const { code, stdout, output } = await runCommand(command, { msMax: programMsMax })
    const told = (code === 0 ? stdout : output).trim().split('\n').at(-1) ?? ''
    if (code !== 0) return { status: 'FAIL', figures: [told] }
    const seen = JSON.parse(told) as Record<string, Record<string, unknown>>
    const isRight = Object.entries(expected).every(([client, members]) =>
      Object.entries(members).every(([name, value]) => Bun.deepEquals(seen[client]?.[name], value)),
    )
    const figures = Object.entries(seen).map(([client, one]) => `Python, ${client}: ${JSON.stringify(one)}`)
    return { status: isRight ? 'PASS' : 'FAIL', figures }
  } finally {
    await gateway.stop()
    packages.remove()
  }
}
