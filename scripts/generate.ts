/**
 * `node bin/headrace.js --bun scripts/generate.ts`: writes what follows from the code, most of it from the registry of
 * providers: the schema of the configuration file, the tables of the README and of `docs/configuration.md`, the
 * description that `/openapi.json` serves, and the table of prices. With `--check` it writes nothing and fails where
 * what is committed differs. `npm run check` does either.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from './generated-files.ts'

const root = join(import.meta.dir, '..')
const isCheck = process.argv.includes('--check')
let isStale = false
for (const { path, content } of generatedFiles((file) => readFileSync(join(root, file), 'utf8'))) {
  if (readFileSync(join(root, path), 'utf8') === content) continue
  isStale = true
  if (!isCheck) writeFileSync(join(root, path), content)
  console.log(isCheck ? `${path} is stale; npm run check -- --fix writes it` : `wrote ${path}`)
}
process.exit(isCheck && isStale ? 1 : 0)
