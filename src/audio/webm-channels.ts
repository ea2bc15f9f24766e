import { readElement, readUnsigned } from './webm-duration.ts'

const tracks: ReadonlySet<number> = new Set([0x18538067, 0x1654ae6b, 0xae, 0xe1])
const soundSettings = 0xe1
const channelCount = 0x9f

/** Channels of the WebM track of sound with the most, by the beginning of the file; a track that does not say has one. 0 without sound. */
export function readWebmChannels(head: Uint8Array): number {
  let most = 0
  for (let at = 0; at < head.length;) {
    const element = readElement(head, at)
    if (element === null) return most
    const body = at + element.headBytes
    if (element.id === soundSettings) most = Math.max(most, 1)
    if (element.id === channelCount) most = Math.max(most, readUnsigned(head.subarray(body), element.size))
    at = tracks.has(element.id) ? body : body + element.size
  }
  return most
}
