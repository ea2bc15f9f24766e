import { useSyncExternalStore } from 'react'

export type ThemeChoice = 'light' | 'dark' | 'system'

const storageKey = 'headrace.theme'
const changed = 'headrace:theme'
const systemDark = matchMedia('(prefers-color-scheme: dark)')

function themeChoice(): ThemeChoice {
  const stored = localStorage.getItem(storageKey)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, choice)
  applyTheme()
}

/** The tokens follow the system by themselves; only another choice is written into the page. */
export function applyTheme(): void {
  const choice = themeChoice()
  if (choice === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = choice
  window.dispatchEvent(new Event(changed))
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener)
  systemDark.addEventListener('change', listener)
  return () => {
    window.removeEventListener(changed, listener)
    systemDark.removeEventListener('change', listener)
  }
}

/** The theme that is shown; a chart draws with colours that it reads from the tokens. */
export function useShownTheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => {
    const choice = themeChoice()
    if (choice === 'system') return systemDark.matches ? 'dark' : 'light'
    return choice
  })
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, themeChoice)
}
