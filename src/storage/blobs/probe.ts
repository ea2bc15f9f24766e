import { newId } from '../../core/ids.ts'
import type { BlobStore } from './blob-store.ts'

/** Objects that only show that writing works. */
const probes = 'probes/'
/** Probes of processes that died that one start removes. */
const probesRemovedMax = 10

/**
 * Writes, reads and deletes a small object, so that a key that may not do one of these is found at the start and not by
 * the first batch. Rejects as the store does.
 */
export async function checkWritable(
  blobs: Pick<BlobStore, 'put' | 'get' | 'list' | 'delete'>,
): Promise<void> {
  const key = probes + newId('probe', Date.now())
  await blobs.put(key, new TextEncoder().encode(key))
  await blobs.get(key)
  await blobs.delete(key)
  // Nobody else needs them; one that another process has just written is gone only when that process deletes it anyway.
  for (const left of await blobs.list(probes, { limit: probesRemovedMax }))
    if (left < key) await blobs.delete(left)
}
