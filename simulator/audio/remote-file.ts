import type { ApiError } from '../errors.ts'
import { remoteFetchMs } from '../limits.ts'
import { createFolder, FileSpool, type UploadedFile } from '../uploaded-file.ts'

/** A file that the request named by its address; `dispose` must be called on every exit. */
export interface RemoteFile {
  file: UploadedFile
  dispose(): Promise<void>
}

export interface RemoteRules {
  bytesMax: number
  signal: AbortSignal
  /** The API's error for a URL that cannot be fetched. */
  unreachable(): ApiError
}

/** Fetches a file from any host, as a provider that takes addresses does. */
export async function fetchFile(
  url: string,
  { bytesMax, signal, unreachable }: RemoteRules,
): Promise<RemoteFile> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(remoteFetchMs)])
  const response = await fetch(url, { signal: within }).catch(() => null)
  if (response === null || !response.ok || response.body === null) {
    await response?.body?.cancel()
    throw unreachable()
  }
  const folder = createFolder()
  const spool = new FileSpool(folder)
  try {
    for await (const chunk of response.body) {
      if (spool.bytes + chunk.length > bytesMax) throw unreachable()
      await spool.write(Buffer.from(chunk))
    }
  } catch {
    await spool.close()
    await folder.remove()
    throw unreachable()
  }
  const fileName = new URL(url).pathname.split('/').at(-1) ?? ''
  const contentType = response.headers.get('content-type')
  const file = await spool.finish({ name: 'url', fileName, contentType })
  return { file, dispose: () => folder.remove() }
}
