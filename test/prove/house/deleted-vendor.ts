import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSummary } from '../../runner/summary.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { runCommand } from '../command.ts'
import type { Proof, ProofResult } from '../proof.ts'

/** One whose jobs are polled, one that speaks, and one of text. */
const deleted = ['gladia', 'lmnt', 'cerebras']
const msMax = 1_200_000
const index = 'src/providers/index.ts'

/** What looks at providers one by one, or has a row for each. */
const suites = [
  'src/providers',
  'src/formats/transcription',
  'src/formats/speech',
  'simulator/audio',
  'test/vendor-sdks',
  'test/recordings/transcripts',
  'test/contract/transcription-providers',
  'test/contract/transcription-addresses',
  'test/contract/speech-providers',
  'test/contract/speech-of-mp3',
  'test/contract/openai-dialect',
  'test/tidy',
]

export const proof: Proof = {
  title:
    'a vendor is deleted by `rm -r` of its folder and its line: types, patches and the suites of providers hold',
  async run(): Promise<ProofResult> {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-deleted-'))
    try {
      await copyTree(folder)
      for (const slug of deleted) deleteVendor(folder, slug)
      const run = (...command: string[]) => runCommand(command, { cwd: folder, msMax })
      // The tables of documents and of prices follow from the registry.
      const generated = await run(process.execPath, '--no-env-file', 'scripts/generate.ts')
      const types = await run('node_modules/.bin/tsc', '--noEmit', '-p', '.')
      const patches = await run(process.execPath, '--no-env-file', 'test/sabotage/run.ts', '--fits')
      const tests = await run('npm', 'test', '--', '--verbose', ...suites, 'test/story/documents')
      const { passed, failed } = parseSummary(tests.output, tests.code)
      const codes = [generated, types, patches, tests].map(({ code }) => code)
      return {
        status: codes.every((code) => code === 0) && passed > 0 ? 'PASS' : 'FAIL',
        figures: [
          `${deleted.join(', ')}: each a folder and a line; exit codes of generate, tsc, patches and tests: ${codes.join(', ')}`,
          `${passed} tests passed, ${failed} failed`,
        ],
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** The tree as it stands, what is not committed too. */
async function copyTree(folder: string): Promise<void> {
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: rootFolder,
  })
  for (const file of listed.stdout.toString().split('\0')) {
    if (file === '' || !existsSync(join(rootFolder, file))) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(rootFolder, file), join(folder, file))
  }
  symlinkSync(join(rootFolder, 'node_modules'), join(folder, 'node_modules'))
}

function deleteVendor(folder: string, slug: string): void {
  rmSync(join(folder, 'src/providers', slug), { recursive: true })
  const path = join(folder, index)
  const lines = readFileSync(path, 'utf8').split('\n')
  const kept = lines.filter((line) => !line.includes(`'./${slug}/provider.ts'`))
  if (kept.length !== lines.length - 1) throw new Error(`${index} has not one line of ${slug}`)
  writeFileSync(path, kept.join('\n'))
}
