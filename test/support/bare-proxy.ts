import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sparePort } from '../../bench/harness/processes.ts'
import { rootFolder } from '../tidy/sources.ts'

const patienceMs = 10_000

/** A stream whose last event has the usage, as a provider of the bench sends it. */
export const stream =
  'data: {"choices":[{"index":0,"delta":{"content":"one"}}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}\n\n' +
  'data: [DONE]\n\n'

/**
 * What a caller of `bench/bare-proxy.ts` receives of that stream, when its upstream sends it in two pieces cut at `at`;
 * null when the stream does not end.
 */
export async function readThroughBareProxy(at: number): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-bare-'))
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(inTwo(at), { headers: { 'content-type': 'text/event-stream' } }),
  })
  const port = sparePort()
  const proxy = Bun.spawn(
    [
      process.execPath,
      join(rootFolder, 'bench/bare-proxy.ts'),
      ...[port, 0, upstream.port].map(String),
      join(folder, 'bare.db'),
    ],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  )
  try {
    await untilItAnswers(`http://127.0.0.1:${port}/`)
    const response = await fetch(`http://127.0.0.1:${port}/1/v1/chat/completions`, {
      method: 'POST',
      body: '{"model":"bench"}',
      signal: AbortSignal.timeout(patienceMs),
    })
    return await response.text().catch(() => null)
  } finally {
    proxy.kill('SIGKILL')
    await proxy.exited
    await upstream.stop(true)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function* inTwo(at: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(stream.slice(0, at))
  // Long enough for the first piece to leave by itself.
  await Bun.sleep(200)
  yield Buffer.from(stream.slice(at))
}

async function untilItAnswers(url: string): Promise<void> {
  for (const endMs = performance.now() + patienceMs; performance.now() < endMs; await Bun.sleep(20)) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return
  }
  throw new Error('the bare proxy never answered')
}
