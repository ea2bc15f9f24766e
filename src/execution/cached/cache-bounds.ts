import type { CachedAnswerRepository, KeptEntry } from './cached-answer-repository.ts'

/** How much may be kept: bytes in all, bytes of one organization, and entries. */
export interface CacheBounds {
  readonly bytesMax: number
  readonly organizationBytesMax: number
  readonly entriesMax: number
}

/** Entries that are looked at and removed in one unit. */
const boundsPage = 500

/** Removes entries whose time is over, and the oldest beyond the bounds. `free` is given the blobs of each page. */
export async function keepWithin(
  bounds: CacheBounds,
  repository: Pick<CachedAnswerRepository, 'removeExpired' | 'remove' | 'listOldest' | 'listSizes'>,
  free: (blobs: readonly string[]) => Promise<void>,
): Promise<void> {
  for (;;) {
    const expired = await repository.removeExpired(boundsPage)
    await free(expired)
    if (expired.length < boundsPage) break
  }
  const surplus = new Surplus(bounds, await repository.listSizes())
  let after: Pick<KeptEntry, 'createdAtMs' | 'key'> = { createdAtMs: -1, key: '' }
  while (surplus.isAny) {
    const page = await repository.listOldest(after, boundsPage)
    const last = page.at(-1)
    if (last === undefined) return
    const doomed = page.filter((entry) => surplus.takes(entry)).map(({ key }) => key)
    await free(await repository.remove(doomed))
    after = last
  }
}

/** What is too much. Entries are offered from the oldest on, and are taken until nothing is too much. */
class Surplus {
  readonly #bounds: CacheBounds
  readonly #own = new Map<string, number>()
  #bytes = 0
  #entries = 0

  constructor(bounds: CacheBounds, sizes: Awaited<ReturnType<CachedAnswerRepository['listSizes']>>) {
    this.#bounds = bounds
    for (const { organizationId, bytes, entries } of sizes) {
      this.#own.set(organizationId, bytes)
      this.#bytes += bytes
      this.#entries += entries
    }
  }

  get isAny(): boolean {
    const { organizationBytesMax } = this.#bounds
    return this.#isOver() || [...this.#own.values()].some((bytes) => bytes > organizationBytesMax)
  }

  #isOver(): boolean {
    return this.#bytes > this.#bounds.bytesMax || this.#entries > this.#bounds.entriesMax
  }

  takes({ organizationId, bytes }: KeptEntry): boolean {
    const own = this.#own.get(organizationId) ?? 0
    if (!this.#isOver() && own <= this.#bounds.organizationBytesMax) return false
    this.#own.set(organizationId, own - bytes)
    this.#bytes -= bytes
    this.#entries -= 1
    return true
  }
}
