/**
 * Locks on budgets within this process: changes to a budget's leases run one at a time, except captures. A task that
 * needs several budgets locks them in the order given; callers pass them sorted, so that no two tasks wait for each other.
 */
export class BudgetLocks {
  readonly #tails = new Map<string, Promise<void>>()

  /** Runs the task while no other task has a lock on any of these budgets. */
  async run<T>(budgetIds: readonly string[], task: () => Promise<T>): Promise<T> {
    const leave: (() => void)[] = []
    for (const budgetId of budgetIds) leave.push(await this.#enter(budgetId))
    try {
      return await task()
    } finally {
      for (const one of leave) one()
    }
  }

  async #enter(budgetId: string): Promise<() => void> {
    const before = this.#tails.get(budgetId)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#tails.set(budgetId, promise)
    await before
    return () => {
      if (this.#tails.get(budgetId) === promise) this.#tails.delete(budgetId)
      resolve()
    }
  }
}
