import { dlopen, FFIType } from 'bun:ffi'
import { closeSync, openSync } from 'node:fs'
import { assert } from '../../core/assert.ts'

const exclusive = 2
const nonBlocking = 4
const unlock = 8
/** A signal may interrupt a blocking call; after this many interruptions in a row the cause must be different. */
const interruptionsMax = 100

type Flock = (descriptor: number, operation: number) => number

/**
 * An exclusive lock on a file between processes (and between openings of the file in one process). The kernel frees it
 * when the process dies, in whatever way. Windows has no `flock`: there the lock is always granted, SQLite's own busy
 * wait keeps writers apart, and a dead owner cannot be recognised.
 */
export class FileLock {
  readonly #descriptor: number
  readonly #flock: Flock | null

  /** Opens the file, creating it. The descriptor is closed on exec, so a child process never inherits the lock. */
  constructor(path: string) {
    this.#flock = loadFlock()
    this.#descriptor = openSync(path, 'a', 0o600)
  }

  /** Waits, blocking the calling thread, until the lock is ours. */
  acquire(): void {
    if (this.#flock === null) return
    for (let tries = 0; this.#flock(this.#descriptor, exclusive) !== 0; tries++) {
      assert(tries < interruptionsMax, 'flock failed')
    }
  }

  /** Takes the lock if it is free. Always false without `flock`, where that is unknown. */
  tryAcquire(): boolean {
    return this.#flock !== null && this.#flock(this.#descriptor, exclusive | nonBlocking) === 0
  }

  release(): void {
    this.#flock?.(this.#descriptor, unlock)
  }

  /** Closes the file, which also gives the lock back. */
  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Whether no process holds the lock of this file, which is created where it is missing. False where that is unknown. */
export function isLockFree(path: string): boolean {
  const lock = new FileLock(path)
  try {
    return lock.tryAcquire()
  } finally {
    lock.close()
  }
}

/** Whether this system has such locks. */
export function hasFileLocks(): boolean {
  return loadFlock() !== null
}

let loaded: Flock | null | undefined

function loadFlock(): Flock | null {
  loaded ??= openLibrary()
  return loaded
}

function openLibrary(): Flock | null {
  if (process.platform === 'win32') return null
  for (const library of ['libc.so.6', 'libSystem.B.dylib', `libc.musl-${muslArch()}.so.1`]) {
    try {
      return dlopen(library, { flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } }).symbols
        .flock
    } catch {
      // This library name does not exist on this system.
    }
  }
  return null
}

function muslArch(): string {
  return process.arch === 'arm64' ? 'aarch64' : 'x86_64'
}
