import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UpstreamReply, UpstreamRequest } from '../../src/canonical/upstream.ts'
import { joinPieces } from '../../src/core/body.ts'
import { messageJobs } from '../../src/formats/jobs/message-jobs.ts'
import { openAiBatchJobs as jobs } from '../../src/providers/openai/jobs.ts'

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../shared/recordings')
const folder = join(root, 'batch-lifecycles')
const reason = existsSync(folder)
  ? null
  : 'recorded lives of batches are not here: set HEADRACE_RECORDINGS to the folder that has batch-lifecycles'
if (reason !== null) console.log(`skipped: ${reason}`)

interface Interaction {
  request: { method: string; uri: string; body: { string?: string } }
  response: { body: { string: string } }
}

function readLife(name: string): Interaction[] {
  const text = readFileSync(join(folder, `${name}.yml`), 'utf8')
  return (Bun.YAML.parse(text) as { http_interactions: Interaction[] }).http_interactions
}

const replyOf = ({ response }: Interaction): UpstreamReply => ({
  headers: new Headers(),
  bytes: Buffer.from(response.body.string),
})

function askedOf({ request }: Interaction) {
  return `${request.method.toUpperCase()} ${new URL(request.uri).pathname.replace('/v1', '')}`
}

const sent = ({ method, path }: UpstreamRequest) => `${method} ${path}`

/** The lines of the recorded form. */
function recordedLines({ request }: Interaction): string[] {
  return (request.body.string ?? '').split(/\r?\n/).filter((line) => line.startsWith('{'))
}

const lives = [
  { name: 'openai-chat', operation: '/v1/responses', path: '/responses', object: 'response' },
  { name: 'openai-embeddings', operation: '/v1/embeddings', path: '/embeddings', object: 'list' },
]

for (const { name, operation, path, object } of lives) {
  test.skipIf(reason !== null)(`${name}: our requests are the recorded ones, and every reply is read`, () => {
    const life = readLife(name)
    const [upload, create, ...rest] = life
    const download = rest.pop()
    if (!upload || !create || !download || jobs.upload === null)
      throw new Error('a life has a beginning and an end')

    const lines = recordedLines(upload)
    const body = { contentLength: 1, open: () => new Blob(['']).stream() }
    expect(sent(jobs.upload.request('headrace-1', body, null))).toBe(askedOf(upload))
    expect(jobs.operationOf({ path, headers: {}, model: '' })).toBe(operation)
    for (const line of lines) {
      const recorded = JSON.parse(line) as { custom_id: string; body: object }
      const encoded = jobs.encodeLine({
        id: recorded.custom_id,
        operation,
        body: Buffer.from(JSON.stringify(recorded.body)),
      })
      expect(JSON.parse(Buffer.from(encoded).toString())).toEqual(recorded)
    }

    const fileId = jobs.upload.readId(replyOf(upload))
    const { metadata, ...asked } = JSON.parse(
      new TextDecoder().decode(
        joinPieces(jobs.create({ nonce: 'abc', operation, fileId, lines: null }).body as string[]),
      ),
    ) as Record<string, unknown>
    expect(asked).toEqual(JSON.parse(create.request.body.string ?? '') as Record<string, unknown>)
    // The mark by which a lost job is found; the recorded client sends none.
    expect(metadata).toEqual({ headrace_job: 'abc' })

    const { id, state } = jobs.readJob(replyOf(create))
    expect(state).toBe('running')
    for (const look of rest) {
      expect(sent(jobs.look(id))).toBe(askedOf(look))
      const { status } = JSON.parse(look.response.body.string) as { status: string }
      expect(jobs.readJob(replyOf(look)).state).toBe(status === 'completed' ? 'completed' : 'running')
    }
    const last = rest.at(-1)
    const { outputs, doneCount, problem } = jobs.readJob(replyOf(last ?? create))
    expect([outputs.length, doneCount, problem]).toEqual([1, lines.length, null])
    expect(sent(jobs.download(outputs[0] ?? ''))).toBe(askedOf(download))

    const results = download.response.body.string.split('\n').filter((line) => line !== '')
    const ids = results.map((line) => {
      const read = jobs.readLine(Buffer.from(line))
      if (read?.result.type !== 'answer') throw new Error('every recorded line is an answer')
      expect(read.result.status).toBe(200)
      const answer = JSON.parse(Buffer.from(read.result.body).toString()) as Record<string, unknown>
      expect(answer['object']).toBe(object)
      expect(answer['usage']).toBeObject()
      return read.id
    })
    expect(ids.toSorted()).toEqual(lines.map((_, index) => String(index)))
  })
}

test.skipIf(reason !== null)(
  'anthropic-chat: our requests are the recorded ones, and every reply is read',
  async () => {
    const life = readLife('anthropic-chat')
    const [create, ...rest] = life
    const download = rest.pop()
    if (!create || !download) throw new Error('a life has a beginning and an end')
    const recorded = JSON.parse(create.request.body.string ?? '') as {
      requests: { custom_id: string; params: object }[]
    }
    const encoded = recorded.requests.map(({ custom_id: id, params }) =>
      messageJobs.encodeLine({ id, operation: '/messages', body: Buffer.from(JSON.stringify(params)) }),
    )
    const bytes = Buffer.concat(encoded)
    const lines = { contentLength: bytes.length, open: () => new Blob([bytes]).stream() }
    const created = messageJobs.create({ nonce: 'abc', operation: '/messages', fileId: null, lines })
    expect(sent(created)).toBe(askedOf(create))
    if (created.body === null || !('open' in created.body)) throw new Error('the lines are streamed')
    expect(await new Response(created.body.open()).json()).toEqual(recorded)

    const { id, state } = messageJobs.readJob(replyOf(create))
    expect(state).toBe('running')
    for (const look of rest) {
      expect(sent(messageJobs.look(id))).toBe(askedOf(look))
      expect(messageJobs.readJob(replyOf(look)).state).toBe(look === rest.at(-1) ? 'completed' : 'running')
    }
    const { outputs, doneCount } = messageJobs.readJob(replyOf(rest.at(-1) ?? create))
    expect([outputs, doneCount]).toEqual([[id], recorded.requests.length])
    expect(sent(messageJobs.download(outputs[0] ?? ''))).toBe(askedOf(download))
    const read = download.response.body.string
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => messageJobs.readLine(Buffer.from(line)))
    expect(read.map((line) => line?.id)).toEqual(recorded.requests.map((request) => request.custom_id))
    for (const line of read) expect(line?.result).toMatchObject({ type: 'answer', status: 200 })
  },
)
