import { assert } from '../../core/assert.ts'

const keyPattern = /^(?!.*(?:^|\/)\.+(?:\/|$))[a-z0-9_.-]+(?:\/[a-z0-9_.-]+)*$/

/** Fails on a key that no blob may have, such as one that leaves the store's folder. */
export function checkKey(key: string): void {
  assert(keyPattern.test(key), 'a blob key has only lower-case letters, digits and _ . / -')
}
