import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** nginx in front of an application as a small site configures it: only `proxy_pass`. */
export interface Nginx {
  /** The URL of nginx, without a path. */
  readonly url: string
  stop(): Promise<void>
}

// Debian installs servers in folders that are only on root's path.
const program = Bun.which('nginx', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` })

/** Why nginx cannot start on this machine; null when it can. */
export const nginxMissing: string | null = program === null ? 'not installed: nginx' : null

const startMsMax = 10_000

/** Starts nginx on a free port in front of `upstreamUrl`, which has no path. */
export async function startNginx(upstreamUrl: string): Promise<Nginx> {
  if (program === null) throw new Error('nginx is not installed')
  const home = mkdtempSync(join(tmpdir(), 'headrace-nginx-'))
  const port = freePort()
  const config = join(home, 'nginx.conf')
  // Run by root, nginx gives its workers another user, who may not enter this folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => {
    mkdirSync(join(home, kind))
    return `${kind}_temp_path ${home}/${kind};`
  })
  writeFileSync(
    config,
    `${user} daemon off; pid ${home}/pid; error_log ${home}/error.log warn;
    events {}
    http {
      access_log off;
      ${folders.join(' ')}
      server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstreamUrl}; } }
    }`,
  )
  // The shell ends nginx and removes its folder once this process has ended, because its end of the pipe closes then.
  const child = Bun.spawn(
    [
      'sh',
      '-c',
      '"$@" & read -r _; kill $!; wait; rm -rf "$0"',
      home,
      program,
      '-p',
      home,
      '-c',
      config,
    ].concat(['-e', join(home, 'error.log')]),
    { stdio: ['pipe', 'ignore', 'ignore'] },
  )
  const nginx: Nginx = {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      await child.stdin.end()
      await child.exited
    },
  }
  const endMs = performance.now() + startMsMax
  while (!(await isListening(nginx.url))) {
    if (performance.now() > endMs) {
      const errors = await Bun.file(join(home, 'error.log'))
        .text()
        .catch(() => '')
      await nginx.stop()
      throw new Error(`nginx did not start: ${errors}`)
    }
    await Bun.sleep(20)
  }
  return nginx
}

async function isListening(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  return port ?? 0
}
