import type { View } from '../../app/view.ts'
import './request.css'

export const request: View = { path: '/requests/$id', title: 'Request', load: () => import('./page.tsx') }
