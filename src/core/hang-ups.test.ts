import { expect, test } from 'bun:test'
import { HangUps, type Leavable } from './hang-ups.ts'

class Work implements Leavable {
  place = -1
  told = 0
  readonly #caller = new AbortController()
  readonly #onTold: () => void

  constructor(onTold: () => void = () => undefined) {
    this.#onTold = onTold
  }

  get signal(): AbortSignal {
    return this.#caller.signal
  }

  leave(): void {
    this.#caller.abort()
  }

  onHangUp(): void {
    this.told += 1
    this.#onTold()
  }
}

/** Longer than two looks. */
const soonMs = 150

test('work whose caller leaves is told once, and soon', async () => {
  const hangUps = new HangUps()
  const [first, staying, later] = [new Work(), new Work(), new Work()]
  hangUps.watch(first)
  hangUps.watch(staying)
  first.leave()
  await Bun.sleep(soonMs)
  expect([first.told, staying.told]).toEqual([1, 0])
  hangUps.forget(staying)
  // Nobody was watched for a while.
  await Bun.sleep(soonMs)
  hangUps.watch(later)
  hangUps.watch(staying)
  later.leave()
  await Bun.sleep(soonMs)
  expect([first.told, staying.told, later.told]).toEqual([1, 0, 1])
  hangUps.forget(staying)
})

test('work that has ended is not told, also when the end of other work ends it', async () => {
  const hangUps = new HangUps()
  const ended = new Work()
  hangUps.watch(ended)
  hangUps.forget(ended)
  hangUps.forget(ended)
  const second = new Work()
  const first = new Work(() => hangUps.forget(second))
  hangUps.watch(first)
  hangUps.watch(second)
  for (const work of [ended, first, second]) work.leave()
  await Bun.sleep(soonMs)
  expect([ended.told, first.told, second.told]).toEqual([0, 1, 0])
})
