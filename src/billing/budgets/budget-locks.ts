/**
 * Turns at budgets within this process: whatever changes a lease, captures apart, goes one at a time per budget.
 * Several are entered in the order given, which callers keep sorted, so that nobody waits in a circle.
 */
export class BudgetLocks {
  readonly #tails = new Map<string, Promise<void>>()

  /** Runs the task while nobody else has any of these budgets. */
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
