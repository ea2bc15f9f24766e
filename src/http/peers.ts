/** Which address a request came from. */
export interface Peers {
  /** For a request that no server of ours received, such as one of a test. */
  set(request: Request, address: string): void
  /** A request was made of the one that the server received; the server knows no other. */
  readdress(made: Request, received: Request): void
  receivedFor(request: Request): Request
  /** Empty when nobody knows it. */
  addressOf(request: Request, server: Pick<Bun.Server<undefined>, 'requestIP'> | null): string
}

/** Forgets a request with the request itself. */
export function createPeers(): Peers {
  const addresses = new WeakMap<Request, string>()
  const received = new WeakMap<Request, Request>()
  const receivedFor = (request: Request): Request => received.get(request) ?? request
  return {
    set: (request, address) => void addresses.set(request, address),
    readdress: (made, original) => void received.set(made, original),
    receivedFor,
    addressOf(request, server) {
      const original = receivedFor(request)
      return addresses.get(original) ?? server?.requestIP(original)?.address ?? ''
    },
  }
}
