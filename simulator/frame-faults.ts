import type { Faults } from './faults.ts'
import { doneFrame, frame } from './reply.ts'

const brokenFrame =
  'data: {"id":"chatcmpl-broken","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"con\n\n'

/** The frames of a stream as a faulty provider would send them. Waits, stalls and cuts belong to the sender. */
export function* distortFrames(frames: Iterable<string>, faults: Faults): Generator<string> {
  if (faults.emptyBody === true) return
  const ending = faults.crlf === true ? '\r\n' : '\n'
  if (faults.comments === true)
    yield `: waiting for the model${ending}${ending}: still waiting${ending}${ending}`
  let index = 0
  for (const whole of frames) {
    if (index === faults.errorAfterChunks) {
      const error = { message: 'The server had an error while processing the request.', type: 'server_error' }
      yield frame({ error: { ...error, param: null, code: null } })
      return
    }
    if (faults.noDone === true && whole === doneFrame) return
    if (faults.truncateJson === true && index === 2) {
      yield whole.slice(0, Math.floor(whole.length / 2))
      return
    }
    const sent = faults.malformedJson === true && index === 2 ? brokenFrame : whole
    yield faults.crlf === true ? sent.replaceAll('\n', '\r\n') : sent
    index++
  }
}

/** A whole body as a faulty provider would send it. */
export function distortBody(body: string, faults: Faults): string {
  if (faults.emptyBody === true) return ''
  if (faults.malformedJson === true) return `${body.slice(0, -1)},,"${body.slice(-1)}`
  return faults.truncateJson === true ? body.slice(0, Math.floor(body.length / 2)) : body
}
