import { encode } from '@msgpack/msgpack'
import type { BodyPieces } from '../../core/body.ts'
import type { SpeechReference } from '../../canonical/call.ts'

/**
 * A body in MessagePack whose `references` are clips with their transcripts. The sounds keep their pieces; only the
 * bytes around them are written. https://github.com/msgpack/msgpack/blob/master/spec.md
 */
export function messagePackWithClips(
  body: Readonly<Record<string, unknown>>,
  references: readonly SpeechReference[],
): BodyPieces {
  const members = Object.entries(body)
  return [
    mapOf(members.length + 1),
    ...members.flatMap(([name, value]) => [encode(name), encode(value)]),
    encode('references'),
    Uint8Array.of(0x90 | references.length),
    ...references.flatMap(clipOf),
  ]
}

function clipOf({ data, transcript }: SpeechReference): Uint8Array[] {
  const pieces = data ?? []
  const length = Buffer.alloc(5, 0xc6)
  length.writeUInt32BE(
    pieces.reduce((sum, piece) => sum + piece.length, 0),
    1,
  )
  return [mapOf(2), encode('audio'), length, ...pieces, encode('text'), encode(transcript ?? '')]
}

/** The header of a map with this many entries. */
function mapOf(count: number): Uint8Array {
  return count < 16 ? Uint8Array.of(0x80 | count) : Uint8Array.of(0xde, count >> 8, count & 0xff)
}
