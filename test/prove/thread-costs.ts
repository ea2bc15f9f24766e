import { readdirSync, readFileSync } from 'node:fs'

/** Processor time of one kind of a program's threads, in milliseconds. */
export interface ThreadCost {
  name: string
  own: number
  kernel: number
}

/** Milliseconds of one tick of /proc/<pid>/stat. */
const tickMs = 10

/** What each kind of thread of a program has cost since its start. */
export function threadCosts(pid: number): ThreadCost[] {
  const costs = new Map<string, ThreadCost>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')).replace(/ \d+$/, '')
    const [, , , , , , , , , , , own, kernel] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const sum = costs.get(name) ?? { name, own: 0, kernel: 0 }
    sum.own += Number(own) * tickMs
    sum.kernel += Number(kernel) * tickMs
    costs.set(name, sum)
  }
  return [...costs.values()]
}

/** What one of `count` runs has cost between two looks, thread by thread, for people. */
export function describeCosts(
  before: readonly ThreadCost[],
  after: readonly ThreadCost[],
  count: number,
): string {
  const parts = after.map(({ name, own, kernel }) => {
    const earlier = before.find((cost) => cost.name === name)
    const each = (now: number, then = 0) => (now - then) / count
    return { name, own: each(own, earlier?.own), kernel: each(kernel, earlier?.kernel) }
  })
  return parts
    .filter(({ own, kernel }) => own + kernel >= 1)
    .map(({ name, own, kernel }) => `${name} ${own.toFixed(0)} ms and ${kernel.toFixed(0)} in the kernel`)
    .join('; ')
}
