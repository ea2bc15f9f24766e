/**
 * `node bin/headrace.js --bun scripts/generate-docs.ts`: writes what the documentation takes from the code, the schema of
 * the configuration file, the tables of `docs/configuration.md` and the description that `/openapi.json` serves. A test fails when what is committed differs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedDocuments } from './generated-documents.ts'

const root = join(import.meta.dir, '..')
for (const { path, content } of generatedDocuments((file) => readFileSync(join(root, file), 'utf8'))) {
  writeFileSync(join(root, path), content)
  console.log(`wrote ${path}`)
}
