import type { BunPlugin } from 'bun'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, type BrotliOptions, constants, gzip } from 'node:zlib'
import { hash } from 'node:crypto'
import { type BuiltFile, manifestName } from './console-manifest.ts'

/** Smaller files are sent as they are: compressed they are hardly smaller. */
const compressedBytesMin = 512

/** Where the console's source is, and where the files for browsers go. */
export interface ConsoleBuildOptions {
  source: string
  out: string
  /** From 0, fast, to 11, small. */
  brotliQuality: number
}

/**
 * Makes the console's files for browsers: the shell, code split by view, workers, and each compressed both ways. Throws
 * with the compiler's own messages. It blocks, so only a process of its own calls it.
 */
export async function buildConsole({ source, out, brotliQuality }: ConsoleBuildOptions): Promise<void> {
  mkdirSync(out, { recursive: true })
  const page = join(source, 'index.html')
  await bundle({
    entrypoints: [page],
    outdir: out,
    entry: '[name].[ext]',
    plugins: [afterTheProgram(programOf(page), lazyFiles(source))],
  })
  const workers = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.worker.ts') && !name.includes('node_modules'))
    .map((name) => join(source, name))
  // Their names are without a hash, because the code that starts them cannot know it.
  if (workers.length > 0)
    await bundle({ entrypoints: workers, outdir: out, entry: 'assets/[name].[ext]', plugins: [] })
  const names = readdirSync(out, { recursive: true, encoding: 'utf8' })
  const written = names.filter((name) => statSync(join(out, name)).isFile())
  const files = await Promise.all(written.map((name) => compress(out, name, brotliQuality)))
  // Written last: a folder without it is not finished.
  writeFileSync(join(out, manifestName), JSON.stringify({ files }))
}

interface Bundle {
  entrypoints: string[]
  outdir: string
  /** The names of what the entry points become. */
  entry: string
  plugins: BunPlugin[]
}

async function bundle({ entrypoints, outdir, entry, plugins }: Bundle): Promise<void> {
  const result = await Bun.build({
    entrypoints,
    outdir,
    plugins,
    target: 'browser',
    minify: true,
    splitting: true,
    naming: { entry, chunk: 'assets/[name]-[hash].[ext]', asset: 'assets/[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    throw: false,
  })
  if (!result.success) throw new Error(result.logs.map(describe).join('\n'))
}

/** The file that the page starts. */
function programOf(page: string): string {
  const [, relative] = /<script [^>]*src="([^"]+)"/.exec(readFileSync(page, 'utf8')) ?? []
  if (relative === undefined) throw new Error(`${page} has no script`)
  return join(dirname(page), relative)
}

const lazyImport = /\bimport\(\s*'(\.[^']+)'\s*\)/g

/** The files that the source imports when they are needed: views and the like. */
function lazyFiles(source: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(name) || name.includes('node_modules')) continue
    const path = join(source, name)
    for (const [, relative = ''] of readFileSync(path, 'utf8').matchAll(lazyImport))
      found.add(join(dirname(path), relative))
  }
  return found
}

/**
 * Tells the compiler that lazy files are loaded after the program, by an import that does nothing more. It cannot know that,
 * and would cut what the program shares with them into a file for each set of sharers: two dozen requests before the first
 * view. The program must not wait for a lazy file at its top level, because each would then wait for the other.
 */
function afterTheProgram(program: string, lazy: ReadonlySet<string>): BunPlugin {
  return {
    name: 'after-the-program',
    setup(build) {
      build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
        if (!lazy.has(path)) return undefined
        // On the first line, so that the lines in messages are those of the file.
        const contents = `import ${JSON.stringify(program)};${await Bun.file(path).text()}`
        return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
      })
    },
  }
}

function describe({ position, message }: BuildMessage | ResolveMessage): string {
  return position ? `${position.file}:${position.line}:${position.column}: ${message}` : message
}

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress)
const zip = promisify<Buffer, Buffer>(gzip)

async function compress(folder: string, name: string, brotliQuality: number): Promise<BuiltFile> {
  const path = join(folder, name)
  const bytes = readFileSync(path)
  const isShort = bytes.length < compressedBytesMin || /\.(?:woff2|png|jpe?g|webp)$/.test(name)
  if (!isShort) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality }
    const [small, usual] = await Promise.all([brotli(bytes, { params }), zip(bytes)])
    writeFileSync(`${path}.br`, small)
    writeFileSync(`${path}.gz`, usual)
  }
  return {
    name: name.replaceAll('\\', '/'),
    isCompressed: !isShort,
    isHashed: /-[0-9a-z]{8}\.[a-z0-9]+$/.test(basename(name)),
    etag: hash('sha256', bytes, 'hex').slice(0, 32),
  }
}
