import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootFolder } from '../tidy/sources.ts'
import type { Recorded } from './recorder.ts'
import type { Enumeration } from './vendor.ts'

/** The strings of a union in a file of declarations: all that stand on the line that begins so. */
export function readUnion({ file, line }: Enumeration['declared']): Set<string> {
  const source = readFileSync(join(rootFolder, 'node_modules', file), 'utf8')
  const start = source.indexOf(line)
  const union = start === -1 ? '' : source.slice(start).split('\n', 1)[0]
  return new Set([...(union ?? '').matchAll(/['"]([^'"]+)['"]/g)].map(([, value = '']) => value))
}

/** What was sent for each word against the SDK's values, as lines for people; none where all is as listed. */
export function judgeEnumeration(
  { words, at, unreached }: Enumeration,
  values: ReadonlySet<string>,
  sent: readonly (readonly Recorded[])[],
): string[] {
  const reached = new Set<string>()
  const unknown = words.flatMap((word, index) => {
    const value = sent[index]?.map(({ facts }) => facts.get(at)).find((one) => one !== undefined)
    if (value === undefined) return []
    reached.add(value)
    return values.has(value) ? [] : [`${word} is sent as ${value}, which the SDK does not have`]
  })
  const missing = [...values].filter((value) => !reached.has(value) && unreached[value] === undefined)
  const gone = Object.keys(unreached).filter((value) => reached.has(value) || !values.has(value))
  return [
    ...unknown,
    ...missing.map((value) => `nothing leads to ${value}, which the SDK has`),
    ...gone.map((value) => `listed as out of reach, but no longer so: ${value}`),
  ]
}
