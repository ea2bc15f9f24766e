/** Who wants to be woken, by channel, in this process. */
export class Signals {
  readonly #listeners = new Map<string, Set<() => void>>()

  /** Registers; the returned function takes it back. */
  listen(channel: string, wake: () => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners)
    listeners.add(wake)
    return () => {
      listeners.delete(wake)
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel)
    }
  }

  /** Wakes a channel's listeners, in a later microtask so that no notifier runs their code. */
  wake(channel: string): void {
    for (const wake of this.#listeners.get(channel) ?? []) queueMicrotask(wake)
  }

  /** Wakes everybody: signals may have been missed. */
  wakeAll(): void {
    for (const channel of this.#listeners.keys()) this.wake(channel)
  }
}
