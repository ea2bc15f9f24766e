import { afterAll, beforeEach, expect, test } from 'bun:test'
import { createPublicFetch } from '../../src/transport/public-fetch.ts'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A server in the operator's own network that fetches addresses itself could fetch one that the caller cannot
// reach. The gateway sends it only public addresses, whatever the request's format and wherever the address is.

const allowed = 'minio.internal:9000'
const resolved: string[] = []
const addresses: Record<string, string> = {
  'files.example.test': '93.184.215.14',
  'inside.example.test': '10.1.2.3',
  'minio.internal': '10.0.0.9',
}
async function resolve(hostname: string): Promise<readonly string[]> {
  resolved.push(hostname)
  const address = addresses[hostname]
  if (address === undefined) throw new Error('no such name')
  return [address]
}

const upstream = startScriptedUpstream()
const prices = { input_per_million: '1', output_per_million: '1' }
const gateway = await startTestGateway({
  hooks: { writeLog: () => undefined, publicFetch: createPublicFetch({ allowedHosts: [allowed], resolve }) },
  providers: () => [
    customProvider(upstream.url, [
      { id: 'acme/large', prices },
      { id: 'both', upstream: 'both-inside', prices },
      { id: 'acme/vectors', modality: 'embedding', prices },
    ]),
    {
      // A server of the operator's own that is asked like a hosted provider.
      preset: 'openai',
      id: 'proxy',
      base_url: `${upstream.url}/v1`,
      api_key: 'a-key-of-the-test',
      weight: 1,
      discover: false,
      models: [{ id: 'proxied', prices }],
    },
    {
      // This server is never reached, because its name cannot be resolved here.
      preset: 'openai',
      id: 'hosted',
      base_url: 'https://hosted.example.test/v1',
      api_key: 'a-key-of-the-test',
      weight: 1,
      discover: false,
      models: [{ id: 'both', upstream: 'both-hosted', prices }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

beforeEach(() => {
  resolved.length = 0
  upstream.seen.length = 0
  upstream.answer(({ path }) => {
    if (path.endsWith('/embeddings')) {
      const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
      return Response.json({ object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } })
    }
    if (path.endsWith('/responses')) {
      const content = [{ type: 'output_text', text: 'Seen.', annotations: [] }]
      const output = [{ type: 'message', id: 'm', status: 'completed', role: 'assistant', content }]
      const usage = { input_tokens: 9, output_tokens: 2, total_tokens: 11 }
      return Response.json({ id: 'r', object: 'response', model: 'm', status: 'completed', output, usage })
    }
    const message = { role: 'assistant', content: 'Seen.' }
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
    return Response.json({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    })
  })
})

/**
 * Addresses that reach this machine, its network or a cloud's metadata service, or that programs read
 * differently.
 */
const hostile = [
  'http://127.0.0.1/a.png',
  'http://127.0.0.1:8787/v1/keys',
  'https://127.0.0.1/a.png',
  'http://localhost/a.png',
  'http://LOCALHOST:9200/_all',
  'http://127.1/a.png',
  'http://2130706433/a.png',
  'http://0x7f000001/a.png',
  'http://0x7f.0.0.1/a.png',
  'http://0177.0.0.1/a.png',
  'http://010.8.8.8/a.png',
  'http://0/a.png',
  'http://0.0.0.0/a.png',
  'http://10.0.0.1/a.png',
  'http://172.16.0.1/a.png',
  'http://192.168.1.1/a.png',
  'http://100.64.0.1/a.png',
  'http://169.254.169.254/latest/meta-data/iam',
  'http://169.254.170.2/v2/credentials',
  'http://[::1]/a.png',
  'http://[::]/a.png',
  'http://[::ffff:127.0.0.1]/a.png',
  'http://[::ffff:a9fe:a9fe]/a.png',
  'http://[64:ff9b::7f00:1]/a.png',
  'http://[fe80::1]/a.png',
  'http://[fd00:ec2::254]/a.png',
  'http://①②⑦.⓪.⓪.①/a.png',
  'http://127。0。0。1/a.png',
  'http://inside.example.test/a.png',
  'http://minio.internal:9001/a.png',
  'http://nowhere.example.test/a.png',
  'http://user:secret@files.example.test/a.png',
  'http://files.example.test\\@127.0.0.1/a.png',
  'http://files.example.test @127.0.0.1/a.png',
  'http:/127.0.0.1/a.png',
  'file:///etc/passwd',
  'file:/etc/passwd',
  'gopher://127.0.0.1:70/_',
  'ftp://10.0.0.1/a.png',
]

const image = (url: string) => ({ type: 'image_url', image_url: { url } })

/** Where addresses stand in a request, by the name that its test has. */
const places: readonly {
  name: string
  path: string
  body: (url: string) => Record<string, unknown>
  param: string
}[] = [
  {
    name: 'an image of a chat',
    path: '/chat/completions',
    body: (url) => ({ model: 'acme/large', messages: [{ role: 'user', content: [image(url)] }] }),
    param: 'messages[0].content[0].image_url.url',
  },
  {
    name: 'a video of a chat, which only some servers know',
    path: '/chat/completions',
    body: (url) => ({
      model: 'acme/large',
      messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url } }] }],
    }),
    param: 'messages[0].content[0].video_url.url',
  },
  {
    name: 'sound of a chat',
    path: '/chat/completions',
    body: (url) => ({
      model: 'acme/large',
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: url, format: 'mp3' } }] },
      ],
    }),
    param: 'messages[0].content[0].input_audio.data',
  },
  {
    name: 'an image of a responses request',
    path: '/responses',
    body: (url) => ({
      model: 'acme/large',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
    }),
    param: 'input[0].content[0].image_url',
  },
  {
    name: 'a file of a responses request at a proxy under a hosted preset',
    path: '/responses',
    body: (url) => ({
      model: 'proxied',
      input: [{ role: 'user', content: [{ type: 'input_file', file_url: url }] }],
    }),
    param: 'input[0].content[0].file_url',
  },
  {
    name: 'an image that a tool gave in a messages request',
    path: '/messages',
    body: (url) => ({
      model: 'acme/large',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              content: [{ type: 'image', source: { type: 'url', url } }],
            },
          ],
        },
      ],
    }),
    param: 'messages[2].content[0].content[0].source.url',
  },
  {
    name: 'an image to be embedded',
    path: '/embeddings',
    body: (url) => ({ model: 'acme/vectors', input: [{ content: [image(url)] }] }),
    param: 'input[0].content[0].image_url.url',
  },
  {
    name: 'the server of a tool',
    path: '/chat/completions',
    body: (url) => ({
      model: 'acme/large',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'mcp', server_label: 'x', server_url: url }],
    }),
    param: 'tools[0].server_url',
  },
]

test('there are 39 hostile addresses', () => {
  expect(new Set(hostile).size).toBe(39)
})

for (const { name, path, body, param } of places) {
  test(`${name}: none of 39 hostile addresses reaches a server of the operator's own`, async () => {
    const passed: string[] = []
    for (const url of hostile) {
      const { status, json } = await gateway.post(path, body(url))
      if (status !== 400 || at(json, 'error.param') !== param)
        passed.push(`${status} ${url} ${JSON.stringify(json)}`)
    }
    expect(passed).toEqual([])
    expect(upstream.seen).toHaveLength(0)
  })

  test(`${name}: a public address, and one of a host that the operator configured, are passed on unchanged`, async () => {
    for (const url of ['https://files.example.test/a.png?b=c', `http://${allowed}/a.png`]) {
      // Files have no place in some formats, for which they would be fetched.
      if (param.endsWith('file_url') && url.startsWith('http:')) continue
      upstream.seen.length = 0
      const { status } = await gateway.post(path, body(url))
      expect([url, status, upstream.seen[0]?.body.includes(url)]).toEqual([url, 200, true])
    }
  })
}

test('an address behind escapes, or behind megabytes of words, is found as well', async () => {
  const send = (body: string) =>
    gateway.request('/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  const hidden = (member: string, url: string, more = '') =>
    `{"model":"acme/large","messages":[{"role":"user","content":[${more}{"type":"x","${member}":{"url":"${url}"}}]}]}`
  for (const body of [
    hidden('image\\u005furl', 'http:\\/\\/127.0.0.1\\/a'),
    hidden('image_url', 'http:\\u002f/127.0.0.1/a'),
    `{"model":"acme/large","messages":[{"role":"user","content":[{"type":"x","im\\u0061ge_u\\u0072l":"http://127.0.0.1/a"}]}]}`,
    hidden('image_url', `http://127.0.0.1/${'a'.repeat(9_000)}`),
    hidden('image_url', 'http://127.0.0.1/a', `{"type":"text","text":"${'many words '.repeat(300_000)}"},`),
    `{"model":"acme/large","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"http://127.0.0.1/${'a'.repeat(3_000_000)}"}}]}]}`,
  ]) {
    const { status } = await send(body)
    expect([body.slice(0, 120), status]).toEqual([body.slice(0, 120), 400])
  }
  expect(upstream.seen).toHaveLength(0)
})

test('each host is resolved once, and more than twenty of them are refused unresolved', async () => {
  const many = (count: number, host: (index: number) => string) => ({
    model: 'acme/large',
    messages: [
      {
        role: 'user',
        content: Array.from({ length: count }, (_, index) => image(`https://${host(index)}/${index}.png`)),
      },
    ],
  })
  const same = await gateway.post(
    '/chat/completions',
    many(50, () => 'files.example.test'),
  )
  expect([same.status, resolved]).toEqual([200, ['files.example.test']])
  resolved.length = 0
  const { status, json } = await gateway.post(
    '/chat/completions',
    many(21, (index) => `h${index}.example.test`),
  )
  expect([status, at(json, 'error.param'), resolved]).toEqual([
    400,
    'messages[0].content[20].image_url.url',
    [],
  ])
})

test('addresses in texts, citations and tool calls are never fetched', async () => {
  const call = { name: 'open', arguments: '{"url":"http://127.0.0.1/"}' }
  const citation = { type: 'url_citation', url_citation: { url: 'http://127.0.0.1/', title: 'x' } }
  const { status } = await gateway.post('/chat/completions', {
    model: 'acme/large',
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'see http://127.0.0.1/ and "image_url"' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: call }],
        annotations: [citation],
      },
      { role: 'tool', tool_call_id: 'c', content: 'http://127.0.0.1/' },
    ],
  })
  expect([status, resolved]).toEqual([200, []])
})

test('a call that may go elsewhere goes there, and a call without addresses asks no resolver', async () => {
  const messages = [{ role: 'user', content: [image('http://inside.example.test/a.png')] }]
  const { json } = await gateway.post('/chat/completions', {
    model: 'both',
    messages,
    provider: { order: ['acme'] },
  })
  // The hosted one was asked and cannot be reached; the server inside was not.
  expect([at(json, 'error.code'), upstream.seen.length]).toEqual([502, 0])
  resolved.length = 0
  const plain = { model: 'acme/large', messages: [{ role: 'user', content: 'an "image_url" in words' }] }
  expect([(await gateway.post('/chat/completions', plain)).status, resolved]).toEqual([200, []])
})

test('items of a batch are checked too, each with an error of its own', async () => {
  const item = (url: string) => ({ messages: [{ role: 'user', content: [image(url)] }] })
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'acme/large',
    requests: [
      { custom_id: 'public', body: item('https://files.example.test/a.png') },
      { custom_id: 'inside', body: item('http://169.254.169.254/latest/meta-data') },
    ],
  })
  expect(created.status).toBe(202)
  const { json } = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
  )
  const results = json['results'] as Record<string, unknown>[]
  const of = (id: string) => results.find((result) => result['custom_id'] === id)
  expect(at(of('public'), 'response.status_code')).toBe(200)
  expect(at(of('inside'), 'error')).toMatchObject({
    type: 'invalid_request',
    param: 'messages[0].content[0].image_url.url',
  })
  expect(upstream.seen).toHaveLength(1)
})
