import { beforeEach, expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { useUnsavedSecret, type UnsavedSecret } from './unsaved-secret.ts'

const kept = new Map<string, string>()
Object.assign(globalThis, {
  sessionStorage: {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  },
})
beforeEach(() => kept.clear())

const made: UnsavedSecret = { name: 'ci', hash: 'a'.repeat(64), secret: 'sk-hr-v1-of-a-test' }

type Change = (secret: UnsavedSecret | null) => void

/** What a page shows after a load, and the way to change what it keeps. */
function load(): { shown: string; keep: Change } {
  const changes: Change[] = []
  function Page() {
    const [secret, change] = useUnsavedSecret()
    changes.push(change)
    return secret?.secret ?? 'nothing'
  }
  const shown = renderToStaticMarkup(createElement(Page))
  return { shown, keep: (secret) => changes[0]?.(secret) }
}

test('a secret that nobody has saved is there again after a reload, until the person says that it is saved', () => {
  const first = load()
  expect(first.shown).toBe('nothing')
  first.keep(made)
  expect(load().shown).toBe(made.secret)
  const again = load()
  expect(again.shown).toBe(made.secret)
  again.keep(null)
  expect(load().shown).toBe('nothing')
  expect(kept.size).toBe(0)
})
