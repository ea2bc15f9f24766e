import { streamFrameBytesMax } from '../core/limits.ts'
import { CommandFailure } from './failure.ts'

/** The data of each event of a server-sent stream, as it arrives; comments and `[DONE]` are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  for await (const line of readLines(body)) {
    if (!line.startsWith('data:')) continue
    const data = line.slice(5).trim()
    if (data !== '[DONE]') yield JSON.parse(data)
  }
}

/** Lines of a text stream, without their ends. Throws CommandFailure for one beyond `streamFrameBytesMax`. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > streamFrameBytesMax) throw new CommandFailure('A line is too long to be read.')
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
