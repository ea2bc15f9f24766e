import type { View } from '../../app/view.ts'

export const you: View = { path: '/you', title: 'You', load: () => import('./page.tsx') }
