import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One instruction of a container file, such as `RUN`, and its text. */
interface Instruction {
  name: string
  text: string
}

/** The instructions in order, with continued lines joined and comments removed. */
export function parseContainerFile(text: string): Instruction[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
      return { name, text: rest }
    })
}

/** Why its steps cannot run here; null when they can. */
export function whyNoContainer(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'unpacking a root needs Linux and root'
  const missing = ['unshare', 'chroot', 'mount', 'npm'].filter((name) => Bun.which(name) === null)
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`
  const { exitCode } = Bun.spawnSync(['unshare', '--mount', 'mount', '--make-rprivate', '/'])
  return exitCode === 0 ? null : 'mounts of our own are not allowed here'
}

/**
 * A shell script that makes a root as the file says and then runs `inside` in it, as the file's user and with its
 * environment, the root being read-only but for the volumes. `$run` in it runs a command there, as the file's command is.
 * Of this machine's system the root borrows what the file's base image would have: programs and libraries.
 */
export function toUnpackingScript(options: {
  instructions: readonly Instruction[]
  context: string
  folder: string
  env: Readonly<Record<string, string>>
  inside: string
}): string {
  const { instructions, context, folder, env, inside } = options
  const root = join(folder, 'root')
  const image = readImage(instructions, { root, context })
  const variables = Object.entries({ ...image.env, ...env }).map(([key, value]) => `${key}=${quoted(value)}`)
  const volumes = image.volumes.map(
    (path) => `cp -a ${root}${path} ${folder}/volume && mount --bind ${folder}/volume ${root}${path}`,
  )
  const enter = `chroot --userspec=${image.user} ${root} env -i PATH=$PATH ${variables.join(' ')}`
  const there = `cd ${image.workdir} && exec`
  return [
    'set -e',
    'mount --make-rprivate /',
    ...borrowed(root),
    ...image.steps,
    `umount ${root}/npm-cache`,
    `mount -o remount,bind,ro ${root}`,
    ...volumes,
    `run() { ${enter} sh -c '${there} "$@"' sh "$@"; }`,
    `headrace() { run ${image.entrypoint.join(' ')} "$@"; }`,
    `serve() { exec ${enter} sh -c '${there} ${[...image.entrypoint, ...image.command].join(' ')}'; }`,
    inside,
  ].join('\n')
}

/** The image that the instructions describe, and the shell's steps that make it. */
function readImage(
  instructions: readonly Instruction[],
  { root, context }: { root: string; context: string },
) {
  const image = {
    workdir: '/',
    env: {} as Record<string, string>,
    user: '0:0',
    volumes: [] as string[],
    steps: [] as string[],
    entrypoint: [] as string[],
    command: [] as string[],
  }
  const known: Readonly<Record<string, (text: string) => void>> = {
    FROM: () => undefined,
    EXPOSE: () => undefined,
    VOLUME: (text) => void image.volumes.push(text),
    USER: (text) => void (image.user = text),
    ENTRYPOINT: (text) => void (image.entrypoint = JSON.parse(text) as string[]),
    CMD: (text) => void (image.command = JSON.parse(text) as string[]),
    ENV(text) {
      for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) image.env[key] = value
    },
    WORKDIR(text) {
      image.workdir = text
      image.steps.push(`mkdir -p ${root}${text}`)
    },
    COPY(text) {
      const words = text.split(' ')
      const target = join(root, image.workdir, words.at(-1) ?? '')
      for (const source of words.slice(0, -1)) image.steps.push(copying(join(context, source), target))
    },
    RUN(text) {
      const given = 'HOME=/root PATH=$PATH npm_config_cache=/npm-cache npm_config_prefer_offline=true'
      image.steps.push(`chroot ${root} env -i ${given} sh -ec ${quoted(`cd ${image.workdir}; ${text}`)} >&2`)
    },
  }
  for (const { name, text } of instructions) {
    const take = known[name]
    if (take === undefined) throw new Error(`${name} is not known here`)
    take(text)
  }
  return image
}

/** Copies a folder's content into the target, or a file to it. */
function copying(from: string, target: string): string {
  return `if [ -d ${from} ]; then mkdir -p ${target} && cp -r ${from}/. ${target}; else cp ${from} ${target}; fi`
}

/** The parts of a base image, taken from this machine; the root becomes a mount, so that it can be made read-only. */
function borrowed(root: string): string[] {
  const cache = Bun.spawnSync(['npm', 'config', 'get', 'cache'], { stderr: 'ignore' })
    .stdout.toString()
    .trim()
  return [
    `mkdir -p ${root} && mount --bind ${root} ${root}`,
    `mkdir -p ${root}/usr ${root}/etc ${root}/proc ${root}/dev ${root}/root ${root}/tmp ${root}/npm-cache ${cache}`,
    `mount --bind /usr ${root}/usr && mount -o remount,bind,ro ${root}/usr`,
    `for name in bin sbin lib lib64; do [ -L /$name ] && cp -P /$name ${root}/$name || true; done`,
    `cp -L /etc/resolv.conf /etc/hosts /etc/nsswitch.conf ${root}/etc 2>/dev/null || true`,
    `mkdir -p ${root}/etc/ssl && mount --bind /etc/ssl ${root}/etc/ssl`,
    `mount --rbind /proc ${root}/proc && mount --rbind /dev ${root}/dev`,
    `mount --bind ${cache} ${root}/npm-cache`,
  ]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Runs such a script with its own mounts, which end with it. */
export async function runUnpacked(
  script: string,
  folder: string,
): Promise<{ code: number; output: string; errors: string }> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'unpack.sh')
  writeFileSync(file, script)
  const child = Bun.spawn(['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, output, errors }
}
