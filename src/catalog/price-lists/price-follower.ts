import { atOnce, inTurns } from '../../core/turns.ts'
import type { Catalog } from '../catalog.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { readPriceList, type PriceList } from './price-list.ts'
import type { PriceListsRepository } from './price-lists-repository.ts'

/** How often a process looks for newly taken prices, and how often it computes all prices again, because some begin on a day. */
const pricesLookEveryMs = 5_000
const pricesRenewEveryMs = 3_600_000

/** Takes prices that the operator takes while this process runs. */
export interface PriceFollower {
  /** Looks whether there are others, and takes them. Never rejects. */
  look(): Promise<void>
  start(): void
  stop(): void
}

/** Where prices come from, and who has them. */
export interface PriceFollowerOptions {
  repository: Pick<PriceListsRepository, 'loadVersion' | 'loadNewest'>
  catalog: Pick<Catalog, 'replacePrices'>
  shipped: PriceTable
  /** The version that the catalog was made with. */
  version: number
  nowMs: () => number
  onTaken: (list: PriceList) => void
  /** Prices could not be read; those of before count on. */
  onFailure: (failure: unknown) => void
}

/**
 * The prices that count at a start, with their version; those that the program came with, and 0, when no others were ever
 * taken, and when those that were are damaged, of which `onFailure` is told.
 */
export async function loadPrices(
  repository: Pick<PriceListsRepository, 'loadNewest'>,
  shipped: PriceTable,
  onFailure: (failure: unknown) => void,
): Promise<{ version: number; table: PriceTable }> {
  const list = await repository.loadNewest()
  if (!list) return { version: 0, table: shipped }
  try {
    return { version: list.version, table: atOnce(readPriceList(list, shipped)) }
  } catch (failure) {
    onFailure(failure)
    return { version: list.version, table: shipped }
  }
}

export function createPriceFollower(options: PriceFollowerOptions): PriceFollower {
  const { repository, catalog, shipped } = options
  let { version } = options
  let renewedAtMs = options.nowMs()
  let timer: ReturnType<typeof setInterval> | null = null
  let looking: Promise<void> | null = null

  async function look(): Promise<void> {
    if ((await repository.loadVersion()) !== version) {
      const list = await repository.loadNewest()
      const table = list ? await inTurns(readPriceList(list, shipped)) : shipped
      await catalog.replacePrices(table)
      version = list?.version ?? 0
      renewedAtMs = options.nowMs()
      if (list) options.onTaken(list)
    } else if (options.nowMs() - renewedAtMs >= pricesRenewEveryMs) {
      // A price may begin on a day.
      renewedAtMs = options.nowMs()
      await catalog.replacePrices(null)
    }
  }

  const lookOnce = () =>
    (looking ??= look()
      .catch(options.onFailure)
      .finally(() => {
        looking = null
      }))
  return {
    look: lookOnce,
    start() {
      timer ??= setInterval(() => void lookOnce(), pricesLookEveryMs)
      timer.unref()
    },
    stop() {
      if (timer) clearInterval(timer)
      timer = null
    },
  }
}
