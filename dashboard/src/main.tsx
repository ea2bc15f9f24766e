import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { asFailure } from './api/failure.ts'
import { retryWaitMs } from './api/retries.ts'
import { takeFont } from './app/font.ts'
import { createConsoleRouter } from './app/router.tsx'
import { SessionGate } from './app/session-gate.tsx'
import { applyTheme } from './app/theme.ts'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      // Asks again where that can help, as late as the gateway wants, for as long as the page is looked at: a panel tells
      // meanwhile what fails, and recovers by itself. A refusal is final.
      retry: (_, error) => asFailure(error).mayPass,
      retryDelay: retryWaitMs,
      // A gateway in the LAN answers although the browser believes that it is offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

applyTheme()
const router = createConsoleRouter()
const root = document.querySelector('#app')
if (root === null) throw new Error('the page has no #app')
// Not awaited at the top level: the compiler would cut the program into a file for each set of pages that share something
// with it, two dozen requests before the first view.
void takeFont().then(() =>
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </StrictMode>,
  ),
)
