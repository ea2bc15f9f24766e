/**
 * Frees the memory of bytes that are no longer needed; they are empty afterwards. For large pieces in quick succession,
 * which would otherwise pile up to tens of megabytes before the garbage collector frees them. Bytes that are part of a
 * larger buffer are left alone, because other code uses the rest.
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
