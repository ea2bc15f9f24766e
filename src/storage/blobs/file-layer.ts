import { constants } from 'node:fs'
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { codeOf } from '../../core/error-code.ts'

/** An open file. Everything is asynchronous, because a slow disk must not block the event loop. */
export interface OpenFile {
  /** Appends. After a failure it is unknown how much was written. */
  write(content: Uint8Array): Promise<void>
  /** Up to `length` bytes from `position`; fewer only at the end. */
  read(position: number, length: number): Promise<Uint8Array>
  size(): Promise<number>
  /** Makes the content survive a power cut; for the name see `fsyncFolder`. */
  fsync(): Promise<void>
  close(): Promise<void>
}

/**
 * The file operations that the folder store needs, so that tests can lose unsynced writes. Failures carry the system's
 * `code`, such as `ENOENT`.
 */
export interface FileLayer {
  /** A new file to write; fails with `EEXIST`. */
  create(path: string): Promise<OpenFile>
  /** An existing file to read; fails with `ENOENT`. */
  open(path: string): Promise<OpenFile>
  /** Replaces the target in one step. */
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Makes one folder; false when it exists already. The parent must exist. */
  makeFolder(path: string): Promise<boolean>
  /** Makes the creations, renames and removals in this folder survive a power cut. */
  fsyncFolder(path: string): Promise<void>
  exists(path: string): Promise<boolean>
  /** Entries in no particular order; folders end in `/`. Empty for an absent folder. */
  list(path: string): Promise<string[]>
}

/** The file system of this machine. */
export const systemFiles: FileLayer = {
  create: async (path) => openFile(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR),
  open: async (path) => openFile(path, constants.O_RDONLY),
  rename,
  unlink,
  makeFolder: async (path) => {
    try {
      await mkdir(path, 0o700)
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
  },
  fsyncFolder: async (path) => {
    // Windows keeps names in its own journal and cannot open a folder.
    if (process.platform === 'win32') return
    const folder = await open(path, constants.O_RDONLY)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  },
  exists: async (path) => {
    try {
      await stat(path)
      return true
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false
      throw error
    }
  },
  list: async (path) => {
    try {
      const entries = await readdir(path, { withFileTypes: true })
      return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      throw error
    }
  },
}

async function openFile(path: string, flags: number): Promise<OpenFile> {
  const handle = await open(path, flags, 0o600)
  return {
    write: async (content) => {
      let offset = 0
      while (offset < content.byteLength) {
        const { bytesWritten } = await handle.write(content, offset, content.byteLength - offset)
        offset += bytesWritten
      }
    },
    read: async (position, length) => {
      const buffer = new Uint8Array(length)
      let filled = 0
      while (filled < length) {
        const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return filled === length ? buffer : buffer.subarray(0, filled)
    },
    size: async () => (await handle.stat()).size,
    fsync: async () => handle.sync(),
    close: async () => handle.close(),
  }
}
