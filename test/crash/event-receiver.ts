import { createHmac } from 'node:crypto'

/** An event that was posted, as a receiver sees it. */
export interface PostedEvent {
  type: string
  batchId: string
  idempotencyKey: string | null
  isSigned: boolean
}

/** A receiver of events on loopback, written after the contract alone. It refuses the first post of every event. */
export class EventReceiver {
  readonly events: PostedEvent[] = []
  /** The organization's signing secret, as its owner was shown it. */
  secret = ''
  readonly #seen = new Set<string>()
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })

  get host(): string {
    return `127.0.0.1:${this.#server.port}`
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }

  async #take(request: Request): Promise<Response> {
    const body = await request.text()
    const { type, data } = JSON.parse(body) as { type: string; data: { id: string } }
    const idempotencyKey = request.headers.get('x-openrouter-idempotency-key')
    const isSigned = this.#isSigned(request.headers.get('x-openrouter-signature') ?? '', body)
    const isFirst = !this.#seen.has(data.id)
    this.#seen.add(data.id)
    if (isFirst) return new Response('not now', { status: 503 })
    this.events.push({ type, batchId: data.id, idempotencyKey, isSigned })
    return new Response(null, { status: 204 })
  }

  #isSigned(header: string, body: string): boolean {
    const [, time = '', digest = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(header) ?? []
    return createHmac('sha256', this.secret).update(`${time},${body}`).digest('hex') === digest
  }
}
