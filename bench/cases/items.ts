import { itemMicrosecondsOf } from '../harness/batches.ts'
import { median } from '../harness/figures.ts'
import { startHeadrace, type Headrace } from '../harness/headrace.ts'
import { atMost, fact, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import type { World } from '../harness/world.ts'

/** Items of a batch, and how many batches of that size are made; the cost is their median. */
const sizes = [
  { items: 1_000, batches: 10 },
  { items: 10_000, batches: 5 },
  { items: 100_000, batches: 2 },
  { items: 1_000_000, batches: 1 },
]
/** The greatest size of a look. */
const quickItemsMax = 100_000
/** So that a million of them are within the limit of a batch. */
const bytesPerItem = 180
const largestMsMax = 1_800_000
/** How far a size may be from the middle of all. */
const toleranceOfCost = 0.1

/** What an item costs in batches from a thousand to a million: it must not depend on the size. */
export async function itemCosts(world: World, report: Report, scale: Scale): Promise<void> {
  const headrace = await startOwn(world, 'headrace-items')
  // The first batches are run while the runtime compiles what they run; its last compiler comes after 100,000 calls.
  for (let each = 0; each < 6; each += 1) await itemMicrosecondsOf(headrace, { items: 20_000, bytesPerItem })
  const costs: number[] = []
  for (const { items, batches } of sizes) {
    if (scale.isQuick && items > quickItemsMax) continue
    const found: number[] = []
    for (let each = 0; each < batches; each += 1)
      found.push(await itemMicrosecondsOf(headrace, { items, bytesPerItem }, largestMsMax))
    costs.push(median(found))
    report.rows.push(
      fact(`batch of ${items} items`, `${median(found).toFixed(0)} µs of CPU each, median of ${batches}`),
    )
  }
  const middle = (Math.max(...costs) + Math.min(...costs)) / 2
  const value = Math.max(...costs) / middle - 1
  const limit = toleranceOfCost
  report.rows.push(
    atMost('batch: an item at any size', `within ±${(value * 100).toFixed(1)} %`, { value, limit }),
  )
}

async function startOwn(world: World, name: string): Promise<Headrace> {
  const { folder, upstreams } = world
  const headrace = await startHeadrace({ name, folder, upstreams, isPrepaid: true })
  world.stopLater(headrace.process)
  return headrace
}
