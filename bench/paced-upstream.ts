import { answerOf, frameOf } from './harness/replies.ts'

/**
 * An upstream that streams chat frames at a pace: `/<first ms>-<frames>-<gap ms>/v1/chat/completions`. With a gap of 0 it
 * writes as fast as it is read. A request that is not for a stream is answered whole after half to
 * one and a half of the time of its stream, as answers of models differ. A request whose text contains `mark-<id>.` has the time of its end remembered.
 */

const encoder = new TextEncoder()
const whole = answerOf(1000)
const opening = encoder.encode(frameOf({ role: 'assistant', content: '' }, null))
const middle = encoder.encode(frameOf({ content: ' word' }, null))
const flood = encoder.encode(frameOf({ content: ' word' }, null).repeat(100))
const ending = encoder.encode(
  frameOf({}, 'stop') +
    frameOf(null, null, { prompt_tokens: 20, completion_tokens: 50, total_tokens: 70 }) +
    'data: [DONE]\n\n',
)

/** Marked streams that are remembered; a sample, so a few thousand are plenty. */
const marksMax = 10_000
const closedAtMs = new Map<string, number>()
let open = 0

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(Bun.argv[2]),
  idleTimeout: 0,
  maxRequestBodySize: 16_000_000,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/open') return Response.json(open)
    const text = await request.text()
    if (pathname === '/closed')
      return Response.json((JSON.parse(text) as string[]).map((mark) => closedAtMs.get(mark) ?? null))
    const pace = /^\/(\d+)-(\d+)-(\d+)\/v1\//.exec(pathname)
    if (pace === null) return new Response('no such path', { status: 404 })
    if (!/"stream": ?true/.test(text)) {
      await Bun.sleep((Number(pace[1]) + Number(pace[2]) * Number(pace[3])) * (0.5 + Math.random()))
      return new Response(whole, { headers: { 'content-type': 'application/json' } })
    }
    const mark = /mark-([\w-]+)\./.exec(text)?.[1]
    return stream(
      { firstMs: Number(pace[1]), frames: Number(pace[2]), gapMs: Number(pace[3]) },
      request.signal,
      mark,
    )
  },
})

interface Pace {
  firstMs: number
  frames: number
  gapMs: number
}

function stream({ firstMs, frames, gapMs }: Pace, signal: AbortSignal, mark: string | undefined): Response {
  open += 1
  const startedMs = performance.now()
  let sent = 0
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    open -= 1
    if (mark !== undefined && closedAtMs.size < marksMax) closedAtMs.set(mark, Date.now())
  }
  // Whichever notices first: a stream that waits for its pace is not being pulled.
  signal.addEventListener('abort', end, { once: true })
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // By the clock of the whole stream, so that delays on a busy machine do not add up.
      const waitMs = startedMs + firstMs + sent * gapMs - performance.now()
      if (waitMs > 0) await Bun.sleep(waitMs)
      if (isOver) return controller.close()
      sent += 1
      if (sent <= frames) return controller.enqueue(pieceOf(sent, gapMs))
      controller.enqueue(ending)
      controller.close()
      end()
    },
    cancel: end,
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

function pieceOf(sent: number, gapMs: number): Uint8Array {
  if (sent === 1) return opening
  return gapMs === 0 ? flood : middle
}
