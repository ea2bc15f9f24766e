import type { View } from '../../app/view.ts'

export const batchNew: View = {
  path: '/batches/new',
  title: 'New batch',
  role: 'member',
  load: () => import('./page.tsx'),
}
