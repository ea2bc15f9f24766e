import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { blobListMax } from '../../core/limits/storage.ts'
import { StorageFailure, storageUnavailable } from '../database.ts'
import { checkKey } from './blob-key.ts'
import { absent, type BlobRange, type BlobStore, type BlobWritten, taken } from './blob-store.ts'
import { systemFiles } from './file-layer.ts'
import type { FileLayer, OpenFile } from './file-layer.ts'
import { codeOf } from '../../core/error-code.ts'

/** Bytes read from a blob at a time, so that a slow reader holds no more. */
export const blobChunkBytes = 256 * 1024
/** Unfinished files are here: outside every key, but on the same file system, so that a rename is one step. */
const unfinishedFolder = '.unfinished'

/** A blob store in a folder of this machine. Several processes may share it. */
export class FolderBlobStore implements BlobStore {
  readonly #root: string
  readonly #files: FileLayer
  readonly #clock: Clock
  /** Folders that are known to be durable; bounded. Saves a system call per put. */
  readonly #folders = new Set<string>()
  /** Keys that this process is writing, so that two puts of one key cannot both find it free. */
  readonly #writing = new Set<string>()

  constructor(root: string, options: { files?: FileLayer; clock?: Clock } = {}) {
    this.#root = root
    this.#files = options.files ?? systemFiles
    this.#clock = options.clock ?? systemClock
  }

  async put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobWritten> {
    const path = this.#pathOf(key)
    if (this.#writing.has(key)) throw taken()
    this.#writing.add(key)
    try {
      return await this.#write(path, content)
    } finally {
      this.#writing.delete(key)
    }
  }

  async get(key: string): Promise<Uint8Array> {
    const file = await this.#open(key)
    try {
      return await guard(async () => file.read(0, await file.size()))
    } finally {
      await file.close()
    }
  }

  stream(key: string, range: BlobRange = {}): ReadableStream<Uint8Array> {
    let position = range.offset ?? 0
    const end = position + (range.length ?? Number.POSITIVE_INFINITY)
    let file: OpenFile | null = null
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            file ??= await this.#open(key)
            const length = Math.min(blobChunkBytes, end - position)
            const chunk = length > 0 ? await guard(() => read(file, position, length)) : new Uint8Array()
            position += chunk.byteLength
            if (chunk.byteLength > 0) return controller.enqueue(chunk)
            await file.close()
            controller.close()
          } catch (error) {
            await file?.close()
            throw error
          }
        },
        cancel: async () => file?.close(),
      },
      // No read-ahead: a thousand stalled readers use no memory.
      { highWaterMark: 0 },
    )
  }

  async size(key: string): Promise<number> {
    const file = await this.#open(key)
    try {
      return await guard(() => file.size())
    } finally {
      await file.close()
    }
  }

  exists(key: string): Promise<boolean> {
    return guard(() => this.#files.exists(this.#pathOf(key)))
  }

  async delete(key: string): Promise<void> {
    const path = this.#pathOf(key)
    await guard(async () => {
      try {
        await this.#files.unlink(path)
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return
        throw error
      }
      await this.#files.fsyncFolder(dirname(path))
    })
  }

  async list(prefix: string, page: { after?: string; limit?: number } = {}): Promise<string[]> {
    const limit = Math.min(page.limit ?? blobListMax, blobListMax)
    const keys: string[] = []
    await guard(() => this.#collect('', { prefix, after: page.after ?? '', limit, keys }))
    return keys
  }

  async removeUnfinished(beforeMs: number): Promise<number> {
    const folder = join(this.#root, unfinishedFolder)
    let removed = 0
    for (const name of await guard(() => this.#files.list(folder))) {
      if (Number.parseInt(name.slice('put_'.length, 'put_'.length + 9), 36) >= beforeMs) continue
      // Another process may remove the same files.
      await this.#files.unlink(join(folder, name)).then(
        () => removed++,
        () => undefined,
      )
    }
    return removed
  }

  async #write(path: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobWritten> {
    const unfinished = join(this.#root, unfinishedFolder, newId('put', this.#clock.nowMs()))
    const folders = [dirname(unfinished), dirname(path)]
    const file = await guard(() => this.#inFolders(folders, () => this.#files.create(unfinished)))
    let leftover = unfinished
    try {
      const written = await fill(file, content)
      // A rename would replace an existing file. Keys are random or fenced, so no other process writes this one between the two lines.
      if (await guard(() => this.#files.exists(path))) throw taken()
      await guard(() => this.#inFolders([dirname(path)], () => this.#files.rename(unfinished, path)))
      leftover = path
      await guard(() => this.#files.fsyncFolder(dirname(path)))
      return written
    } catch (error) {
      await this.#files.unlink(leftover).catch(() => undefined)
      throw error
    }
  }

  /** Makes the folders and runs `work`; repeats both once when a folder that was known to exist has been removed. */
  async #inFolders<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
    try {
      for (const folder of folders) await this.#makeFolders(folder)
      return await work()
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      this.#folders.clear()
      for (const folder of folders) await this.#makeFolders(folder)
      return work()
    }
  }

  /** Makes a folder and its parents durable: when a folder's name is lost in a power cut, the synced files in it are lost too. */
  async #makeFolders(path: string): Promise<void> {
    if (this.#folders.has(path)) return
    const parent = dirname(path)
    if (parent !== path && !(await this.#files.exists(parent))) await this.#makeFolders(parent)
    await this.#files.makeFolder(path)
    // Synced even if the folder existed: another process may have made it and not synced it yet.
    await this.#files.fsyncFolder(parent)
    if (this.#folders.size >= foldersRememberedMax) this.#folders.clear()
    this.#folders.add(path)
  }

  async #collect(
    folder: string,
    search: { prefix: string; after: string; limit: number; keys: string[] },
  ): Promise<void> {
    const entries = await this.#files.list(join(this.#root, folder))
    for (const entry of entries.toSorted()) {
      if (search.keys.length >= search.limit) return
      const name = folder + entry
      if (entry.startsWith('.')) continue
      if (!entry.endsWith('/')) {
        if (name.startsWith(search.prefix) && name > search.after) search.keys.push(name)
      } else if (mayHold(name, search.prefix) && !isBefore(name, search.after))
        await this.#collect(name, search)
    }
  }

  async #open(key: string): Promise<OpenFile> {
    try {
      return await this.#files.open(this.#pathOf(key))
    } catch (error) {
      // ENOTDIR: a part of the key is an object itself and not a folder.
      const isAbsent = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
      throw isAbsent ? absent() : failed(error)
    }
  }

  #pathOf(key: string): string {
    checkKey(key)
    return join(this.#root, key)
  }
}

const foldersRememberedMax = 10_000

/** Writes, syncs and closes the file. An error of the source is thrown unchanged. */
async function fill(file: OpenFile, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobWritten> {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of toChunks(content)) {
      hash.update(chunk)
      bytes += chunk.byteLength
      await guard(() => file.write(chunk))
    }
    await guard(() => file.fsync())
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Cuts content into pieces: hashing and copying many megabytes at once would block the event loop. */
async function* toChunks(content: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content instanceof Uint8Array ? [content] : content) {
    for (let start = 0; start < chunk.byteLength; start += blobChunkBytes)
      yield chunk.subarray(start, start + blobChunkBytes)
  }
}

async function read(file: OpenFile | null, position: number, length: number): Promise<Uint8Array> {
  return file ? file.read(position, length) : new Uint8Array()
}

/** Whether a folder (ending in `/`) may hold keys with the prefix. */
function mayHold(folder: string, prefix: string): boolean {
  return folder.startsWith(prefix) || prefix.startsWith(folder)
}

/** Whether every key of a folder (ending in `/`) comes before the last one already seen. */
function isBefore(folder: string, after: string): boolean {
  return folder < after && !after.startsWith(folder)
}

async function guard<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof GatewayError ? error : failed(error)
  }
}

function failed(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return storageUnavailable(new StorageFailure(message, { code: codeOf(error), cause: error }))
}
