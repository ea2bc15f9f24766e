/** A batch that was answered with 202, or that a key may have made. */
export interface AcceptedBatch {
  id: string
  /** The secret of the key that may read it. */
  key: string
  customIds: readonly string[]
  isDeleted: boolean
}

/** A batch to be created. */
export interface NewBatch {
  items: readonly Record<string, unknown>[]
  endpoint?: string
  model?: string
  lane?: string
  key?: string
  idempotencyKey?: string
}
