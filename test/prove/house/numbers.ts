import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { percentile } from '../../../bench/harness/figures.ts'
import { checkCycles, checkImports } from '../../tidy/imports.ts'
import { checkCommonNames } from '../../tidy/names.ts'
import { isNode, isTest, parseSource, rootFolder, walk, type Source } from '../../tidy/sources.ts'
import { rootOf, versionOfSecondAttack, whyNoVersion } from '../earlier-versions.ts'
import { notRun, type Proof } from '../proof.ts'

/** Floors that `src/formats` may have: a file or a folder stands one above the highest that it imports. */
const formatFloorsMax = 8

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

export const proof: Proof = {
  title: 'the structure in numbers, before and now',
  async run() {
    const whyNot = whyNoVersion(versionOfSecondAttack)
    if (whyNot !== null) return notRun(whyNot)
    const before = sourcesOf(rootOf(versionOfSecondAttack))
    const now = sourcesOf(rootFolder)
    const findings = [...checkImports(now), ...checkCycles(now), ...checkCommonNames(now)]
    const ofRule = (rule: string) => findings.filter((finding) => finding.rule === rule).length
    const broken = {
      'circles of imports': ofRule('cycle'),
      'files of formats that import another format': ofRule('format'),
      'arrows from a lower layer to a higher one': ofRule('layer'),
      'bounds apart from their only reader': ofRule('bound'),
      'names that stand twice outside the roles': ofRule('base-name') + ofRule('type-name'),
    }
    const floors = floorsOf(now)
    const held = floors <= formatFloorsMax && Object.values(broken).every((count) => count === 0)
    return {
      status: held ? 'PASS' : 'FAIL',
      figures: [
        ...Object.entries(broken).map(([what, count]) => `${what}: ${count} of 0`),
        `floors of src/formats: ${floorsOf(before)} before, ${floors} now, at most ${formatFloorsMax}`,
        `src without tests, before: ${describe(before)}`,
        `src without tests, now: ${describe(now)}`,
      ],
    }
  },
}

/** All of `src` of a checkout but its tests and cases. */
function sourcesOf(root: string): Source[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter((file) => file.endsWith('.ts') && !isTest(file))
    .toSorted()
    .map((file) => parseSource(file, readFileSync(join(root, file), 'utf8')))
}

function describe(sources: readonly Source[]): string {
  const files = sources.map(({ lineCount }) => lineCount)
  const functions = sources.flatMap((source) =>
    walk(source.program)
      .filter(({ node }) => functionTypes.has(node.type) && isNode(node['body']))
      .map(({ node }) => source.lineAt(node.end) - source.lineAt(node.start) + 1),
  )
  const lines = files.reduce((sum, count) => sum + count, 0)
  const short = files.filter((count) => count <= 25).length
  const of = (values: readonly number[]) =>
    `p50 ${percentile(values, 0.5)}, p90 ${percentile(values, 0.9)}, longest ${Math.max(...values)}`
  return `${files.length} files (${of(files)}; ${short} of 25 lines or fewer), ${lines} lines, ${functions.length} functions (${of(functions)})`
}

/** The floors of `src/formats`, where a folder that holds no folder counts as one room. */
function floorsOf(sources: readonly Source[]): number {
  const own = sources.filter(({ file }) => file.startsWith('src/formats/'))
  const folders = new Set(own.map(({ file }) => posix.dirname(file)))
  const isLeaf = (folder: string) => ![...folders].some((other) => other.startsWith(`${folder}/`))
  const roomOf = (file: string) => {
    const folder = posix.dirname(file)
    return folder !== 'src/formats' && isLeaf(folder) ? folder : file
  }
  const below = new Map<string, Set<string>>()
  for (const { file, imports } of own) {
    const room = roomOf(file)
    const reached = below.get(room) ?? new Set<string>()
    for (const { target } of imports)
      if (target?.startsWith('src/formats/') && roomOf(target) !== room) reached.add(roomOf(target))
    below.set(room, reached)
  }
  const floors = new Map<string, number>()
  const floorOf = (room: string, above: ReadonlySet<string>): number => {
    const known = floors.get(room)
    if (known !== undefined) return known
    if (above.has(room)) return 0
    const reached = [...(below.get(room) ?? [])].map((lower) => floorOf(lower, new Set([...above, room])))
    const floor = 1 + Math.max(0, ...reached)
    floors.set(room, floor)
    return floor
  }
  return Math.max(...[...below.keys()].map((room) => floorOf(room, new Set())))
}
