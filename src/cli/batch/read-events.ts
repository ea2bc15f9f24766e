import { streamFrameBytesMax } from '../../core/limits/text.ts'
import { CommandFailure } from '../failure.ts'

/** The data of each event of a server-sent stream, as it arrives; comments and `[DONE]` are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  for await (const line of readLines(body)) {
    if (!line.startsWith('data:')) continue
    const data = line.slice(5).trim()
    if (data !== '[DONE]') yield JSON.parse(data)
  }
}

/** The failure for a line longer than `streamFrameBytesMax`. */
export class LineTooLong extends CommandFailure {}

/** The lines of a text stream, without line ends. Throws LineTooLong, and the decoder's error for invalid bytes. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  decoder = new TextDecoder(),
): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > streamFrameBytesMax) throw new LineTooLong('A line is too long to be read.')
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
