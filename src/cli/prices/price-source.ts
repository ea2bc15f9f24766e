import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { NotData, readDataLiteral } from '../../catalog/price-lists/data-literal.ts'
import { recordOrEmpty, textOrEmpty } from '../../json/values.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure } from '../failure.ts'
import { readTar } from './tar.ts'

/** Largest file of prices that is read, packed or not. */
const priceFileBytesMax = 64_000_000

/** An unchecked price list, and a description of its source. */
export interface FoundPrices {
  data: unknown
  source: string
}

/**
 * The places where a package may keep its data, the most reliable first: a data file, then the code that contains it.
 */
const dataFiles = ['data.json', 'dist/data.json', 'dist/index.js', 'dist/index.cjs', 'index.js'] as const
const packagePattern = /^(?:@[\w.-]+\/)?[\w.-]+(?:@[\w.^~+-]+)?$/

/**
 * Finds the prices that the operator names: a data file, a package as a folder or as a registry's archive, or a package
 * of the registry that the operator's npm uses. It never runs code that it finds. Throws CommandFailure.
 */
export async function findPrices(
  named: string,
  context: Pick<CommandContext, 'cwd' | 'env'>,
): Promise<FoundPrices> {
  const path = resolve(context.cwd, named)
  if (existsSync(path)) return readPath(path)
  if (named.startsWith('.') || named.startsWith('/') || !packagePattern.test(named))
    throw new CommandFailure(`There is no file or folder ${named}, and it is no name of a package.`)
  return readPackage(named, context)
}

function readPath(path: string): FoundPrices {
  const { size } = statSync(path)
  if (statSync(path).isDirectory()) {
    return readFiles(path, (file) => {
      const found = join(path, file)
      return existsSync(found) ? readFileSync(found, 'utf8') : null
    })
  }
  if (size > priceFileBytesMax)
    throw new CommandFailure(`${path} is larger than ${priceFileBytesMax} bytes, and no list of prices is.`)
  const bytes = readFileSync(path)
  if (/\.(?:tgz|tar\.gz)$/.test(path)) return readArchive(bytes, path)
  return { data: parse(bytes.toString('utf8'), basename(path)), source: basename(path) }
}

/** An archive has all files of the package below one folder. */
function readArchive(bytes: Uint8Array<ArrayBuffer>, path: string): FoundPrices {
  let files: ReadonlyMap<string, string>
  try {
    files = readTar(gunzipSync(bytes, { maxOutputLength: priceFileBytesMax }))
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandFailure(
        `${basename(path)} is no archive of a package: it unpacks to more than ${priceFileBytesMax} bytes.`,
      )
    throw new CommandFailure(
      `${basename(path)} is no archive of a package: ${error instanceof Error ? error.message : 'it is broken'}.`,
    )
  }
  return readFiles(path, (file) => files.get(file) ?? null)
}

function readFiles(path: string, read: (file: string) => string | null): FoundPrices {
  const description = recordOrEmpty(parse(read('package.json') ?? '{}', 'package.json'))
  const named = [textOrEmpty(description['name']), textOrEmpty(description['version'])].filter(
    (part) => part !== '',
  )
  const source = named.length > 0 ? named.join(' ') : basename(path)
  for (const file of dataFiles) {
    const text = read(file)
    if (text !== null) return { data: parse(text, file), source }
  }
  throw new CommandFailure(`${path} has no prices: none of ${dataFiles.join(', ')} is in it.`)
}

function parse(text: string, file: string): unknown {
  try {
    return /\.[cm]?js$/.test(file) ? readDataLiteral(text) : JSON.parse(text)
  } catch (error) {
    if (!(error instanceof NotData) && !(error instanceof SyntaxError)) throw error
    throw new CommandFailure(`${file} cannot be read: ${error.message}.`)
  }
}

/** Uses the operator's own npm, so that its registry, proxy and login apply. */
async function readPackage(named: string, { env }: Pick<CommandContext, 'env'>): Promise<FoundPrices> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-prices-'))
  try {
    const npm = Bun.which('npm', { PATH: env['PATH'] ?? '' })
    if (npm === null)
      throw new CommandFailure('There is no npm here; name a file, or a folder or archive of a package.')
    const child = Bun.spawn([npm, 'pack', named, '--ignore-scripts', '--pack-destination', folder], {
      cwd: folder,
      env: { ...env },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const said = await new Response(child.stderr).text()
    const archive = readdirSync(folder).find((file) => file.endsWith('.tgz'))
    if ((await child.exited) !== 0 || archive === undefined) {
      const reason = /npm (?:error|ERR!) (?!code)(.{1,200})/.exec(said)?.[1] ?? 'it did not say why'
      throw new CommandFailure(`npm could not fetch ${named}: ${reason}`)
    }
    return readPath(join(folder, archive))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
