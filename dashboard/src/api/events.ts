import { networkFailure } from './failure.ts'

/** One server-sent event. */
export interface ServerEvent {
  event: string
  data: string
  id: string | null
}

/** The longest event that is read; a model's largest answer is far below it. */
const eventCharactersMax = 8_000_000

/**
 * The events of a body as they arrive, in lines of any ending. Comments are left out. With `silenceMsMax` a body that says
 * nothing for so long fails: its sender is gone without a farewell.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silenceMsMax: number | null = null,
): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  let rest = ''
  let current = newEvent()
  try {
    for (;;) {
      const { done, value } = await within(silenceMsMax, reader.read())
      if (done) return
      rest += value
      if (rest.length > eventCharactersMax) throw new Error('an event of the stream is too large')
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      const { events, open } = takeLines(lines, current)
      current = open
      yield* events
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The events that these lines end, and the one that goes on. */
function takeLines(lines: readonly string[], current: OpenEvent): { events: ServerEvent[]; open: OpenEvent } {
  let open = current
  const events: ServerEvent[] = []
  for (const line of lines) {
    if (line !== '') {
      readLine(line, open)
      continue
    }
    if (open.hasData) events.push({ event: open.event, data: open.data, id: open.id })
    open = newEvent()
  }
  return { events, open }
}

interface OpenEvent extends ServerEvent {
  hasData: boolean
}

function newEvent(): OpenEvent {
  return { event: 'message', data: '', id: null, hasData: false }
}

function readLine(line: string, into: OpenEvent): void {
  const colon = line.indexOf(':')
  if (colon === 0) return
  const name = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
  if (name === 'event') into.event = value
  if (name === 'id') into.id = value
  if (name !== 'data') return
  into.data += into.hasData ? `\n${value}` : value
  into.hasData = true
}

async function within<T>(ms: number | null, reading: Promise<T>): Promise<T> {
  if (ms === null) return reading
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(networkFailure(new Error('silent'))), ms)
  })
  return Promise.race([reading, silence]).finally(() => clearTimeout(timer))
}
