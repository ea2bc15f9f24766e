import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type AnyRouter,
} from '@tanstack/react-router'
import { gatewayAnswers } from '../api/answers.ts'
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
      component: lazyRouteComponent(() => loadPage(load), 'Page'),
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

/**
 * Loads a page. One that a newer version has replaced makes the router load everything anew; while nothing answers that would
 * lose the console, so the failure is shown in the page's place.
 */
async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (await gatewayAnswers()) throw error
    throw new Error('The gateway does not answer, so this view could not be loaded.', { cause: error })
  }
}
