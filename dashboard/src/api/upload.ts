import { consoleHeader } from './client.ts'
import { networkFailure, toFailure } from './failure.ts'
import { basePath } from './place.ts'

export interface Uploaded {
  status: number
  headers: Headers
  text: string
}

/**
 * Sends a body and tells how much of it has left. `fetch` cannot tell: its streamed bodies are refused on HTTP/1.1, so
 * the body is a blob (of slices of a file, which are read from the disk as they leave) and the sender the older interface.
 */
export function upload(
  path: string,
  body: Blob | FormData,
  given: {
    headers?: Readonly<Record<string, string>>
    signal?: AbortSignal
    onProgress?: (sent: number, total: number) => void
  } = {},
): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `${basePath}/v1${path}`)
    for (const [name, value] of Object.entries({ ...consoleHeader, ...given.headers }))
      request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => given.onProgress?.(loaded, total)
    request.onload = () => {
      const headers = readHeaders(request.getAllResponseHeaders())
      const { status, responseText: text } = request
      if (status >= 200 && status < 300) resolve({ status, headers, text })
      else {
        if (status === 401) window.dispatchEvent(new Event('headrace:signed-out'))
        reject(toFailure(status, headers, text))
      }
    }
    request.onerror = () => reject(networkFailure(new Error('the connection broke')))
    request.onabort = () => reject(new DOMException('Stopped', 'AbortError'))
    given.signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.send(body)
  })
}

function readHeaders(text: string): Headers {
  const headers = new Headers()
  for (const line of text.trim().split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}
