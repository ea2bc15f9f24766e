import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
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
  await bundle([join(source, 'index.html')], out, '[name].[ext]')
  const workers = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.worker.ts') && !name.includes('node_modules'))
    .map((name) => join(source, name))
  // Their names are without a hash, because the code that starts them cannot know it.
  if (workers.length > 0) await bundle(workers, out, 'assets/[name].[ext]')
  const names = readdirSync(out, { recursive: true, encoding: 'utf8' })
  const written = names.filter((name) => statSync(join(out, name)).isFile())
  const files = await Promise.all(written.map((name) => compress(out, name, brotliQuality)))
  // Written last: a folder without it is not finished.
  writeFileSync(join(out, manifestName), JSON.stringify({ files }))
}

async function bundle(entrypoints: string[], outdir: string, entry: string): Promise<void> {
  const result = await Bun.build({
    entrypoints,
    outdir,
    target: 'browser',
    minify: true,
    splitting: true,
    naming: { entry, chunk: 'assets/[name]-[hash].[ext]', asset: 'assets/[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    throw: false,
  })
  if (!result.success) throw new Error(result.logs.map(describe).join('\n'))
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
