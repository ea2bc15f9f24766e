import { cliAnswerBytesMax } from '../core/limits/cli.ts'
import type { CliConfig, CommandContext } from './context.ts'
import { CommandFailure } from './failure.ts'
import { recordOrEmpty, textOrEmpty } from '../json/values.ts'
import { printable } from './paint.ts'

/** How long commands wait for an answer to begin. */
const cliRequestMs = 120_000

/** The running gateway, as commands see it. */
export interface GatewayClient {
  /** The base URL including the version segment: `http://127.0.0.1:8787/v1`. */
  readonly baseUrl: string
  /**
   * Sends a request below the version segment and returns any response. Throws CommandFailure when no server listens
   * there.
   */
  send(path: string, request?: ClientRequest): Promise<Response>
  /** The same, for a JSON answer. Throws CommandFailure with the gateway's own message unless the status is 2xx. */
  json(path: string, request?: ClientRequest): Promise<Record<string, unknown>>
}

/** One request; the method is POST when there is a body. */
export interface ClientRequest {
  method?: string
  key?: string | null
  /** Sent as JSON. */
  body?: unknown
  /** Sent unchanged, instead of `body`. */
  rawBody?: ReadableStream<Uint8Array> | FormData
  headers?: Record<string, string>
  signal?: AbortSignal
  /** The longest silence: until the answer begins, and between two pieces of it. */
  timeoutMs?: number
}

/** The gateway's URL: `HEADRACE_URL`, otherwise the configuration's. Throws CommandFailure when it is not a URL. */
export function baseUrlOf(env: CommandContext['env'], config: CliConfig | null): string {
  const named = env['HEADRACE_URL']
  if (named) {
    if (!/^https?:\/\/./i.test(named) || !URL.canParse(named))
      throw new CommandFailure(
        `HEADRACE_URL: "${printable(named)}" is not an address such as http://127.0.0.1:8787`,
        {
          exitCode: 2,
        },
      )
    const trimmed = named.replace(/\/+$/, '')
    return trimmed.endsWith('/v1') ? trimmed : `${trimmed}/v1`
  }
  const host = config?.host ?? '127.0.0.1'
  // A server can listen on the address that means "all", but a client cannot call it.
  const callable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const shown = callable.includes(':') ? `[${callable}]` : callable
  return `http://${shown}:${config?.port ?? 8787}${config?.basePath ?? ''}/v1`
}

/** Where the console is, from a base URL: a browser can open it on this machine. */
export function consoleUrlOf(baseUrl: string): string {
  return baseUrl.replace(/\/v1$/, '').replace(/^(http:\/\/)(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, '$1127.0.0.1')
}

/** A client of the gateway at this base URL. */
export function createClient(baseUrl: string): GatewayClient {
  const send = async (path: string, request: ClientRequest = {}): Promise<Response> => {
    const { method, key, body, rawBody, headers = {}, signal, timeoutMs = cliRequestMs } = request
    const content = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
    if (key && !headerText.test(key)) {
      throw new CommandFailure(
        'The key has characters that no key has, such as a line break. Set HEADRACE_API_KEY or HEADRACE_MANAGEMENT_KEY again, without them.',
        { exitCode: 2 },
      )
    }
    const patience = new Patience(timeoutMs)
    patience.begin()
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method: method ?? (content === undefined ? 'GET' : 'POST'),
        headers: {
          ...(key ? { authorization: `Bearer ${key}` } : {}),
          ...(content === undefined || content instanceof FormData
            ? {}
            : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(content === undefined ? {} : { body: content }),
        signal: signal ? AbortSignal.any([signal, patience.signal]) : patience.signal,
      })
      return response.body ? new Response(guarded(response.body, patience, signal), response) : response
    } catch (error) {
      if (signal?.aborted) throw error
      throw patience.signal.aborted ? silent(baseUrl) : unreachable(baseUrl, connectionCode(error))
    } finally {
      patience.end()
    }
  }
  return {
    baseUrl,
    send,
    async json(path, request) {
      const response = await send(path, request)
      const answer = await readJson(response)
      if (response.ok) return answer
      throw refusal(response, answer)
    },
  }
}

/** Aborts a request that takes too long. */
class Patience {
  readonly #timeoutMs: number
  readonly #controller = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#controller.abort(), this.#timeoutMs)
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * An answer's body. Only its silences are limited, because results may stream for hours; a broken body fails the
 * command.
 */
function guarded(
  body: ReadableStream<Uint8Array>,
  patience: Patience,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      patience.begin()
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        if (signal?.aborted) throw error
        throw new CommandFailure("The gateway's answer broke off.", { isPassing: true })
      } finally {
        patience.end()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** The characters that a header can carry, for the check of a key. */
const headerText = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

function silent(baseUrl: string): CommandFailure {
  return new CommandFailure(
    `The gateway at ${baseUrl} did not answer in time. Look at its log, or run "npx headrace doctor".`,
    { isPassing: true },
  )
}

function unreachable(baseUrl: string, code: string): CommandFailure {
  if (code === 'ENOTFOUND')
    return new CommandFailure(`There is no host of that name: ${baseUrl}. Look at HEADRACE_URL.`)
  if (code === 'EPROTO' || code.includes('CERT')) {
    return new CommandFailure(
      `What listens at ${baseUrl} does not speak TLS that is trusted here (${code}). Look at HEADRACE_URL; NODE_EXTRA_CA_CERTS names the file of a private authority.`,
    )
  }
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return new CommandFailure(`The connection to ${baseUrl} broke off.`, { isPassing: true })
  return new CommandFailure(
    `No gateway is listening at ${baseUrl}. Start one with "npx headrace serve", or set HEADRACE_URL.`,
    { isPassing: true },
  )
}

function connectionCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * An answer's JSON object; empty for a refusal without one. Throws CommandFailure for an answer that broke off, and for
 * a success that is not JSON, because then another program answers at this address.
 */
export async function readJson(response: Response): Promise<Record<string, unknown>> {
  const length = Number(response.headers.get('content-length') ?? 0)
  if (length > cliAnswerBytesMax)
    throw new CommandFailure(`The answer is too large to show (${length} bytes).`)
  const text = await response.text()
  try {
    return recordOrEmpty(JSON.parse(text))
  } catch {
    if (!response.ok) return {}
    throw new CommandFailure(
      'What answers there is no gateway: its answer is not JSON. Look at HEADRACE_URL.',
    )
  }
}

/** A refusal as a failure of the command: one line with the gateway's own message and its status. */
export function refusal({ status, headers }: Response, answer: Record<string, unknown>): CommandFailure {
  // A gateway that names a wait expects another answer after it.
  const isPassing = status === 429 || status >= 500 || headers.has('retry-after')
  return new CommandFailure(messageOf(status, answer), { isPassing })
}

function messageOf(status: number, answer: Record<string, unknown>): string {
  const message = printable(textOrEmpty(recordOrEmpty(answer['error'])['message']))
  if (status === 401 || status === 403) {
    return `${message} (${status}) Set HEADRACE_API_KEY or HEADRACE_MANAGEMENT_KEY; "npx headrace keys create" makes one.`
  }
  // Only the organization's credits are mended by this command; the refusal of a key's own limit says how to raise
  // that.
  if (status === 402 && /organization's credits/.test(message))
    return `${message} (402) Add some: npx headrace credits add 10`
  return message === '' ? `The gateway answered ${status}.` : `${message} (${status})`
}
