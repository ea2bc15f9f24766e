import type { Faults } from './faults.ts'
import { chatForm, type StreamForm } from './reply.ts'

/** The blank lines that a provider sends while a call waits in its queue, so that the connection stays open. */
const blankLines = '\n\n\n'

/** The frames of a stream as a faulty provider would send them. Waits, stalls and cuts belong to the sender. */
export function* distortFrames(
  frames: Iterable<string>,
  faults: Faults,
  form: StreamForm = chatForm,
): Generator<string> {
  if (faults.emptyBody === true) return
  const ended = (text: string) => (faults.crlf === true ? text.replaceAll('\n', '\r\n') : text)
  if (faults.comments === true) yield ended(': waiting for the model\n\n: still waiting\n\n')
  if (faults.blankLines === true) yield ended(blankLines)
  let index = 0
  for (const whole of frames) {
    if (index === faults.errorAfterChunks) {
      for (const error of form.error(index, faults.streamError ?? {})) yield ended(error)
      return
    }
    if (faults.noDone === true && form.isEnd(whole)) return
    if (faults.truncateJson === index) {
      yield whole.slice(0, Math.floor(whole.length / 2))
      return
    }
    yield ended(faults.malformedJson === index ? form.broken : whole)
    index++
  }
}

/** Frames of a binary stream as a faulty provider would send them: a broken one has a wrong checksum. */
export async function* distortBinary(
  frames: AsyncIterable<Uint8Array>,
  faults: Faults,
): AsyncGenerator<Uint8Array> {
  let index = 0
  for await (const whole of frames) {
    if (faults.truncateJson === index) {
      yield whole.subarray(0, Math.floor(whole.length / 2))
      return
    }
    const sent = faults.malformedJson === index ? withBrokenEnd(whole) : whole
    const size = faults.splitBytes ?? sent.length
    for (let at = 0; at < sent.length; at += size) yield sent.subarray(at, at + size)
    index++
  }
}

function withBrokenEnd(whole: Uint8Array): Uint8Array {
  const broken = Uint8Array.from(whole)
  broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 0xff
  return broken
}

/** A whole body as a faulty provider would send it. */
export function distortBody(body: string, faults: Faults): string {
  if (faults.emptyBody === true) return ''
  if (faults.blankLines === true) return blankLines + distortBody(body, { ...faults, blankLines: false })
  if (faults.malformedJson !== undefined) return `${body.slice(0, -1)},,"${body.slice(-1)}`
  return faults.truncateJson !== undefined ? body.slice(0, Math.floor(body.length / 2)) : body
}
