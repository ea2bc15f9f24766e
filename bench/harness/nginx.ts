import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { start, sparePort, untilReady, type Running } from './processes.ts'
import { isStreamed, replyNames, writeReplies } from './replies.ts'

/** An nginx of the bench. */
export interface Nginx {
  port: number
  process: Running
}

/** Answers every reply from a file, so that the upstream is never the bottleneck. */
export async function startUpstream(folder: string): Promise<Nginx> {
  const replies = writeReplies(join(folder, 'replies'))
  // Static files refuse POST with a 405, and the answer to that 405 is the file.
  const locations = replyNames.map(
    (name) => `
      location /${name}/ { error_page 405 =200 /${name}; return 405; }
      location = /${name} { root ${replies}; default_type ${isStreamed(name) ? 'text/event-stream' : 'application/json'}; }`,
  )
  return startNginx(
    'upstream',
    folder,
    (port) => `server { listen 127.0.0.1:${port} backlog=4096; ${locations.join('')} }`,
  )
}

/** Passes bytes to the upstream and back: the least a gateway can cost. */
export async function startFloor(
  folder: string,
  ports: { staticPort: number; pacedPort: number },
): Promise<Nginx> {
  return startNginx(
    'nginx',
    folder,
    (port) => `
    upstream replies { server 127.0.0.1:${ports.staticPort}; keepalive 256; keepalive_requests 100000000; }
    upstream paced { server 127.0.0.1:${ports.pacedPort}; keepalive 256; keepalive_requests 100000000; }
    server {
      listen 127.0.0.1:${port} backlog=4096;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffers 32 64k;
      proxy_max_temp_file_size 0;
      location / { proxy_pass http://replies; }
      location ~ ^/[0-9] { proxy_pass http://paced; proxy_buffering off; }
    }`,
  )
}

async function startNginx(name: string, folder: string, serverOf: (port: number) => string): Promise<Nginx> {
  const home = join(folder, name)
  mkdirSync(home, { recursive: true })
  const port = sparePort()
  const config = join(home, 'nginx.conf')
  // As root nginx gives its workers another user, who may not read the replies.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${home}/${kind};`,
  )
  writeFileSync(
    config,
    `${user} daemon off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log warn;
    events { worker_connections 8192; }
    http {
      access_log off; tcp_nodelay on; sendfile on; open_file_cache max=100;
      keepalive_requests 100000000; keepalive_timeout 3600s;
      client_max_body_size 300m; client_body_buffer_size 2m;
      ${folders.join(' ')}
      ${serverOf(port)}
    }`,
  )
  const running = start({
    name,
    command: ['nginx', '-p', home, '-c', config, '-e', `${home}/error.log`],
    cwd: home,
    logFile: join(home, 'output.log'),
  })
  await untilReady(running, async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0)
  return { port, process: running }
}
