import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { blobStorePauseMs, blobStoreWaitMs, blobsLookedForMax } from '../core/limits/storage.ts'
import type { BlobStoresRepository, KnownStore } from './blob-stores-repository.ts'
import type { BlobStore } from './blobs/blob-store.ts'

/** The blob in which a store carries its id. No dot in front: a copy by `cp blobs/*` has it too. */
const identityKey = 'store-id'

/** What joining needs. */
export interface BlobIdentityDependencies {
  stores: BlobStoresRepository
  blobs: Pick<BlobStore, 'get' | 'put' | 'exists' | 'list'>
  /** Where these blobs are, for an operator: machine and folder. */
  location: string
  /** Other processes that run on the database. */
  otherOccupants: () => Promise<string[]>
}

/** The payloads here are not those of the database; one line that names both and tells the operator what to do. */
export class BlobStoreMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BlobStoreMismatch'
  }
}

/**
 * Sees to it that database and blob store know each other: the store has an id, and the database names it. The first start
 * makes both; every later one compares. A process whose store is another one would lease batches that it cannot read, so
 * it does not start. Rejects with `BlobStoreMismatch`.
 */
export async function joinBlobStore(dependencies: BlobIdentityDependencies): Promise<void> {
  const endMs = performance.now() + blobStoreWaitMs
  for (;;) {
    const [known, here] = [await dependencies.stores.load(), await readStoreId(dependencies.blobs)]
    if (known === null) await adopt(dependencies, here)
    else if (known.storeId === here) return noteLocation(dependencies, known)
    else if (here !== null) throw mismatch(known, { ...dependencies, here })
    else if (!(await claim(dependencies, known))) {
      const isAlone = (await dependencies.otherOccupants()).length === 0
      if (isAlone || performance.now() >= endMs) throw mismatch(known, { ...dependencies, here })
      // Another process may have written the row a moment ago, and the blob comes next.
      await Bun.sleep(blobStorePauseMs)
    }
  }
}

/** What is wrong, in a line for an operator; null when the store is the database's, or the database has none yet. */
export async function describeBlobStore(
  dependencies: Pick<BlobIdentityDependencies, 'stores' | 'blobs' | 'location'>,
): Promise<string | null> {
  const known = await dependencies.stores.load()
  const here = await readStoreId(dependencies.blobs)
  return known === null || known.storeId === here ? null : mismatch(known, { ...dependencies, here }).message
}

/**
 * The database knows no store: it is new, or of version 0.1, or older than the copy of its payloads. Its row is written
 * before the blob, so that of two processes that start at once one decides.
 */
async function adopt(dependencies: BlobIdentityDependencies, here: string | null): Promise<void> {
  const { stores, blobs, location } = dependencies
  const needed = await lookForNeeded(dependencies)
  if (here === null && needed === 'missing') throw missing(location)
  // Such payloads would be removed as orphans, and their own database be left without them.
  if (here !== null && needed !== 'found' && (await hasPayloads(blobs))) {
    // Unless it became known meanwhile: then a batch of its own may have come too.
    if ((await stores.load()) === null) throw foreign(location, here)
    return
  }
  const storeId = here ?? newStoreId()
  await stores.insert({ storeId, location })
  const known = await stores.load()
  if (here === null && known?.storeId === storeId) await writeStoreId(blobs, storeId)
}

/**
 * The database knows a store and the one here has no id. It is the same one where the payloads are that batches need.
 * Where none are needed and nobody else runs it may take the place of the one before, with an id of its own: a process
 * that still has the one before is refused from then on. Says whether something was done.
 */
async function claim(dependencies: BlobIdentityDependencies, known: KnownStore): Promise<boolean> {
  const { stores, blobs, location } = dependencies
  const needed = await lookForNeeded(dependencies)
  if (needed === 'found') {
    await writeStoreId(blobs, known.storeId)
    return true
  }
  if (needed === 'missing' || (await dependencies.otherOccupants()).length > 0) return false
  const storeId = newStoreId()
  await stores.replace(known.storeId, { storeId, location })
  if ((await stores.load())?.storeId === storeId) await writeStoreId(blobs, storeId)
  return true
}

function newStoreId(): string {
  return newId('store', Date.now())
}

async function noteLocation(
  { stores, location }: BlobIdentityDependencies,
  known: KnownStore,
): Promise<void> {
  if (known.location !== location) await stores.replace(known.storeId, { storeId: known.storeId, location })
}

/** Whether payloads that batches need are here; one of the newest is proof enough. */
async function lookForNeeded({
  stores,
  blobs,
}: Pick<BlobIdentityDependencies, 'stores' | 'blobs'>): Promise<'none' | 'found' | 'missing'> {
  const keys = await stores.listNeeded(blobsLookedForMax)
  for (const key of keys) if (await blobs.exists(key)) return 'found'
  return keys.length === 0 ? 'none' : 'missing'
}

async function hasPayloads(blobs: Pick<BlobStore, 'list'>): Promise<boolean> {
  return (await blobs.list('', { limit: 2 })).some((key) => key !== identityKey)
}

async function readStoreId(blobs: Pick<BlobStore, 'get'>): Promise<string | null> {
  try {
    return new TextDecoder().decode(await blobs.get(identityKey)).trim()
  } catch (error) {
    if (error instanceof GatewayError && error.type === 'not_found') return null
    throw error
  }
}

async function writeStoreId(blobs: Pick<BlobStore, 'put'>, storeId: string): Promise<void> {
  try {
    await blobs.put(identityKey, new TextEncoder().encode(`${storeId}\n`))
  } catch (error) {
    // Another process was faster; what it wrote is looked at next.
    if (!(error instanceof GatewayError && error.type === 'conflict')) throw error
  }
}

function mismatch(
  known: KnownStore,
  { location, here }: { location: string; here: string | null },
): BlobStoreMismatch {
  const found = here === null ? 'has no payloads of it' : `is another store (${here})`
  return new BlobStoreMismatch(
    `The payloads of this database are in ${known.location} (store ${known.storeId}), and ${location} ${found}. ` +
      'Processes on one database share one folder "blobs": mount that folder, or set HEADRACE_DATA to the folder it is in. ' +
      `If it is lost for good, write ${known.storeId} into the file ${identityKey} in the new one.`,
  )
}

function missing(location: string): BlobStoreMismatch {
  return new BlobStoreMismatch(
    `The database has batches whose payloads are not in ${location}. Processes on one database share one folder "blobs": ` +
      'set HEADRACE_DATA to the folder it is in. If it is lost for good, write any name into the file ' +
      `${identityKey} in the new one.`,
  )
}

function foreign(location: string, here: string): BlobStoreMismatch {
  return new BlobStoreMismatch(
    `${location} (store ${here}) has payloads that this database does not know: they are another database's. ` +
      'Start on that database, or move the folder away.',
  )
}
