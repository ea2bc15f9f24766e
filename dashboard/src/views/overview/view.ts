import { ChartColumn } from 'lucide-react'
import type { View } from '../../app/view.ts'
import './overview.css'
import { Page } from './page.tsx'

export const overview: View = {
  path: '/overview',
  title: 'Overview',
  sidebar: { group: 'watch', icon: ChartColumn },
  // Part of the program: it is what people see first, and its parts are those of every page.
  load: () => Promise.resolve({ Page }),
}
