import { expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sparePort } from '../../bench/harness/processes.ts'
import {
  parseContainerFile,
  runUnpacked,
  toUnpackingScript,
  whyNoContainer,
} from '../support/container-file.ts'
import { readText, rootFolder } from '../tidy/sources.ts'

const reason = whyNoContainer()
if (reason !== null) console.warn(`skipped: the steps of the container file: ${reason}`)

const inside = (port: number): string => `
  serve >&2 &
  server=$!
  tries=0
  until run node -e "fetch('http://127.0.0.1:${port}/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || exit 9
    sleep 0.5
  done
  echo "user $(run id -u)"
  run sh -c 'touch /opt/headrace/x' 2>/dev/null && echo 'wrote /opt/headrace'
  run sh -c 'touch /tmp/x' 2>/dev/null && echo 'wrote /tmp'
  headrace try
  headrace doctor || true
  kill -TERM $server
  code=0
  wait $server || code=$?
  echo "stopped with $code"
`

test.skipIf(reason !== null)(
  'the image of the container file runs as an ordinary user on a read-only root, and every operation can be tried in it',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-container-'))
    chmodSync(folder, 0o755)
    const port = sparePort()
    try {
      const script = toUnpackingScript({
        instructions: parseContainerFile(readText('deploy/Containerfile')),
        context: rootFolder,
        folder,
        env: { HEADRACE_HOST: '127.0.0.1', HEADRACE_PORT: String(port) },
        inside: inside(port),
      })
      const { output, errors } = await runUnpacked(script, folder)
      expect(output, errors).toContain('user 10001\n')
      expect(output).not.toContain('wrote ')
      expect(output, errors).toContain('Everything worked.')
      expect(output).toContain('✓ money')
      expect(output).toContain('stopped with 0')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  180_000,
)
