/** The listeners of this process, by channel. */
export class Signals {
  readonly #listeners = new Map<string, Set<() => void>>()

  /** Adds a listener; the returned function removes it. */
  listen(channel: string, wake: () => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners)
    listeners.add(wake)
    return () => {
      listeners.delete(wake)
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel)
    }
  }

  /** Wakes a channel's listeners in a later microtask, so that their code does not run inside the notifier's. */
  wake(channel: string): void {
    for (const wake of this.#listeners.get(channel) ?? []) queueMicrotask(wake)
  }

  /** Wakes all listeners, because signals may have been missed. */
  wakeAll(): void {
    for (const channel of this.#listeners.keys()) this.wake(channel)
  }
}
