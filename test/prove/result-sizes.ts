import { megabytes } from '../../bench/harness/figures.ts'
import { prepareGateway, type RealGateway } from '../story/real-gateway.ts'
import { startS3 } from '../support/s3-server.ts'
import type { ProofResult } from './proof.ts'

const key = 'prove-inference-key-00000000000001'
const model = 'big/answer'
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const itemBytes = 20_000_000
const answers = { count: 4_000, bytes: 256_000 }
const waitMsMax = 900_000
/** docs/design.md, "Budgets". */
const growthBytesMax = 64_000_000
const speedMin = 100

/** Answers every request with the same long text, which does not compress well; `longestBytes` is the longest request. */
function startProvider(): { url: string; longestBytes: () => number; stop(): Promise<void> } {
  const content = Buffer.from(crypto.getRandomValues(new Uint8Array(49_152))).toString('base64')
  const body = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'answer',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: content.repeat(4).slice(0, answers.bytes) },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 64_000, total_tokens: 64_010 },
  })
  let longest = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 * itemBytes,
    async fetch(request) {
      longest = Math.max(longest, (await request.arrayBuffer()).byteLength)
      return new Response(body, { headers: { 'content-type': 'application/json' } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    longestBytes: () => longest,
    stop: () => server.stop(true),
  }
}

async function runBatch(gateway: RealGateway, requests: readonly unknown[]): Promise<string> {
  const response = await fetch(`${gateway.baseUrl}/batches`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ endpoint: '/v1/chat/completions', model, requests }),
  })
  const { id } = (await response.json()) as { id: string }
  if (response.status !== 202) throw new Error(`not accepted: ${response.status}`)
  const endMs = performance.now() + waitMsMax
  while (performance.now() < endMs) {
    const listed = await fetch(`${gateway.baseUrl}/batches?limit=10`, { headers })
    const { data } = (await listed.json()) as {
      data: { id: string; status: string; request_counts: { failed: number } }[]
    }
    const batch = data.find((one) => one.id === id)
    if (batch?.request_counts.failed) throw new Error(`${batch.request_counts.failed} items failed`)
    if (batch?.status === 'completed') return id
    await Bun.sleep(500)
  }
  throw new Error('a batch did not end in time')
}

const itemOf = (name: string, content: string) => ({
  custom_id: name,
  body: { messages: [{ role: 'user', content }] },
})

async function download(gateway: RealGateway, path: string): Promise<{ bytes: number; ms: number }> {
  const startMs = performance.now()
  const response = await fetch(`${gateway.baseUrl}${path}`, { headers })
  if (!response.ok || response.body === null) throw new Error(`results were answered ${response.status}`)
  let bytes = 0
  for await (const chunk of response.body) bytes += chunk.byteLength
  return { bytes, ms: performance.now() - startMs }
}

/** One item of 20 MB, and results of 1 GB read twice, with payloads in a folder and on S3. */
export async function measureSizes(): Promise<ProofResult> {
  const server = await startS3()
  try {
    const folder = await measureHome('a folder', {})
    const s3 = await measureHome('S3', server.environmentOf(server.makeBucket()))
    const isGood = folder.isGood && s3.isGood
    return { status: isGood ? 'PASS' : 'FAIL', figures: [...folder.figures, ...s3.figures] }
  } finally {
    await server.stop()
  }
}

async function measureHome(
  name: string,
  env: Record<string, string>,
): Promise<{ isGood: boolean; figures: string[] }> {
  const provider = startProvider()
  const gateway = prepareGateway({
    providers: [
      {
        preset: 'custom',
        id: 'big',
        base_url: provider.url,
        discover: false,
        models: [{ id: model, upstream: 'answer' }],
      },
    ],
  })
  const started = { ...env, HEADRACE_BOOTSTRAP_KEY: key }
  try {
    await gateway.start(started)
    await runBatch(gateway, [itemOf('large', 'x'.repeat(itemBytes))])
    const isWhole = provider.longestBytes() >= itemBytes
    const requests = Array.from({ length: answers.count }, (_, index) => itemOf(`item-${index}`, 'go'))
    const id = await runBatch(gateway, requests)
    // Peaks of running the items are none of reading their results.
    await gateway.end('SIGTERM')
    await gateway.start(started)
    await download(gateway, '/models')
    const before = gateway.peakBytes()
    const inline = await download(gateway, `/batches/${id}`)
    const lines = await download(gateway, `/batches/${id}/results`)
    const grown = gateway.peakBytes() - before
    const speeds = [inline, lines].map(({ bytes, ms }) => bytes / 1e6 / (ms / 1000))
    return {
      isGood: isWhole && grown <= growthBytesMax && speeds.every((speed) => speed >= speedMin),
      figures: [
        `payloads in ${name}: an item of ${megabytes(itemBytes)} ${isWhole ? 'reached its provider whole' : 'did not reach its provider'}`,
        `payloads in ${name}: results of ${megabytes(inline.bytes)} in the order of the input at ${speeds[0]?.toFixed(0)} MB/s, line by line at ${speeds[1]?.toFixed(0)} MB/s, grown by ${megabytes(grown)}`,
      ],
    }
  } finally {
    await gateway.remove()
    await provider.stop()
  }
}
