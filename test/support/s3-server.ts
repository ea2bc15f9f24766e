import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomText } from '../../src/core/ids.ts'
import type { S3Settings } from '../../src/storage/blobs/s3-settings.ts'
import { clearAfterTheEnd } from './after-the-end.ts'

/**
 * The S3 server of the tests: Versity's S3 gateway over a folder. People run it in earnest, and of the servers that can be
 * installed by name it is the one that checks both the signature of a request and the hash of its body, keeps to
 * conditional writes, and lists and gives up multipart uploads.
 */
export const s3ServerModule = 'github.com/versity/versitygw/cmd/versitygw'
export const s3ServerVersion = 'v1.8.0'

const program = 'versitygw'
const startMsMax = 60_000

/** A running S3 server with buckets of the test's own. */
export interface TestS3 {
  readonly endpoint: string
  /** A new bucket, and the right key for it. */
  makeBucket(): S3Settings
  /** Variables of a gateway whose payloads are there. */
  environmentOf(settings: S3Settings): Record<string, string>
  /** Ends the server at once; `start` brings it back with what it had. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** Why no S3 server can be tested here, or null when one can. */
export function whyNoS3(): string | null {
  if (Bun.which(program) !== null) return null
  return `${program} is not on the path: go install ${s3ServerModule}@${s3ServerVersion}`
}

/** Starts a server with an empty folder on a free port; it ends with this process, however that ends. */
export async function startS3(): Promise<TestS3> {
  const reason = whyNoS3()
  if (reason !== null) throw new Error(reason)
  const folder = mkdtempSync(join(tmpdir(), 'headrace-s3-'))
  await clearAfterTheEnd(folder)
  const buckets = join(folder, 'buckets')
  mkdirSync(buckets)
  const port = await sparePort()
  const endpoint = `http://127.0.0.1:${port}`
  const [accessKeyId, secretAccessKey] = [`AK${randomText(14)}`, randomText(32)]
  let child: Bun.Subprocess | null = null
  const server: TestS3 = {
    endpoint,
    makeBucket() {
      const bucket = `payloads-${randomText(12).toLowerCase()}`
      mkdirSync(join(buckets, bucket))
      return {
        endpoint,
        region: 'us-east-1',
        bucket,
        prefix: 'gateway/one',
        addressing: 'path',
        accessKeyId,
        secretAccessKey,
        sessionToken: null,
      }
    },
    environmentOf: ({ bucket, prefix, region }) => ({
      BLOB_URL: `s3://${bucket}/${prefix}?endpoint=${endpoint}&region=${region}`,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    }),
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
    },
    async start() {
      const flags = ['--quiet', '--port', `127.0.0.1:${port}`]
      child = Bun.spawn([program, ...flags, 'posix', buckets], {
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          ROOT_ACCESS_KEY_ID: accessKeyId,
          ROOT_SECRET_ACCESS_KEY: secretAccessKey,
        },
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      writeFileSync(join(folder, 'server.pid'), `${child.pid}\n`)
      await untilListening(endpoint)
    },
    async stop() {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

async function untilListening(endpoint: string): Promise<void> {
  const endMs = performance.now() + startMsMax
  while (performance.now() < endMs) {
    const answered = await fetch(endpoint).then(
      () => true,
      () => false,
    )
    if (answered) return
    await Bun.sleep(50)
  }
  throw new Error(`${program} did not listen in time`)
}

function sparePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
