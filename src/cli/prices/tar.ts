const blockBytes = 512

/** The files of an archive as texts, by their paths without the first folder. Throws for a truncated archive. */
export function readTar(bytes: Uint8Array): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  const text = new TextDecoder()
  const field = (at: number, length: number) =>
    text.decode(bytes.subarray(at, at + length)).replace(/\0[\s\S]*$/, '')
  let at = 0
  while (at + blockBytes <= bytes.length && bytes[at] !== 0) {
    const size = Number.parseInt(field(at + 124, 12).trim(), 8)
    const kind = field(at + 156, 1)
    const start = at + blockBytes
    if (!(size >= 0) || start + size > bytes.length) throw new Error('it is cut off')
    const prefix = field(at + 345, 155)
    const path = `${prefix === '' ? '' : `${prefix}/`}${field(at, 100)}`
    if (kind === '' || kind === '0')
      files.set(path.slice(path.indexOf('/') + 1), text.decode(bytes.subarray(start, start + size)))
    at = start + Math.ceil(size / blockBytes) * blockBytes
  }
  if (files.size === 0) throw new Error('it has no files')
  return files
}
