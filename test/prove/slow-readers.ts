import { requestBytes } from '../../bench/harness/raw-http.ts'

const readEveryMs = 1_000

/** What callers ask, all the same. */
export interface SlowCall {
  port: number
  path: string
  headers: Readonly<Record<string, string>>
  body: string
  count: number
}

/** Callers who are there until they are closed. */
export interface SlowReaders {
  /** Ends them; how many were answered with success, and what they read together. */
  close(): { answered: number; bytes: number }
}

/** Callers who take what is there, and then nothing for a moment. */
export async function openSlowReaders({ count, ...call }: SlowCall): Promise<SlowReaders> {
  const request = requestBytes(call)
  const sockets: { end(): void }[] = []
  let answered = 0
  let bytes = 0
  for (let index = 0; index < count; index += 1) {
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: call.port,
      data: { hasData: false },
      socket: {
        open: (opened) => void opened.write(request),
        data(reading, data) {
          if (!reading.data.hasData && data.toString('latin1', 9, 12) === '200') answered += 1
          reading.data.hasData = true
          bytes += data.length
          reading.pause()
          setTimeout(() => reading.resume(), readEveryMs)
        },
      },
    })
    sockets.push(socket)
  }
  return {
    close() {
      for (const socket of sockets) socket.end()
      return { answered, bytes }
    },
  }
}
