import { atOnce, inTurns } from '../../core/turns.ts'
import type { Catalog } from '../catalog.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { readPriceList, type PriceList } from './price-list.ts'
import type { PriceListsRepository } from './price-lists-repository.ts'

/**
 * How often a process looks for price lists that the operator took, and how often it computes all prices again, because
 * some begin on a certain day.
 */
const pricesLookEveryMs = 5_000
const pricesRenewEveryMs = 3_600_000

/** Puts price lists into effect that the operator takes while this process runs. */
export interface PriceFollower {
  /** Looks for a newer list, and puts it into effect. Never rejects. */
  look(): Promise<void>
  start(): void
  stop(): void
}

/** The source of price lists, and the catalog that gets them. */
export interface PriceFollowerOptions {
  repository: Pick<PriceListsRepository, 'loadVersion' | 'loadNewest'>
  catalog: Pick<Catalog, 'replacePrices'>
  shipped: PriceTable
  /** The version of the prices that the catalog was created with. */
  version: number
  nowMs: () => number
  onTaken: (list: PriceList) => void
  /** The prices could not be read; the earlier ones stay in effect. */
  onFailure: (failure: unknown) => void
}

/**
 * The prices in effect at a start, with their version. When no list was ever taken, these are the prices that the
 * program came with, and version 0. When the newest list is damaged, they are the same with the version of that list,
 * and `onFailure` is told.
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
      // A price may have begun meanwhile.
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
