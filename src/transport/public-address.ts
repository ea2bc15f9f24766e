import { isIP } from 'node:net'

/** Networks that are not the public internet. A URL that a caller sends must never reach them. */
const privateV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // What Azure's machines ask for their own state.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Whether an address is on the public internet; false whenever that is not certain. */
export function isPublicAddress(address: string): boolean {
  const kind = isIP(address)
  if (kind === 4) return isPublicV4(toNumber(address))
  return kind === 6 && isPublicV6(toGroups(address))
}

/** A name without a dot, or below a domain that only private networks use. */
const insideName = /^[^.]+$|\.(?:internal|local|localdomain|lan|corp|intranet|home\.arpa)$/i

/** Whether a URL's host is private by its name or address alone; names are not resolved. */
export function isInsideHost(hostname: string): boolean {
  const plain = hostname.replaceAll(/[[\]]/g, '')
  return isIP(plain) === 0 ? insideName.test(plain) : !isPublicAddress(plain)
}

function isPublicV4(address: number): boolean {
  return !privateV4.some(([network, bits]) => (address ^ toNumber(network)) >>> (32 - bits) === 0)
}

// Global unicast is 2000::/3. Inside it, an address that embeds an IPv4 address is judged by that one, and addresses for
// documentation and tunnels are refused.
function isPublicV6(groups: readonly number[]): boolean {
  const [first = 0, second = 0, third = 0] = groups
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  const isTranslated = first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)
  if (isMapped || isTranslated) return isPublicV4(embedded(groups[6] ?? 0, groups[7] ?? 0))
  if (first === 0x2002) return isPublicV4(embedded(second, third))
  if (first === 0x2001 && (second === 0 || second === 0xdb8 || (second & 0xfff0) === 0x20)) return false
  return first >= 0x2000 && first <= 0x3fff
}

function embedded(high: number, low: number): number {
  return ((high << 16) | low) >>> 0
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => ((sum << 8) | Number(part)) >>> 0, 0)
}

/** The eight groups of an IPv6 address that `isIP` accepted. */
function toGroups(address: string): number[] {
  const plain = address.split('%')[0] ?? ''
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(plain)
  const text = dotted ? `${dotted[1] ?? ''}${toHexPair(toNumber(dotted[2] ?? ''))}` : plain
  const [head = '', tail] = text.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array.from({ length: missing }, () => '0'), ...right].map((group) =>
    Number.parseInt(group, 16),
  )
}

function toHexPair(address: number): string {
  return `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`
}
