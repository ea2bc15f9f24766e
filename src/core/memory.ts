/**
 * Gives the memory of bytes back that nobody will look at again; they are empty afterwards. For large pieces that come in
 * quick succession, of which tens of megabytes would gather before they are collected. Bytes within a larger memory are
 * left alone, because the rest of it belongs to others.
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
