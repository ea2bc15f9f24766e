/**
 * Builds the console into `dashboard/dist`, which the package carries; npm runs it before it packs. A checkout needs no such
 * step: there the gateway builds at the first request for the console.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsole } from '../src/http/console/build-console.ts'

const source = join(import.meta.dir, '../dashboard')
const out = join(source, 'dist')

if (existsSync(join(source, 'index.html'))) {
  rmSync(out, { recursive: true, force: true })
  await buildConsole({ source, out, brotliQuality: 11 })
} else console.log('There is no console here, so the package goes without one.')
