/**
 * The client's address for throttling: the peer's own. When the peer is a trusted proxy, it is the nearest address in
 * `X-Forwarded-For` that is not a trusted proxy. So a client cannot choose its address by sending that header itself.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | null,
  trustedProxies: readonly string[],
): string {
  return forwardedFor === null || !isTrusted(peer, trustedProxies)
    ? peer
    : nearestUntrusted(peer, forwardedFor, trustedProxies)
}

function nearestUntrusted(peer: string, forwardedFor: string, trustedProxies: readonly string[]): string {
  const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()))
  for (let index = hops.length - 1; index >= 0; index -= 1) {
    const hop = hops[index] ?? ''
    if (hop !== '' && !isTrusted(hop, trustedProxies)) return hop.slice(0, 64)
  }
  return peer
}

/** Some proxies add the connection's port, which differs for every connection. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop
}

/** Whether this address is one of the trusted proxies. */
export function isTrusted(address: string, trustedProxies: readonly string[]): boolean {
  const plain = address.replace(/^::ffff:/, '')
  return trustedProxies.some((proxy) => (proxy.includes('/') ? isInNetwork(plain, proxy) : proxy === plain))
}

function isInNetwork(address: string, network: string): boolean {
  const [base = '', bits = '32'] = network.split('/')
  const left = toNumber(address)
  const right = toNumber(base)
  const length = Number(bits)
  if (left === null || right === null || !(length >= 0 && length <= 32)) return false
  return length === 0 || (left ^ right) >>> (32 - length) === 0
}

function toNumber(address: string): number | null {
  const parts = address.split('.').map(Number)
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255))
    return null
  return parts.reduce((sum, part) => ((sum << 8) | part) >>> 0, 0)
}
