import type { View } from '../../app/view.ts'

export const batch: View = { path: '/batches/$id', title: 'Batch', load: () => import('./page.tsx') }
