import type { StreamedBody, UpstreamReply } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { findMember } from '../../json/scan.ts'
import { recordOrNull, type WireRecord } from '../../json/values.ts'

/** The object of a reply of a batch service. Throws `provider_failed`. */
export function parseReply({ bytes }: UpstreamReply): WireRecord {
  const wire = recordOrNull(parsedOrNull(bytes))
  if (wire === null) throw new GatewayError('provider_failed', 'The provider answered with no JSON object.')
  return wire
}

/** The value of these bytes; null when they are no JSON. */
export function parsedOrNull(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  } catch {
    return null
  }
}

/** A member's own bytes: numbers that JavaScript cannot hold stay as they are. */
export function memberOf(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  let value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const name of names) value = findMember(value, name).value ?? value
  return value
}

const listEnd = Buffer.from(']}')

/**
 * A request that carries lines as the list with which it ends. `beginning` is its text up to the list's bracket; each line
 * ends with a comma, and that of the last one is left out.
 */
export function listedIn(beginning: string, lines: StreamedBody): StreamedBody {
  const head = Buffer.from(beginning)
  const bytes = lines.contentLength - 1
  return {
    contentLength: head.length + bytes + listEnd.length,
    open() {
      const reader = lines.open().getReader()
      let left = bytes
      return new ReadableStream<Uint8Array>(
        {
          start: (controller) => controller.enqueue(head),
          async pull(controller) {
            const { done, value } = left === 0 ? { done: true, value: undefined } : await reader.read()
            if (done || value === undefined) {
              controller.enqueue(listEnd)
              return controller.close()
            }
            const taken = value.subarray(0, left)
            left -= taken.length
            controller.enqueue(taken)
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      )
    },
  }
}

/** The status of a live answer with an error of this code of google.rpc. */
const rpcStatuses: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  11: 400,
  13: 500,
  14: 503,
  16: 401,
}

/** The status of a live answer with an error of this code, which may be one of google.rpc or a status itself; null for neither. */
export function statusOfRpc(code: number | null): number | null {
  const status = rpcStatuses[code ?? 0] ?? code ?? 0
  return status < 400 ? null : status
}
