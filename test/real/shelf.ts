/** Files behind addresses of loopback, for those who are to fetch them. */
export interface Shelf {
  /** As the gateway's configuration has to allow it. */
  host: string
  /** Lays a file there, in place of one of that name, and returns its address. */
  lay(name: string, bytes: Uint8Array<ArrayBuffer>): string
  stop(): Promise<void>
}

/** Opens a shelf on a free port. */
export function openShelf(): Shelf {
  const files = new Map<string, Uint8Array<ArrayBuffer>>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const bytes = files.get(new URL(request.url).pathname)
      return bytes === undefined ? new Response('no such file', { status: 404 }) : new Response(bytes)
    },
  })
  return {
    host: `127.0.0.1:${server.port}`,
    lay(name, bytes) {
      files.set(`/${name}`, bytes)
      return `http://127.0.0.1:${server.port}/${name}`
    },
    stop: () => server.stop(true),
  }
}
