import { dirname } from 'node:path'
import type { FileLayer, OpenFile } from '../../src/storage/blobs/file-layer.ts'

/** A file's content in memory, and the part that would survive a power cut. */
interface Inode {
  content: Uint8Array
  durable: Uint8Array
}

type Entry = { kind: 'file'; inode: Inode } | { kind: 'folder' }

/**
 * A file system in memory that remembers what was synced. `crash` forgets the rest: content without `fsync`, and names
 * created, renamed or removed without `fsyncFolder` of their folder. A file with a synced name and unsynced content
 * comes back empty, as on real file systems.
 */
export class LossyFileLayer implements FileLayer {
  #names = new Map<string, Entry>([['/', { kind: 'folder' }]])
  #durableNames = new Map<string, Entry>([['/', { kind: 'folder' }]])
  #failure: { operation: string; code: string } | null = null
  openFiles = 0

  /** Simulates a power cut: everything that was not synced is lost. */
  crash(): void {
    this.#names = new Map()
    for (const [path, entry] of this.#durableNames) {
      if (!this.#isReachable(path)) continue
      if (entry.kind === 'file') entry.inode.content = entry.inode.durable
      this.#names.set(path, entry)
    }
    this.#durableNames = new Map(this.#names)
    this.openFiles = 0
  }

  /** Makes the next call of one operation fail with a code such as `ENOSPC`. */
  failNext(operation: 'create' | 'write' | 'fsync' | 'rename' | 'fsyncFolder', code: string): void {
    this.#failure = { operation, code }
  }

  /** The paths of all existing files, in order. */
  paths(): string[] {
    return [...this.#names]
      .filter(([, entry]) => entry.kind === 'file')
      .map(([path]) => path)
      .toSorted()
  }

  async create(path: string): Promise<OpenFile> {
    this.#meetFailure('create')
    if (this.#names.has(path)) throw failure('EEXIST')
    if (this.#names.get(dirname(path))?.kind !== 'folder') throw failure('ENOENT')
    const inode = { content: new Uint8Array(), durable: new Uint8Array() }
    this.#names.set(path, { kind: 'file', inode })
    return this.#handle(inode)
  }

  async open(path: string): Promise<OpenFile> {
    const entry = this.#names.get(path)
    if (entry?.kind !== 'file') throw failure('ENOENT')
    return this.#handle(entry.inode)
  }

  async rename(from: string, to: string): Promise<void> {
    this.#meetFailure('rename')
    const entry = this.#names.get(from)
    if (!entry) throw failure('ENOENT')
    this.#names.delete(from)
    this.#names.set(to, entry)
  }

  async unlink(path: string): Promise<void> {
    if (!this.#names.delete(path)) throw failure('ENOENT')
  }

  async makeFolder(path: string): Promise<boolean> {
    if (this.#names.has(path)) return false
    if (!this.#names.has(dirname(path))) throw failure('ENOENT')
    this.#names.set(path, { kind: 'folder' })
    return true
  }

  async fsyncFolder(path: string): Promise<void> {
    this.#meetFailure('fsyncFolder')
    for (const known of this.#durableNames.keys()) {
      if (known !== '/' && dirname(known) === path && !this.#names.has(known))
        this.#durableNames.delete(known)
    }
    for (const [name, entry] of this.#names)
      if (name !== '/' && dirname(name) === path) this.#durableNames.set(name, entry)
  }

  async exists(path: string): Promise<boolean> {
    return this.#names.has(path)
  }

  async list(path: string): Promise<string[]> {
    const folder = path.endsWith('/') ? path.slice(0, -1) : path
    return [...this.#names]
      .filter(([name]) => name !== '/' && dirname(name) === folder)
      .map(([name, entry]) => name.slice(folder.length + 1) + (entry.kind === 'folder' ? '/' : ''))
  }

  #handle(inode: Inode): OpenFile {
    this.openFiles++
    return {
      write: async (content) => {
        this.#meetFailure('write')
        const grown = new Uint8Array(inode.content.byteLength + content.byteLength)
        grown.set(inode.content)
        grown.set(content, inode.content.byteLength)
        inode.content = grown
      },
      read: async (position, length) => inode.content.slice(position, position + length),
      size: async () => inode.content.byteLength,
      fsync: async () => {
        this.#meetFailure('fsync')
        inode.durable = inode.content
      },
      close: async () => {
        this.openFiles--
      },
    }
  }

  #isReachable(path: string): boolean {
    return path === '/' || (this.#durableNames.has(dirname(path)) && this.#isReachable(dirname(path)))
  }

  #meetFailure(operation: string): void {
    if (this.#failure?.operation !== operation) return
    const { code } = this.#failure
    this.#failure = null
    throw failure(code)
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}
