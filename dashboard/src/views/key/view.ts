import type { View } from '../../app/view.ts'

export const key: View = { path: '/keys/$hash', title: 'Key', load: () => import('./page.tsx') }
