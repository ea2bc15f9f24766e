import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { asFailure } from './api/failure.ts'
import { takeFont } from './app/font.ts'
import { createConsoleRouter } from './app/router.tsx'
import { SessionGate } from './app/session-gate.tsx'
import { applyTheme } from './app/theme.ts'

const retriesMax = 8
const slowestRetryMs = 8000

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      // Asks again where that can help, as late as the gateway wants; a refusal is final.
      retry: (count, error) => asFailure(error).mayPass && count < retriesMax,
      retryDelay: (count, error) =>
        asFailure(error).retryAfterMs ?? Math.min(slowestRetryMs, 500 * 2 ** count),
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
await takeFont()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <SessionGate>
        <RouterProvider router={router} />
      </SessionGate>
    </QueryClientProvider>
  </StrictMode>,
)
