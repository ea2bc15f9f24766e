import type { View } from '../../app/view.ts'

export const keyNew: View = {
  path: '/keys/new',
  title: 'Create a key',
  role: 'admin',
  load: () => import('./page.tsx'),
}
