import type { View } from '../../app/view.ts'

export const model: View = { path: '/model/$', title: 'Model', load: () => import('./page.tsx') }
