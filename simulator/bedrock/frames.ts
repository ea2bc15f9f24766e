import { crc32 } from 'node:zlib'

/** The type of a header whose value is text; Bedrock sends no other. */
const textHeader = 7

/** One message of Amazon's event stream, from its documentation of the encoding. */
export function binaryFrame(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => headerOf(name, value)))
  const body = Buffer.from(payload)
  const frame = Buffer.alloc(12 + head.length + body.length + 4)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(head.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  head.copy(frame, 12)
  body.copy(frame, 12 + head.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

function headerOf(name: string, value: string): Buffer {
  const text = Buffer.from(value)
  const head = Buffer.alloc(1 + name.length + 3)
  head.writeUInt8(name.length, 0)
  head.write(name, 1, 'latin1')
  head.writeUInt8(textHeader, 1 + name.length)
  head.writeUInt16BE(text.length, 2 + name.length)
  return Buffer.concat([head, text])
}

/** An event; its payload is padded, as in recordings, so that its length does not tell what it says. */
export function eventFrame(type: string, value: object, padding: string): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return binaryFrame(headers, JSON.stringify({ ...value, p: padding }))
}

/** An exception, which ends a stream. */
export function exceptionFrame(type: string, message: string): Uint8Array {
  const headers = {
    ':exception-type': type,
    ':content-type': 'application/json',
    ':message-type': 'exception',
  }
  return binaryFrame(headers, JSON.stringify({ message }))
}
