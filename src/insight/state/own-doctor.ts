import { GatewayError } from '../../core/errors.ts'
import type { ShownFinding } from '../insight.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How long the checks may take: they read every row of the ledger. */
const doctorMs = 120_000
/** How long an answer counts for others who ask. */
const freshMs = 5_000

/**
 * `headrace doctor` as a process of its own, with this process's environment: its checks scan whole tables, which must
 * not hold up calls. `main` is the program's entry. One at a time; who asks meanwhile gets the same answer.
 */
export function createOwnDoctor(main: URL, env: Environment): () => Promise<ShownFinding[]> {
  let running: { answer: Promise<ShownFinding[]>; atMs: number } | null = null
  return () => {
    const nowMs = performance.now()
    if (running !== null && nowMs < running.atMs + freshMs) return running.answer
    const current = { answer: runDoctor(main, env), atMs: Number.POSITIVE_INFINITY }
    running = current
    current.answer.then(
      () => (current.atMs = performance.now()),
      () => (running = null),
    )
    return current.answer
  }
}

async function runDoctor(main: URL, env: Environment): Promise<ShownFinding[]> {
  const child = Bun.spawn([process.execPath, main.pathname, 'doctor', '--json'], {
    env: { ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: doctorMs,
  })
  const text = await new Response(child.stdout).text()
  await child.exited
  const findings = text
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as ShownFinding] : []))
  if (findings.length > 0) return findings
  throw new GatewayError(
    'storage_unavailable',
    'The checks did not end. Run "npx headrace doctor" where the gateway runs.',
    {
      retryAfterSeconds: 60,
    },
  )
}
