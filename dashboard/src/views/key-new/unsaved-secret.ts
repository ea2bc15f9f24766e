import { useState } from 'react'

/** A secret that was made and not yet saved by the person. */
export interface UnsavedSecret {
  name: string
  hash: string
  secret: string
}

const storageKey = 'headrace.unsaved-secret'

/**
 * A secret that the gateway shows once. It stays in this tab, through reloads, until the person says that it is saved;
 * closing the tab forgets it.
 */
export function useUnsavedSecret(): [UnsavedSecret | null, (secret: UnsavedSecret | null) => void] {
  const [secret, setSecret] = useState<UnsavedSecret | null>(readStored)
  const keep = (next: UnsavedSecret | null) => {
    if (next === null) sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, JSON.stringify(next))
    setSecret(next)
  }
  return [secret, keep]
}

function readStored(): UnsavedSecret | null {
  const stored = sessionStorage.getItem(storageKey)
  return stored === null ? null : (JSON.parse(stored) as UnsavedSecret)
}
