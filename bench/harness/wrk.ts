import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Target } from './target.ts'

/** What wrk saw. */
export interface WrkResult {
  requests: number
  /** Anything but a 2xx, and everything that broke. */
  failures: number
  durationMs: number
  p50Ms: number
  p99Ms: number
}

/** Sends one request over and over on some connections for some time. Throws when wrk cannot run. */
export async function runWrk(
  target: Target,
  options: { folder: string; connections: number; seconds: number },
): Promise<WrkResult> {
  const script = join(options.folder, `${target.name}.lua`)
  writeFileSync(script, scriptOf(target))
  const wrk = Bun.spawn(
    [
      'wrk',
      '--threads=1',
      `--connections=${options.connections}`,
      `--duration=${options.seconds}s`,
      '--timeout=30s',
      `--script=${script}`,
      `http://127.0.0.1:${target.port}${target.path}`,
    ],
    { stdout: 'pipe', stderr: 'inherit', timeout: (options.seconds + 60) * 1000 },
  )
  const output = await new Response(wrk.stdout).text()
  if ((await wrk.exited) !== 0) throw new Error('wrk failed; is it installed?')
  return parse(output)
}

function scriptOf({ headers, body }: Target): string {
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
  return `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
${lines.join('\n')}
wrk.body = [==[${body}]==]
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, failed, summary.duration,
    latency:percentile(50), latency:percentile(99)))
end
`
}

function parse(output: string): WrkResult {
  const match = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output)
  if (match === null) throw new Error('wrk printed no result.')
  const [requests = 0, failures = 0, duration = 0, p50 = 0, p99 = 0] = match.slice(1).map(Number)
  return { requests, failures, durationMs: duration / 1000, p50Ms: p50 / 1000, p99Ms: p99 / 1000 }
}
