import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { BlobStoresRepository, KnownStore } from './blob-stores-repository.ts'
import type { BlobStore } from './blobs/blob-store.ts'

/** How long a blob store may be without the id that another process has just written into the database, and between two looks. */
const blobStoreWaitMs = 2_000
const blobStorePauseMs = 100
/** Payloads of batches that are looked for in a store; finding one is enough. */
const blobsLookedForMax = 5

/** The blob that contains a store's id. Its name has no leading dot, so that `cp blobs/*` copies it too. */
const identityKey = 'store-id'

/** What `joinBlobStore` needs. */
export interface BlobIdentityDependencies {
  stores: BlobStoresRepository
  blobs: Pick<BlobStore, 'get' | 'put' | 'exists' | 'list'>
  /** The place of these blobs, for an operator: machine and folder. */
  location: string
  /** The operator's variable that names the place. */
  variable: 'HEADRACE_DATA' | 'BLOB_URL'
  /** Other processes that run on the database. */
  otherOccupants: () => Promise<string[]>
}

/** The blob store is not the database's. The message is one line that names both and tells the operator what to do. */
export class BlobStoreMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BlobStoreMismatch'
  }
}

/**
 * Makes sure that database and blob store belong together: the store has an id, and the database names it. The first
 * start writes both; every later start compares them. With a different store the process would lease batches that it
 * cannot read, so it does not start. Rejects with `BlobStoreMismatch`.
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
      // Another process may have written the row a moment ago and be about to write the blob.
      await Bun.sleep(blobStorePauseMs)
    }
  }
}

/** What is wrong, in one line for an operator; null when the store is the database's, or the database names no store yet. */
export async function describeBlobStore(
  dependencies: Pick<BlobIdentityDependencies, 'stores' | 'blobs' | 'location' | 'variable'>,
): Promise<string | null> {
  const known = await dependencies.stores.load()
  const here = await readStoreId(dependencies.blobs)
  return known === null || known.storeId === here ? null : mismatch(known, { ...dependencies, here }).message
}

/**
 * Adopts the store here for a database that names none: it is new, or of version 0.1, or a backup that is older than
 * its payloads. The row is written before the blob; so when two processes start at once, the row decides for one store.
 */
async function adopt(dependencies: BlobIdentityDependencies, here: string | null): Promise<void> {
  const { stores, blobs, location } = dependencies
  const needed = await lookForNeeded(dependencies)
  if (here === null && needed === 'missing') throw missing(dependencies)
  // The payloads belong to a different database. Adopting them would remove them as orphans, and that database would lose them.
  if (here !== null && needed !== 'found' && (await hasPayloads(blobs))) {
    // Another process may have adopted this store meanwhile, and the payloads may be of a batch since; then this is no mismatch.
    if ((await stores.load()) === null) throw foreign(dependencies, here)
    return
  }
  const storeId = here ?? newStoreId()
  await stores.insert({ storeId, location })
  const known = await stores.load()
  if (here === null && known?.storeId === storeId) await writeStoreId(blobs, storeId)
}

/**
 * Claims a store without an id for a database that names a store. If the payloads that batches need are here, it is
 * that store, and gets its id. If no payloads are needed and no other process runs, it replaces that store under a new
 * id, and a process that still has the old store is refused from then on. Returns whether it wrote something.
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

/** Whether the payloads that batches need are here; finding one of the newest is enough. */
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
    // Another process wrote it first; the caller looks again and finds what was written.
    if (!(error instanceof GatewayError && error.type === 'conflict')) throw error
  }
}

/** The parts of a message that say where the payloads are. */
type BlobPlace = Pick<BlobIdentityDependencies, 'location' | 'variable'>

function mismatch(
  known: KnownStore,
  { location, variable, here }: BlobPlace & { here: string | null },
): BlobStoreMismatch {
  const found = here === null ? 'has no payloads of it' : `is another store (${here})`
  return new BlobStoreMismatch(
    `The payloads of this database are in ${known.location} (store ${known.storeId}), and ${location} ${found}. ` +
      `${sharing[variable]}: ${variable === 'BLOB_URL' ? '' : 'mount that folder, or '}${remedies[variable]}. ` +
      `If it is lost for good, write ${known.storeId} into the ${nouns[variable]} ${identityKey} in the new one.`,
  )
}

function missing({ location, variable }: BlobPlace): BlobStoreMismatch {
  return new BlobStoreMismatch(
    `The database has batches whose payloads are not in ${location}. ${sharing[variable]}: ` +
      `${remedies[variable]}. If it is lost for good, write any name into the ${nouns[variable]} ` +
      `${identityKey} in the new one.`,
  )
}

function foreign({ location, variable }: BlobPlace, here: string): BlobStoreMismatch {
  const away = variable === 'BLOB_URL' ? 'name another prefix in BLOB_URL' : 'move the folder away'
  return new BlobStoreMismatch(
    `${location} (store ${here}) has payloads that this database does not know: they are another database's. ` +
      `Start on that database, or ${away}.`,
  )
}

const sharing = {
  HEADRACE_DATA: 'Processes on one database share one folder "blobs"',
  BLOB_URL: 'Processes on one database have one and the same BLOB_URL',
} as const
const remedies = {
  HEADRACE_DATA: 'set HEADRACE_DATA to the folder it is in',
  BLOB_URL:
    'set BLOB_URL to the bucket and prefix they are in, or leave it out if they are in the data folder',
} as const
const nouns = { HEADRACE_DATA: 'file', BLOB_URL: 'object' } as const
