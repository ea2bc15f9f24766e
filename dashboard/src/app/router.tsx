import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type AnyRouter,
} from '@tanstack/react-router'
import { basePath } from '../api/place.ts'
import { views } from '../views/registry.ts'
import { NotFound } from './not-found.tsx'
import { PageFailure } from './page-failure.tsx'
import { Shell } from './shell.tsx'

/** A route for each view; its page is a chunk of its own. */
export function createConsoleRouter(): AnyRouter {
  const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })
  const home = createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/overview', replace: true })
    },
  })
  const routes = views.map(({ path, load }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: lazyRouteComponent(load, 'Page'),
      errorComponent: PageFailure,
    }),
  )
  return createRouter({
    routeTree: root.addChildren([home, ...routes]),
    basepath: `${basePath}/ui`,
    defaultPreload: 'intent',
    defaultPendingMs: 150,
    scrollRestoration: true,
  })
}
