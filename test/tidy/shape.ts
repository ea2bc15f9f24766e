import type { Finding, Source, SyntaxNode } from './sources.ts'
import { isNode, isTest, walk } from './sources.ts'

const functionLinesMax = 70
const fileLinesMax = 500

/** From this length on a file is reported but does not fail. */
export const fileLinesAlarm = 300

const bannedNames = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'misc',
  'types',
  'manager',
  'service',
])

/** Checks names of files and folders. It takes paths, so that it also sees files that are not TypeScript. */
export function checkNames(files: readonly string[]): Finding[] {
  const findings: Finding[] = []
  for (const file of files) {
    for (const part of file.split('/')) {
      const stem = part.replace(/(\.(test|case|gen|d))?\.[a-z]+$/, '')
      if (!/^\.?[a-z0-9]+(-[a-z0-9]+)*$/.test(stem.replace(/^\d+_[a-z0-9_]+$/, 'migration'))) {
        findings.push({
          rule: 'kebab-case',
          file,
          line: 1,
          problem: `"${part}" is not kebab-case`,
          remedy: 'Lower case words joined by hyphens, so that a name is the same on every file system.',
        })
      }
      const last = stem.split('-').at(-1) ?? stem
      if (bannedNames.has(last)) {
        findings.push({
          rule: 'banned-name',
          file,
          line: 1,
          problem: `"${part}" says nothing about what is inside`,
          remedy:
            'Name the file after its main export; what has no name of its own belongs beside its caller.',
        })
      }
    }
  }
  return findings
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** Tables of data, schema files and the list of limits grow with the product, not with complexity. */
function mayBeLong(file: string): boolean {
  return (
    isTest(file) ||
    file.endsWith('.gen.ts') ||
    /(^|[/-])(schema|schemas|table|limits)\.ts$/.test(file) ||
    /^src\/providers\/[^/]+\/prices\.ts$/.test(file)
  )
}

/** Functions over 70 lines and files over 500. */
export function checkSizes(source: Source): Finding[] {
  if (mayBeLong(source.file)) return []
  const findings: Finding[] = []
  if (source.lineCount > fileLinesMax) {
    findings.push({
      rule: 'file-length',
      file: source.file,
      line: fileLinesMax,
      problem: `${source.lineCount} lines; the ceiling is ${fileLinesMax}`,
      remedy: 'Find the part that a caller would look for by its own name, and give it its own file.',
    })
  }
  for (const { node } of walk(source.program)) {
    if (!functionTypes.has(node.type)) continue
    const line = source.lineAt(node.start)
    const length = source.lineAt(node.end) - line + 1
    if (length <= functionLinesMax) continue
    findings.push({
      rule: 'function-length',
      file: source.file,
      line,
      problem: `a function of ${length} lines; it should fit on a screen (${functionLinesMax})`,
      remedy: 'Keep the branches here and move the work of each into a function with a name.',
    })
  }
  return findings
}

/** Files that may re-export several files. */
const registries = new Set(['src/providers/index.ts', 'simulator/audio/apis.ts'])

/** A file that only re-exports. */
export function checkBarrel(source: Source): Finding[] {
  const body = source.program['body']
  if (!Array.isArray(body) || registries.has(source.file)) return []
  const statements = body.filter(isNode)
  const handedOn = statements.filter(isHandedOn)
  const isBarrel =
    handedOn.length > 0 && statements.every((node) => isHandedOn(node) || node.type === 'ImportDeclaration')
  const star = handedOn.find((node) => node.type === 'ExportAllDeclaration')
  if (!isBarrel && star === undefined) return []
  return [
    {
      rule: 'barrel',
      file: source.file,
      line: 1,
      problem: 'a file that only re-exports',
      remedy:
        'Import from the file that defines the thing: barrels hide the layer and load what nobody asked for.',
    },
  ]
}

function isHandedOn(node: SyntaxNode): boolean {
  return (
    node.type === 'ExportAllDeclaration' || (node.type === 'ExportNamedDeclaration' && isNode(node['source']))
  )
}
