import { cachedPrefixesMax } from './limits.ts'

/** How long a prefix stays in the cache after its last use. */
export type CacheTtl = '5m' | '1h'

/** A piece of a prompt: a tool, a block of the system prompt, or a block of a message. */
export interface PromptPiece {
  /** The piece without its marks. */
  json: string
  tokens: number
  /** Set where the caller marks the end of a prefix to cache. */
  ttl: CacheTtl | null
}

/** The tokens that a prompt reads from the cache and writes to it. All others are uncached input. */
export interface CacheUse {
  read: number
  written5m: number
  written1h: number
}

/** The prefixes of prompts that one mount has seen. */
export interface PromptCache {
  use(model: string, pieces: readonly PromptPiece[], nowSeconds: number): CacheUse
}

interface Prefix {
  expiresAtSeconds: number
  ttl: CacheTtl
}

/** How many pieces before a mark are searched for an earlier prefix, as Anthropic documents it. */
const lookBackPieces = 20
const secondsOf: Record<CacheTtl, number> = { '5m': 300, '1h': 3600 }

/** Creates an empty cache. Unlike the real one it caches short prompts too, so that tests need no long texts. */
export function createPromptCache(): PromptCache {
  const prefixes = new Map<string, Prefix>()

  function isKnown(hash: string, nowSeconds: number): boolean {
    const prefix = prefixes.get(hash)
    if (prefix === undefined || prefix.expiresAtSeconds <= nowSeconds) return false
    prefix.expiresAtSeconds = nowSeconds + secondsOf[prefix.ttl]
    return true
  }

  function keep(hash: string, ttl: CacheTtl, nowSeconds: number): void {
    prefixes.delete(hash)
    prefixes.set(hash, { expiresAtSeconds: nowSeconds + secondsOf[ttl], ttl })
    const [oldest] = prefixes.keys()
    if (prefixes.size > cachedPrefixesMax && oldest !== undefined) prefixes.delete(oldest)
  }

  /** The number of first pieces that one mark finds in the cache. */
  function foundBefore(mark: number, hashes: readonly string[], nowSeconds: number): number {
    for (let at = mark; at >= 0 && at > mark - lookBackPieces; at--) {
      if (isKnown(hashes[at] ?? '', nowSeconds)) return at + 1
    }
    return 0
  }

  return {
    use(model, pieces, nowSeconds) {
      const hashes = prefixHashes(model, pieces)
      const marks = pieces.flatMap(({ ttl }, at) => (ttl === null ? [] : [{ at, ttl }]))
      const known = Math.max(0, ...marks.map(({ at }) => foundBefore(at, hashes, nowSeconds)))
      const use: CacheUse = { read: tokensOf(pieces.slice(0, known)), written5m: 0, written1h: 0 }
      let from = known
      for (const { at, ttl } of marks) {
        if (at < from) continue
        const tokens = tokensOf(pieces.slice(from, at + 1))
        if (ttl === '1h') use.written1h += tokens
        else use.written5m += tokens
        keep(hashes[at] ?? '', ttl, nowSeconds)
        from = at + 1
      }
      return use
    },
  }
}

function tokensOf(pieces: readonly PromptPiece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.tokens, 0)
}

/** The hash of every prefix, from the first piece to each. */
function prefixHashes(model: string, pieces: readonly PromptPiece[]): string[] {
  let hash = model
  return pieces.map(({ json }) => {
    hash = String(Bun.hash.wyhash(`${hash} ${json}`))
    return hash
  })
}
