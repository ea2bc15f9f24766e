import { ingestWritesMax, segmentBytesMax, segmentItemsMax } from './segment-writer.ts'
import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { model, noJobs, resolveBatch, streamOf } from '../../../test/simulation/batches-world.ts'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { LossyFileLayer } from '../../../test/support/lossy-file-layer.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { batchBodyBytesMax } from '../../core/limits/batches.ts'
import { batchModelsMax } from '../../formats/batch/item-checks.ts'
import { contractForm, messagesForm } from '../../formats/batch/item-form.ts'
import { FolderBlobStore } from '../../storage/blobs/folder-blob-store.ts'
import type { ResolveBatch } from '../item-contract.ts'
import type { JobItems } from '../lanes/native/job-contract.ts'
import type { Payloads } from '../results/payloads.ts'
import { createPayloads } from '../results/payloads.ts'
import type { Ingested, IngestRequest } from './ingest.ts'
import { ingestBatch } from './ingest.ts'

const endpoint = '/v1/chat/completions'
const item = (customId: unknown, body: unknown = {}): string => JSON.stringify({ custom_id: customId, body })
const head = `"endpoint":"${endpoint}","model":"${model}"`

interface Disk {
  files: LossyFileLayer
  payloads: Payloads
}

function newDisk(): Disk {
  const files = new LossyFileLayer()
  const blobs = new FolderBlobStore('/blobs', { files })
  return { files, payloads: createPayloads({ blobs, nowMs: () => systemClock.nowMs(), crash: null }) }
}

function ingest(
  body: string | Uint8Array | ReadableStream<Uint8Array>,
  change: Partial<IngestRequest> = {},
  options: { disk?: Disk; resolve?: ResolveBatch; jobItems?: JobItems; itemsMax?: number } = {},
): Promise<Ingested> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return ingestBatch(
    {
      batchId: 'batch_1',
      principal: principalOf(),
      betas: null,
      body: bytes instanceof ReadableStream ? bytes : streamOf(bytes, 1_000),
      contentEncoding: null,
      contentLength: null,
      wantsHash: false,
      form: contractForm,
      isDryRun: false,
      ...change,
    },
    {
      payloads: (options.disk ?? newDisk()).payloads,
      resolveBatch: options.resolve ?? resolveBatch,
      jobItems: options.jobItems ?? noJobs,
      callbacks: { check: () => Promise.resolve() },
      limits: { items: options.itemsMax ?? null, queuedItems: null },
    },
  )
}

async function refusal(...args: Parameters<typeof ingest>): Promise<GatewayError> {
  const disk = args[2]?.disk ?? newDisk()
  try {
    await ingest(args[0], args[1], { ...args[2], disk })
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    expect(disk.files.paths()).toEqual([])
    return thrown
  }
  throw new Error('the upload was accepted')
}

async function storedItems(upload: Ingested, disk: Disk): Promise<unknown[]> {
  const contents = await Promise.all(upload.segments.map(({ blob }) => disk.payloads.read(blob)))
  return contents.flatMap((content) =>
    content
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown),
  )
}

describe('an upload', () => {
  test('is stored item by item, with its estimated cost', async () => {
    const disk = newDisk()
    const upload = await ingest(`{${head},"requests":[${item('a', { n: 1 })},\n${item('b')}]}`, {}, { disk })
    expect(upload).toMatchObject({
      endpoint,
      model,
      totalItems: 2,
      estimate: 2_000n,
      worstCase: 4_000n,
      dropped: [],
    })
    expect(await storedItems(upload, disk)).toEqual([
      { custom_id: 'a', body: { n: 1 } },
      { custom_id: 'b', body: {} },
    ])
    await upload.discard()
    expect(disk.files.paths()).toEqual([])
  })

  test('with more items than the operator allows is refused, and with as many it is not', async () => {
    const of = (count: number) =>
      `{${head},"requests":[${Array.from({ length: count }, (_, index) => item(`item-${index}`)).join(',')}]}`
    expect((await ingest(of(3), {}, { itemsMax: 3 })).totalItems).toBe(3)
    expect(await refusal(of(4), {}, { itemsMax: 3 })).toMatchObject({
      type: 'payload_too_large',
      param: 'requests',
      message: 'This gateway takes at most 3 requests in one batch; send the others as another one.',
    })
    expect((await ingest(of(4), { isDryRun: true }, { itemsMax: 4 })).totalItems).toBe(4)
    expect((await refusal(of(5), { isDryRun: true }, { itemsMax: 4 })).type).toBe('payload_too_large')
  })

  test('may have its members in any order', async () => {
    const disk = newDisk()
    const text = `{"requests":[${item('a')},${item('b', { model })}],"provider":{"only":["maker"]},"model":"${model}","x":1,"endpoint":"${endpoint}"}`
    const upload = await ingest(text, {}, { disk })
    expect(upload).toMatchObject({ providerOnly: ['maker'], totalItems: 2, estimate: 2_000n, dropped: ['x'] })
    expect(await storedItems(upload, disk)).toHaveLength(2)
  })

  test('is resolved with the provider that it names, wherever in the body the name is', async () => {
    const asked: unknown[] = []
    const resolve: ResolveBatch = async (question) => {
      asked.push(question.providerOnly)
      return resolveBatch(question)
    }
    await ingest(`{${head},"requests":[${item('a')}],"provider":{"only":["maker"]}}`, {}, { resolve })
    expect(asked).toEqual([null, ['maker']])
  })

  test('is cut into segments by items and by bytes, keeping the order', async () => {
    const disk = newDisk()
    const small = Array.from({ length: segmentItemsMax + 1 }, (_, index) => item(`s${index}`))
    const large = Array.from({ length: 3 }, (_, index) =>
      item(`l${index}`, { t: 'x'.repeat(segmentBytesMax / 2) }),
    )
    const upload = await ingest(
      streamOf(Buffer.from(`{${head},"requests":[${[...small, ...large]}]}`), 1 << 20),
      {},
      { disk },
    )
    expect(upload.segments.map((segment) => [segment.ordinal, segment.firstItem, segment.itemCount])).toEqual(
      [
        [0, 0, segmentItemsMax],
        [1, segmentItemsMax, 2],
        [2, segmentItemsMax + 2, 1],
        [3, segmentItemsMax + 3, 1],
      ],
    )
    const ids = (await storedItems(upload, disk)).map((stored) => (stored as { custom_id: string }).custom_id)
    expect(ids).toEqual(
      [...small, ...large].map((text) => (JSON.parse(text) as { custom_id: string }).custom_id),
    )
  })

  test('survives a power cut once it is ingested', async () => {
    const disk = newDisk()
    const upload = await ingest(`{${head},"requests":[${item('a')}]}`, {}, { disk })
    disk.files.crash()
    expect(await storedItems(upload, disk)).toHaveLength(1)
  })

  test('that is only estimated writes nothing, in any order of members', async () => {
    for (const text of [`{${head},"requests":[${item('a')}]}`, `{"requests":[${item('a')}],${head}}`]) {
      const disk = newDisk()
      const upload = await ingest(text, { isDryRun: true }, { disk })
      expect(upload).toMatchObject({ totalItems: 1, estimate: 1_000n, segments: [] })
      expect(disk.files.paths()).toEqual([])
    }
  })

  test('that its caller breaks off leaves nothing', async () => {
    const disk = newDisk()
    const bytes = Buffer.from(
      `{${head},"requests":[${Array.from({ length: 3_000 }, (_, index) => item(`i${index}`))}`,
    )
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent >= bytes.length) return controller.error(new Error('the caller hung up'))
        controller.enqueue(bytes.slice(sent, sent + 10_000))
        sent += 10_000
      },
    })
    expect(await refusal(body, {}, { disk })).toMatchObject({ type: 'upload_broken', status: 400 })
    expect(disk.files.paths()).toEqual([])
  })

  test('that falls silent is given up, compressed or not', async () => {
    for (const contentEncoding of [null, 'gzip']) {
      const bytes = Buffer.from(`{${head},"requests":[${item('a')}`)
      let pulls = 0
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (pulls++ > 0) return new Promise<void>(() => undefined)
          controller.enqueue(contentEncoding === null ? bytes : gzipSync(bytes).subarray(0, 20))
          return undefined
        },
      })
      const error = await refusal(body, { contentEncoding, idleMs: 1_000 })
      expect(error).toMatchObject({
        status: 400,
        message: 'No data arrived for 1 seconds. Send the batch again.',
      })
    }
  })

  test('that trickles is given up', async () => {
    const trickling = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('{')),
      async pull(controller) {
        await Bun.sleep(20)
        controller.enqueue(Buffer.from(' '))
      },
    })
    const error = await refusal(trickling, { contentEncoding: null, idleMs: 1_500 })
    expect(error).toMatchObject({ type: 'upload_broken', status: 400 })
    expect(error.message).toMatch(/^Only \d+ bytes arrived in \d+(?:\.\d+)? seconds\. Send the batch again/)
  })

  test('that the disk has no room for leaves nothing', async () => {
    const disk = newDisk()
    disk.files.failNext('write', 'ENOSPC')
    const error = await refusal(`{${head},"requests":[${item('a')}]}`, {}, { disk })
    expect(error.type).toBe('storage_unavailable')
  })

  test('is not read faster than it is written', async () => {
    const disk = newDisk()
    let writing = 0
    let most = 0
    const payloads: Payloads = {
      ...disk.payloads,
      async putSegment(batchId, content) {
        most = Math.max(most, ++writing)
        await new Promise((resolve) => setImmediate(resolve))
        const written = await disk.payloads.putSegment(batchId, content)
        writing--
        return written
      },
    }
    const items = Array.from({ length: segmentItemsMax * 20 }, (_, index) => item(`i${index}`))
    await ingest(`{${head},"requests":[${items}]}`, {}, { disk: { files: disk.files, payloads } })
    expect(most).toBeGreaterThan(1)
    // One slice of the body may complete more than one segment before there is a chance to wait.
    expect(most).toBeLessThanOrEqual(ingestWritesMax + 2)
  })
})

describe('a compressed upload', () => {
  const text = Buffer.from(
    `{${head},"requests":[${Array.from({ length: 500 }, (_, index) => item(`i${index}`))}]}`,
  )
  const encodings = [
    ['gzip', gzipSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['br', brotliCompressSync(text)],
    ['deflate', deflateSync(text)],
    ['identity', text],
    ['GZIP', gzipSync(text)],
  ] as const

  test.each(encodings)('in %s is read', async (contentEncoding, bytes) => {
    expect(await ingest(bytes, { contentEncoding })).toMatchObject({
      totalItems: 500,
      requestBytes: text.length,
    })
  })

  test.each(encodings.filter(([name]) => name !== 'identity'))(
    'in %s that is cut off or broken is refused',
    async (contentEncoding, bytes) => {
      for (const broken of [
        bytes.subarray(0, bytes.length - 20),
        Buffer.concat([Buffer.from('xx'), bytes]),
      ]) {
        expect(await refusal(broken, { contentEncoding })).toMatchObject({ status: 400 })
      }
    },
  )

  test('in an unknown encoding is refused before it is read', async () => {
    const error = await refusal(text, { contentEncoding: 'snappy' })
    expect(error).toMatchObject({ type: 'invalid_request' })
    expect(error.message).toContain('gzip, deflate, br, zstd')
  })

  test('counts its bytes after decompression', async () => {
    const bomb = zstdCompressSync(Buffer.alloc(batchBodyBytesMax + 1, 0x20))
    expect(await refusal(streamOf(bomb, 1 << 16), { contentEncoding: 'zstd' })).toMatchObject({ status: 413 })
  })

  test('that is refused early is answered although its sender waits for the answer before it sends more', async () => {
    const bytes = gzipSync(Buffer.alloc(batchBodyBytesMax + 1, 0x20))
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(bytes)),
      cancel: () => void (isCancelled = true),
    })
    const idleMs = 30_000
    expect(await refusal(body, { contentEncoding: 'gzip', idleMs })).toMatchObject({ status: 413 })
    expect(isCancelled).toBe(true)
  }, 20_000)
})

describe('the size limit', () => {
  const before = `{${head},"pad":"`
  const after = `","requests":[${item('a')}]}`

  function padded(total: number): ReadableStream<Uint8Array> {
    const paddingBytes = 1_000_000
    let left = total - before.length - after.length
    let state = 0
    return new ReadableStream({
      pull(controller) {
        if (state === 0) {
          state = 1
          return controller.enqueue(Buffer.from(before))
        }
        if (left > 0) {
          controller.enqueue(Buffer.alloc(Math.min(left, paddingBytes), 0x78))
          left -= paddingBytes
        } else if (state === 1) {
          state = 2
          controller.enqueue(Buffer.from(after))
        } else controller.close()
      },
    })
  }

  test('accepts exactly 200,000,000 bytes and not one more', async () => {
    expect(batchBodyBytesMax).toBe(200_000_000)
    expect(await ingest(padded(200_000_000))).toMatchObject({ requestBytes: 200_000_000, totalItems: 1 })
    const error = await refusal(padded(200_000_001))
    expect(error).toMatchObject({ type: 'payload_too_large', status: 413 })
    expect(error.message).toContain('200,000,000 bytes')
  })

  test('is known from the length, without reading', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({ pull: () => void pulled++ }, { highWaterMark: 0 })
    expect(await refusal(body, { contentLength: 200_000_001 })).toMatchObject({ status: 413 })
    expect(pulled).toBe(0)
  })

  test('is judged before faults of the content, when the length is not known before', async () => {
    const bad = Buffer.concat([Buffer.from('{"a" 1'), Buffer.alloc(200_000_000, 0x20)])
    expect(await refusal(streamOf(bad, 1 << 20))).toMatchObject({ status: 413 })
  })

  test('does not delay a caller whose body is known to be small enough', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(Buffer.from(pulled === 1 ? '{"endpoint":"/v2","x":"' : 'x'.repeat(1_000)))
      },
    })
    expect(await refusal(body, { contentLength: 100_000_000 })).toMatchObject({
      status: 400,
      param: 'endpoint',
    })
    expect(pulled).toBeLessThan(5)
  })
})

describe('an item', () => {
  const one = (text: string): string => `{${head},"requests":[${item('ok')},${text}]}`
  const rows: [what: string, text: string, status: number, message: string][] = [
    ['without custom_id', '{"body":{}}', 400, 'requests[1].custom_id is required.'],
    ['with a number for custom_id', item(7), 400, 'requests[1].custom_id must be a string.'],
    ['with null for custom_id', item(null), 400, 'requests[1].custom_id must be a string.'],
    ['with an empty custom_id', item(''), 400, 'requests[1].custom_id must not be empty.'],
    ['without body', '{"custom_id":"b"}', 400, 'requests[1].body is required.'],
    ['with an array for body', item('b', []), 400, 'requests[1].body must be an object.'],
    ['that is no object', '7', 400, 'requests[1] must be an object with custom_id and body.'],
    ['that is an array', '[]', 400, 'requests[1] must be an object with custom_id and body.'],
    [
      'that is broken inside',
      '{"custom_id":"b","body":{"x":tru}}',
      400,
      'requests[1] is not valid JSON: a value was expected (line 1, column ',
    ],
    ['that streams', item('b', { stream: true }), 400, 'requests[1].body.stream must not be true'],
    ['of another model', item('b', { model: 'maker/other' }), 400, 'requests[1].body.model is "maker/other"'],
    ['whose model is no string', item('b', { model: 7 }), 400, 'requests[1].body.model must be a string.'],
    ['whose custom_id is taken', item('ok'), 422, 'requests[1].custom_id "ok" is a duplicate'],
    [
      'whose custom_id is too long',
      item('x'.repeat(65)),
      422,
      'requests[1].custom_id must have at most 64 characters.',
    ],
    [
      'whose custom_id has a newline',
      item('a\nb'),
      422,
      'requests[1].custom_id must not contain control characters.',
    ],
    ['whose custom_id has a C1 control', item('a\u0085b'), 422, 'must not contain control characters.'],
  ]
  test.each(rows)('%s is refused', async (_what, text, status, message) => {
    const error = await refusal(one(text))
    expect(error.status).toBe(status)
    expect(error.message).toContain(message)
    expect(await refusal(`{"requests":[${item('ok')},${text}],${head}}`)).toMatchObject({ status })
  })

  test('with broken UTF-8 is refused', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`{${head},"requests":[{"custom_id":"a","body":{"t":"`),
      Buffer.from([0xff]),
      Buffer.from('"}}]}'),
    ])
    expect(await refusal(bytes)).toMatchObject({
      status: 400,
      message: 'requests[0] is not text in UTF-8.',
    })
  })

  test.each([
    ['a custom_id of 64 characters outside the basic plane', item('𝄞'.repeat(64))],
    ['the batch’s model', item('b', { model })],
    ['the batch’s model with its batch variant', item('b', { model: `${model}:batch` })],
    ['stream false', item('b', { stream: false })],
    ['members nobody knows', '{"custom_id":"b","method":"POST","body":{"unknown":[1]}}'],
  ])('with %s is accepted', async (_what, text) => {
    expect(await ingest(one(text))).toMatchObject({ totalItems: 2 })
  })

  test('too large to be kept is accepted with its id only, and later fails by itself', async () => {
    const disk = newDisk()
    function* chunks(start: string): Generator<Uint8Array> {
      yield Buffer.from(`{${head},"requests":[${start}`)
      for (let sent = 0; sent < 33; sent++) yield Buffer.alloc(1_000_000, 0x78)
      yield Buffer.from(`"}},${item('next')}]}`)
    }
    const stream = (start: string): ReadableStream<Uint8Array> => {
      const source = chunks(start)
      return new ReadableStream({
        pull(controller) {
          const next = source.next()
          if (next.done) controller.close()
          else controller.enqueue(next.value)
        },
      })
    }
    const upload = await ingest(stream('{"custom_id":"big","body":{"t":"'), {}, { disk })
    expect(await storedItems(upload, disk)).toEqual([{ custom_id: 'big' }, { custom_id: 'next', body: {} }])
    expect(await refusal(stream('{"body":{"t":"'))).toMatchObject({ status: 413, param: 'requests[0]' })
  })
})

describe('the batch', () => {
  const requests = `"requests":[${item('a')}]`
  const rows: [what: string, text: string, status: number, message: string][] = [
    ['without endpoint', `{"model":"${model}",${requests}}`, 400, 'endpoint is required.'],
    ['without model', `{"endpoint":"${endpoint}",${requests}}`, 400, 'model is required.'],
    ['without requests', `{${head}}`, 400, 'requests is required.'],
    ['without a single item', `{${head},"requests":[]}`, 400, 'requests must have at least one item.'],
    [
      'with an unknown endpoint',
      `{"endpoint":"/v1/x","model":"${model}",${requests}}`,
      400,
      'endpoint must be one of',
    ],
    [
      'with an empty model',
      `{"endpoint":"${endpoint}","model":"",${requests}}`,
      400,
      'model must be a model id',
    ],
    [
      'with a number for model',
      `{"endpoint":"${endpoint}","model":1,${requests}}`,
      400,
      'model must be a model id',
    ],
    [
      'of an unknown model',
      `{"endpoint":"${endpoint}","model":"x/y",${requests}}`,
      400,
      "Model 'x/y' does not have",
    ],
    [
      'with another window',
      `{${head},"completion_window":"1h",${requests}}`,
      400,
      'completion_window must be "24h".',
    ],
    [
      'with a stray provider member',
      `{${head},"provider":{"order":[]},${requests}}`,
      400,
      'provider.order is not allowed',
    ],
    [
      'with a provider that is no object',
      `{${head},"provider":"x",${requests}}`,
      400,
      'provider must be an object',
    ],
    [
      'with a provider list of numbers',
      `{${head},"provider":{"only":[1]},${requests}}`,
      400,
      'provider.only must be',
    ],
    [
      'with a senseless limit',
      `{${head},"headrace":{"max_cost":-1},${requests}}`,
      400,
      'headrace.max_cost must be',
    ],
    [
      'with an unknown option',
      `{${head},"headrace":{"speed":1},${requests}}`,
      400,
      'headrace.speed is unknown',
    ],
    ['with a member twice', `{${head},"model":"x",${requests}}`, 400, '"model" appears twice'],
    [
      'with a variant that searches',
      `{"endpoint":"${endpoint}","model":"${model}:online",${requests}}`,
      422,
      ':online',
    ],
    ['left without a provider', `{${head},"provider":{"only":[]},${requests}}`, 404, 'No provider is left.'],
    [
      'that policy blocks',
      `{${head},"provider":{"only":["blocked"]},${requests}}`,
      403,
      'Blocked by policy.',
    ],
  ]
  test.each(rows)('%s is refused', async (_what, text, status, message) => {
    const error = await refusal(text)
    expect(error.status).toBe(status)
    expect(error.message).toContain(message)
  })

  test.each([
    '"completion_window":"24h"',
    '"provider":null',
    '"provider":{"only":null}',
    '"headrace":null',
    '"headrace":{"max_cost":"2.5"}',
  ])('with %s is accepted', async (member) => {
    expect(await ingest(`{${head},${member},${requests}}`)).toMatchObject({ totalItems: 1 })
  })

  // The order is 413, 400, 422, 404, 403; the size has its own tests.
  test('with several faults is refused for the most important one', async () => {
    const duplicate = `${item('a')},${item('a')}`
    const faults = {
      400: `{${head},"requests":[${duplicate},{"body":{}}],"provider":{"only":["blocked"]}}`,
      422: `{${head},"requests":[${duplicate}],"provider":{"only":["blocked"]}}`,
      403: `{${head},"requests":[${item('a')}],"provider":{"only":["blocked"]}}`,
    }
    for (const [status, text] of Object.entries(faults))
      expect((await refusal(text)).status).toBe(Number(status))
  })

  test('of an unknown model is refused for that before a duplicate id', async () => {
    const text = `{"endpoint":"${endpoint}","model":"x/y","requests":[${item('a')},${item('a')}]}`
    expect(await refusal(text)).toMatchObject({ type: 'model_not_found' })
  })

  test('names the first item whose model differs, wherever the batch’s model stands', async () => {
    const items = [item('a'), item('b', { model: 'x/1' }), item('c', { model }), item('d', { model: 'x/2' })]
    const text = `{"requests":[${items}],${head}}`
    expect((await refusal(text)).message).toStartWith('requests[1].body.model is "x/1"')
    const other = `{"requests":[${items.slice(2)}],${head}}`
    expect((await refusal(other)).message).toStartWith('requests[1].body.model is "x/2"')
  })
})

describe('a batch in Anthropic’s form', () => {
  const params = { model, max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
  const request = (customId: string, change: object = {}) => ({
    custom_id: customId,
    params: { ...params, ...change },
  })
  const form = messagesForm
  const bodyOf = (requests: unknown[], more: object = {}) => JSON.stringify({ requests, ...more })

  test('is stored in the contract’s form, under the model that its items name', async () => {
    const disk = newDisk()
    const text = bodyOf([request('a'), { params, note: { custom_id: 'x' }, custom_id: 'b' }])
    const upload = await ingest(text, { form }, { disk })
    expect([upload.endpoint, upload.model, upload.totalItems]).toEqual(['/v1/messages', model, 2])
    const [segment] = upload.segments
    const lines = (await disk.payloads.read(segment?.blob ?? '')).toString().trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { custom_id: 'a', body: params },
      { custom_id: 'b', body: params },
    ])
  })

  test('reads headrace beside the requests, and ignores the contract’s own members', async () => {
    const more = { headrace: { lane: 'flex' }, endpoint: '/v1/embeddings', model: 'other' }
    const upload = await ingest(bodyOf([request('a')], more), { form })
    expect([upload.endpoint, upload.model, upload.laneChoice]).toEqual(['/v1/messages', model, 'flex'])
    expect(upload.dropped).toEqual(['endpoint', 'model'])
  })

  test('of several models has segments of each, and costs what they cost together', async () => {
    const disk = newDisk()
    const prices: Record<string, bigint> = { one: 3n, two: 500n }
    const asked: unknown[] = []
    const resolve: ResolveBatch = async (question) => {
      asked.push([question.model, question.items])
      const resolved = await resolveBatch({ ...question, model })
      const price = prices[question.model] ?? 0n
      const estimateItem = () => ({ estimate: price, worstCase: 2n * price })
      return { ...resolved, offers: [{ lane: 'emulated', estimateItem }] }
    }
    const requests = ['one', 'two', 'one', 'two', 'one'].map((name, place) =>
      request(`${place}`, { model: name }),
    )
    const upload = await ingest(bodyOf(requests), { form }, { disk, resolve })
    expect([upload.model, upload.totalItems, upload.estimate, upload.worstCase]).toEqual([
      'one',
      5,
      1_009n,
      2_018n,
    ])
    expect(upload.models).toEqual([
      { model: 'one', items: 3, lane: 'emulated' },
      { model: 'two', items: 2, lane: 'emulated' },
    ])
    expect(asked).toEqual([
      ['one', 3],
      ['two', 2],
    ])
    expect(
      upload.segments.map(({ ordinal, firstItem, itemCount }) => [ordinal, firstItem, itemCount]),
    ).toEqual([
      [0, 0, 3],
      [1, 3, 2],
    ])
    const stored = (await storedItems(upload, disk)) as { custom_id: string }[]
    expect(stored.map((each) => each.custom_id)).toEqual(['0', '2', '4', '1', '3'])
  })

  test('of more models than a batch may have is refused, and the item is named', async () => {
    const requests = Array.from({ length: batchModelsMax + 1 }, (_, place) =>
      request(`${place}`, { model: `model-${place}` }),
    )
    const error = await refusal(bodyOf(requests), { form })
    expect([error.status, error.param]).toEqual([400, `requests[${batchModelsMax}].params.model`])
  })

  test.each([
    ['requests[0].params.model', [request('a', { model: undefined })]],
    ['requests[0].params.model', [request('a', { model: 5 })]],
    ['requests[0].params', [{ custom_id: 'a', body: params }]],
    ['requests[0].params.stream', [request('a', { stream: true })]],
    ['model', [request('a', { model: 'x'.repeat(1_000) })]],
  ])('is refused for %s', async (param, requests) => {
    const error = await refusal(bodyOf(requests), { form })
    expect([error.status, error.param]).toEqual([400, param])
  })
})
