import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { FlaskConical, LogOut, Menu, Moon, Search, Sun, SunMoon, UserRound } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { call } from '../api/client.ts'
import { views } from '../views/registry.ts'
import { Mark } from './mark.tsx'
import { useSession } from './session.ts'
import { systemQuery } from './system.ts'
import { chooseTheme, useThemeChoice, type ThemeChoice } from './theme.ts'
import type { ViewGroup } from './view.ts'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: component }) => ({ default: component })))
const Sheet = lazy(() => import('./sheet.tsx').then(({ Sheet: component }) => ({ default: component })))

/** What stands around every page: the ways to the others, the theme, who is signed in. */
export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [isSheetOpen, setSheetOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    setSheetOpen(false)
    // Who listens to the page hears where the link has led to.
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setPaletteOpen(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  const openPalette = () => setPaletteOpen(true)
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar onSearch={openPalette} />
      <header className="topbar">
        <button
          type="button"
          className="icon-button"
          aria-label="Open the menu"
          aria-expanded={isSheetOpen}
          onClick={() => setSheetOpen(true)}
        >
          <Menu size={18} aria-hidden />
        </button>
        <Link to="/overview" className="brand">
          <Mark />
          Headrace
        </Link>
        <span className="grow" />
        <button type="button" className="icon-button" aria-label="Find by id" onClick={openPalette}>
          <Search size={18} aria-hidden />
        </button>
      </header>
      <main className="main" id="main" ref={main} tabIndex={-1}>
        <SandboxNotice />
        <Outlet />
      </main>
      <Suspense>
        {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
        {isSheetOpen && (
          <Sheet onClose={() => setSheetOpen(false)}>
            <Sidebar onSearch={openPalette} isSheet />
          </Sheet>
        )}
      </Suspense>
    </div>
  )
}

const groups: readonly { name: ViewGroup; title: string }[] = [
  { name: 'watch', title: 'Watch' },
  { name: 'try', title: 'Playground' },
  { name: 'manage', title: 'Manage' },
]

function Sidebar({ onSearch, isSheet = false }: { onSearch: () => void; isSheet?: boolean }) {
  return (
    <nav className="sidebar" aria-label={isSheet ? 'Menu' : 'Console'}>
      <Link to="/overview" className="brand" aria-label="Headrace">
        <Mark />
        <span className="word">Headrace</span>
      </Link>
      <button type="button" className="nav-button nav-search" onClick={onSearch} title="Find by id">
        <Search size={14} aria-hidden />
        <span className="word">Find by id</span>
        <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {groups.map(({ name, title }) => (
        <div className="nav-group" key={name}>
          <h2>{title}</h2>
          {views
            .filter(({ sidebar }) => sidebar?.group === name)
            .map(({ path, title: word, sidebar }) => (
              <Link
                key={path}
                to={path}
                className="nav-link"
                title={word}
                activeOptions={{ includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                {sidebar && <sidebar.icon size={16} strokeWidth={1.75} aria-hidden />}
                <span className="word">{word}</span>
              </Link>
            ))}
        </div>
      ))}
      <SidebarFoot />
    </nav>
  )
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

const themes: Readonly<Record<ThemeChoice, { next: ThemeChoice; word: string; icon: typeof Sun }>> = {
  system: { next: 'light', word: 'Theme: system', icon: SunMoon },
  light: { next: 'dark', word: 'Theme: light', icon: Sun },
  dark: { next: 'system', word: 'Theme: dark', icon: Moon },
}

function SidebarFoot() {
  const { person, opened_by: openedBy } = useSession()
  const queries = useQueryClient()
  const theme = themes[useThemeChoice()]
  const signOut = async () => {
    await call('DELETE /headrace/session').catch(() => undefined)
    queries.clear()
    window.location.reload()
  }
  const name = person.email !== '' ? person.email : (person.first_name ?? `Signed in by ${openedBy}`)
  return (
    <div className="sidebar-foot">
      <button type="button" className="nav-button" title={theme.word} onClick={() => chooseTheme(theme.next)}>
        <theme.icon size={16} strokeWidth={1.75} aria-hidden />
        <span className="word">{theme.word}</span>
      </button>
      <Link to="/you" className="nav-link" title={name} activeProps={{ 'aria-current': 'page' }}>
        <UserRound size={16} strokeWidth={1.75} aria-hidden />
        <span className="word cut">{name}</span>
      </Link>
      <button type="button" className="nav-button" title="Sign out" onClick={() => void signOut()}>
        <LogOut size={16} strokeWidth={1.75} aria-hidden />
        <span className="word">Sign out</span>
      </button>
    </div>
  )
}

/** Says on every page that nothing is real while the simulator answers. */
function SandboxNotice() {
  const { data } = useQuery(systemQuery)
  if (data?.is_sandbox !== true) return null
  return (
    <div className="notice">
      <FlaskConical size={16} aria-hidden />
      <span>
        The simulator answers: nothing is real, nobody is charged. <Link to="/start">Add a provider</Link>
      </span>
    </div>
  )
}
