import { observation, type Check } from '../observations.ts'
import {
  acme,
  choicesOf,
  eventsOf,
  withUpstream,
  type Received,
  type GatewayBefore,
} from '../upstream-row.ts'

const prices = { input_per_million: '1', output_per_million: '2' }
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const models = [
  { id: 'acme/chat', modality: 'language', prices },
  { id: 'acme/hear', modality: 'transcription', prices: { audio_per_hour: '0.36' } },
  { id: 'acme/speak', modality: 'speech', prices: { characters_per_million: '15' } },
]
const messages = [{ role: 'user', content: 'hi' }]
const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'chat' }
const said = { role: 'assistant', content: 'Hello.' }
const chat = (choice: object) =>
  Response.json({ id: 'c', choices: [{ index: 0, finish_reason: 'stop', ...choice }], usage })

/** One silent MPEG 1 layer III frame at 128 kbit/s and 44,100 Hz. */
const mpegFrame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)])

/** Half a second of silence. */
function wave(): string {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + 16_000, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(16_000, 24)
  header.writeUInt32LE(32_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(16_000, 40)
  return Buffer.concat([header, Buffer.alloc(16_000)]).toString('base64')
}

async function logprobs({ upstream, post }: GatewayBefore): Promise<Check> {
  const token = { token: 'Hello', logprob: -0.1 }
  upstream.answer(() => chat({ message: said, logprobs: { content: [token] } }))
  const { json } = await post('/chat/completions', { model: 'acme/chat', messages, logprobs: true })
  const shown = choicesOf(json)[0]?.['logprobs'] as { content?: Record<string, unknown>[] } | undefined
  const entry = shown?.content?.[0] ?? {}
  return {
    name: 'entries of logprobs have bytes and top_logprobs',
    held: entry['bytes'] === null && Array.isArray(entry['top_logprobs']),
    seen: JSON.stringify(entry),
  }
}

async function usageChunk({ upstream, post }: GatewayBefore): Promise<Check> {
  const piece = (delta: object, reason: string | null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  upstream.answer(() => eventsOf([piece(said, null), piece({}, 'stop'), { ...base, choices: [], usage }]))
  const { frames } = await post('/chat/completions', { model: 'acme/chat', messages, stream: true })
  const last = frames.at(-1)
  const reasons = frames.flatMap(choicesOf).flatMap(({ finish_reason: reason }) => reason ?? [])
  const kept = choicesOf(last)[0]?.['finish_reason']
  return {
    name: 'whoever keeps the last finish reason, or joins all, has the right one',
    held: last?.['usage'] !== undefined && kept === 'stop' && reasons.join() === 'stop',
    seen: `last chunk "${String(kept)}", all "${reasons.join()}"`,
  }
}

async function speech({ upstream, post }: GatewayBefore): Promise<Check[]> {
  const request = { model: 'acme/speak', input: 'Hello there.', voice: 'any' }
  upstream.answer(() => new Response(new Uint8Array(4_801), { headers: { 'content-type': 'audio/pcm' } }))
  const pcm = await post('/audio/speech', request)
  const mpeg = Buffer.concat([mpegFrame, mpegFrame, mpegFrame, mpegFrame])
  upstream.answer(({ body }) =>
    body.includes('"mp3"') ? new Response(mpeg) : new Response(new Uint8Array(4_800)),
  )
  const mp3 = await post('/audio/speech', request, { accept: 'audio/mpeg' })
  return [
    {
      name: 'pcm ends on a whole sample',
      held: pcm.status === 200 && pcm.text.length === 4_800,
      seen: `${pcm.text.length} bytes of 4801`,
    },
    {
      name: 'Accept: audio/mpeg is mp3 where no format is named',
      held: mp3.status === 200 && mp3.contentType === 'audio/mpeg',
      seen: mp3.contentType,
    },
  ]
}

async function transcription({ upstream, post }: GatewayBefore): Promise<Check[]> {
  upstream.answer(() =>
    Response.json({
      text: 'Hello.',
      duration: 0.5,
      segments: [{ id: 0, start: 0, end: 0.5, text: 'Hello.' }],
    }),
  )
  const request = {
    model: 'acme/hear',
    input_audio: { data: wave(), format: 'wav' },
    response_format: 'json',
  }
  const checks: Check[] = []
  for (const accept of ['text/vtt', 'application/x-subrip', 'text/plain']) {
    const { status, contentType } = await post('/audio/transcriptions', request, { accept })
    const held = status === 200 && contentType.startsWith('application/json')
    checks.push({
      name: `response_format json wins over Accept: ${accept}`,
      held,
      seen: `${status} ${contentType}`,
    })
  }
  return checks
}

const named = '"model":"acme/chat"'
const talk = '"messages":[{"role":"user","content":"hi"}]'
const batch = `"endpoint":"/v1/chat/completions",${named}`
const doubled: readonly [what: string, path: string, body: string][] = [
  [
    'of a message',
    '/chat/completions',
    `{${named},"messages":[{"role":"user","role":"system","content":"hi"}]}`,
  ],
  ['of preferences', '/chat/completions', `{${named},${talk},"provider":{"only":["none"],"only":["acme"]}}`],
  ['of a speech request', '/audio/speech', '{"model":"acme/speak","input":"a","input":"b","voice":"any"}'],
  [
    "of a batch's preferences",
    '/batches',
    `{${batch},"provider":{"only":["none"],"only":["acme"]},"requests":[{"custom_id":"a","body":{${talk}}}]}`,
  ],
  [
    'of a batch item',
    '/batches',
    `{${batch},"requests":[{"custom_id":"a","custom_id":"b","body":{${talk}}}]}`,
  ],
]

async function duplicates({ upstream, post }: GatewayBefore): Promise<Check[]> {
  upstream.answer(() => chat({ message: said }))
  const checks: Check[] = []
  for (const [what, path, body] of doubled) {
    const { status } = await post(path, body)
    checks.push({ name: `a doubled member ${what} is refused`, held: status === 400, seen: `${status}` })
  }
  return checks
}

async function nulls({ upstream, post }: GatewayBefore): Promise<Check> {
  upstream.answer(() => chat({ message: said }))
  const provider = { preferred_max_latency: { p50: null, p90: 3 } }
  const { status } = await post('/chat/completions', { model: 'acme/chat', messages, provider })
  return { name: 'percentiles of a preference may be null', held: status === 200, seen: `${status}` }
}

async function deletedBatch({ upstream, post, send }: GatewayBefore): Promise<Check> {
  upstream.answer(() => chat({ message: said }))
  const body = `{${batch},"requests":[{"custom_id":"a","body":{${talk}}}]}`
  const create = () => post('/batches', body, { 'idempotency-key': 'one' })
  const { id } = (await create()).json
  for (let waited = 0; waited < 200; waited += 1) {
    const { json } = await send('GET', `/batches/${String(id)}`)
    if (json['status'] === 'completed') break
    await Bun.sleep(50)
  }
  await send('DELETE', `/batches/${String(id)}`)
  const again: Received = await create()
  const { message = '' } = (again.json['error'] ?? {}) as { message?: string }
  return {
    name: 'a replay whose batch was deleted says so',
    held: again.status === 404 && message.includes('deleted'),
    seen: `${again.status} ${message}`,
  }
}

export const proof = observation({
  title:
    'small promises of the contract: log probabilities, samples, Accept, usage chunks, doubled members, nulls',
  observe: () =>
    withUpstream(acme(models), async (gateway) => [
      await logprobs(gateway),
      await usageChunk(gateway),
      ...(await speech(gateway)),
      ...(await transcription(gateway)),
      ...(await duplicates(gateway)),
      await nulls(gateway),
      await deletedBatch(gateway),
    ]),
})
