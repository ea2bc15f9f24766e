import type { Database } from '../storage/database.ts'

/** Who this process is among those that share the database, and how they wake each other. */
export interface Signals {
  readonly ownerId: string
  isOwnerDead(ownerId: string): Promise<boolean>
  /** There is work for workers. Carries no data and may be lost. */
  wakeWorkers(): void
  onWake(wake: () => void): () => void
}

const channel = 'batches'

export function createSignals(database: Database): Signals {
  return {
    ownerId: database.ownerId,
    isOwnerDead: (ownerId) => database.isOwnerDead(ownerId),
    wakeWorkers: () => database.notify(channel),
    onWake: (wake) => database.listen(channel, wake),
  }
}
