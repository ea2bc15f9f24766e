/**
 * Frees the memory of bytes that are not needed any more; afterwards they are empty. For large pieces in quick succession,
 * which would pile up to tens of megabytes before they are collected. Bytes that are a part of a larger buffer are left
 * alone, because the rest of the buffer is in use elsewhere.
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
