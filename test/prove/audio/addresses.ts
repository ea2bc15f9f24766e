import { readFileSync, writeFileSync } from 'node:fs'
import { createPublicFetch } from '../../../src/transport/public-fetch.ts'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { startTestGateway, toneWav } from '../../support/gateway.ts'
import { startHostileServer, type HostileServer } from '../../support/hostile-server.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../../support/scripted-upstream.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

const key = 'sk-hr-v1-0000000000000000000000000000000000000000000000000000000000000prove'
/** The gateway of this proof gives a transcription, and the fetching of its audio, so long. */
const timeoutSeconds = 10
/** A refusal that waits for nobody, and one that waits for a slow server, by this machine's clock. */
const refusalMsMax = 5_000
const slowMsMax = (timeoutSeconds + 10) * 1_000
/** The largest audio that is taken. */
const audioBytesMax = 1_000_000_000
/** What one bad answer may take, most of it not collected yet, and what may be left of all of them some seconds later. */
const residentBytesMax = { whileRead: 100_000_000, left: 32_000_000 } as const
/** What lies in the buffers of both sides when a connection is ended. */
const onTheWayBytes = 32_000_000

export const proof: Proof = {
  title:
    'addresses of audio that must not be fetched: refused within bounds; hosts that the operator configured are allowed',
  async run() {
    const world = await startWorld()
    try {
      return combine([
        await refuseAddresses(world),
        await refuseRedirects(world),
        await refuseBadAnswers(world),
        await allowConfigured(world),
        await resistRebinding(),
      ])
    } finally {
      await world.stop()
    }
  },
}

interface World {
  gateway: RealGateway
  /** Allowed by the operator. */
  allowed: HostileServer
  /** Private, and to be reached by nobody; each on another loopback address. */
  canaries: readonly HostileServer[]
  /** A provider that takes addresses itself. */
  taker: ScriptedUpstream
  stop(): Promise<void>
}

async function startWorld(): Promise<World> {
  const allowed = await startHostileServer()
  const canaries = [
    await startHostileServer(),
    await startHostileServer('127.0.0.2'),
    await startHostileServer('::1'),
  ]
  const taker = startScriptedUpstream()
  taker.answer(() => Response.json({ text: 'heard', usage: { prompt_audio_seconds: 1 } }))
  const deaf = startScriptedUpstream()
  deaf.answer(() => Response.json({ text: 'heard' }))
  const model = (id: string) => ({ id, modality: 'transcription', prices: { audio_per_minute: '0.01' } })
  const gateway = prepareGateway({
    fetch_hosts: [allowed.host],
    transcription_timeout_seconds: timeoutSeconds,
    providers: [
      { preset: 'custom', id: 'acme', base_url: deaf.url, discover: false, models: [model('acme/ears')] },
      {
        preset: 'mistral',
        base_url: taker.url,
        api_key: 'x',
        discover: false,
        models: [model('mistralai/voxtral-mini-2602')],
      },
    ],
  })
  await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
  return {
    gateway,
    allowed,
    canaries,
    taker,
    async stop() {
      await gateway.remove()
      for (const server of [allowed, ...canaries]) await server.stop()
      await Promise.all([taker.stop(), deaf.stop()])
    },
  }
}

interface Asked {
  status: number
  message: string
  param: unknown
  ms: number
}

async function ask({ gateway }: World, url: string, model = 'acme/ears'): Promise<Asked> {
  const startedMs = performance.now()
  const response = await fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input_audio: { url } }),
  })
  const { error } = (await response.json()) as { error?: { message: string; param?: string } }
  return {
    status: response.status,
    message: error?.message ?? '',
    param: error?.param,
    ms: performance.now() - startedMs,
  }
}

/** Ways of writing loopback and other places that are not public; `PORT` is that of a server which must not be reached. */
const hosts: readonly (readonly [kind: string, ...hosts: string[]])[] = [
  ['loopback', '127.0.0.1', '127.0.0.2', '127.255.255.254', 'localhost', 'LOCALHOST', 'localhost.', '[::1]'],
  [
    'private',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.254',
    '192.168.1.1',
    '100.64.0.1',
    '[fc00::1]',
    '[fd12:3456::1]',
  ],
  ['link-local', '169.254.169.254', '169.254.0.1', '[fe80::1]', '[fe80::1%25lo]'],
  [
    'unspecified, multicast, reserved',
    '0.0.0.0',
    '0',
    '[::]',
    '224.0.0.1',
    '255.255.255.255',
    '[ff02::1]',
    '198.18.0.1',
    '192.0.2.1',
    '240.0.0.1',
    '[2001:db8::1]',
  ],
  [
    'mapped and embedded',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:a00:1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::]',
  ],
  ['decimal', '2130706433', '2852039166', '127.1', '127.0.1', '3232235777'],
  ['octal', '0177.0.0.1', '017700000001', '0177.0.0.01', '0251.0376.0251.0376'],
  ['hexadecimal', '0x7f000001', '0x7f.0.0.1', '0x7f.1', '0xa9fea9fe', '0X7F.0X0.0X0.0X1'],
  ['other letters', '１２７.０.０.１', '127。0。0。1', '①②⑦.⓪.⓪.①', '%31%32%37.0.0.1', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
]

async function refuseAddresses(world: World): Promise<ProofResult> {
  const { port } = new URL(`http://${world.canaries[0]?.host}`)
  const figures: string[] = []
  const problems: string[] = []
  for (const [kind, ...names] of hosts) {
    const urls = names.flatMap((host) => [`http://${host}:${port}/wav/x`, `https://${host}/latest/meta-data`])
    figures.push(await refuseAll(world, { kind, urls, problems }))
  }
  const target = world.canaries[0]?.host ?? ''
  figures.push(
    await refuseAll(world, {
      kind: 'credentials',
      urls: [
        `http://user:secret@${target}/`,
        `http://93.184.216.34@${target}/`,
        `http://user@93.184.216.34/a.wav`,
        `http://${target}#@93.184.216.34/`,
      ],
      problems,
    }),
  )
  // Programs differ in which of the two hosts they read here.
  const ambiguous = `http://93.184.216.34\\@${target}/`
  figures.push(
    await refuseAll(world, {
      kind: 'characters that no address has',
      urls: [
        ambiguous,
        `http://93.184.216.34\t@${target}/`,
        ` http://93.184.216.34/a.wav`,
        `http://93.184.216.34/a\n.wav`,
        'http://93.184.216.34/\u0000',
      ],
      problems,
    }),
  )
  const schemes = [
    'file:///etc/passwd',
    'ftp://93.184.216.34/a',
    'gopher://127.0.0.1:6379/_x',
    'dict://127.0.0.1/',
    'data:audio/wav;base64,AAAA',
    'ws://93.184.216.34/',
    'blob:http://93.184.216.34/x',
    'javascript:1',
    'unix:///var/run/docker.sock',
    `//${target}/`,
    target,
  ]
  figures.push(await refuseAll(world, { kind: 'other schemes', urls: schemes, problems }))
  return judge('addresses', figures, [...problems, ...reached(world)])
}

/** Asks each as a model whose provider takes no addresses, and as one whose provider does. */
async function refuseAll(
  world: World,
  { kind, urls, problems }: { kind: string; urls: readonly string[]; problems: string[] },
): Promise<string> {
  let slowestMs = 0
  for (const model of ['acme/ears', 'mistralai/voxtral-mini-2602']) {
    for (const url of urls) {
      const { status, param, message, ms } = await ask(world, url, model)
      slowestMs = Math.max(slowestMs, ms)
      const isRefused = status === 400 && param === 'input_audio.url' && ms <= refusalMsMax
      // What is not public at all is not to be told from what cannot be reached by its words.
      if (!isRefused || message.includes('cannot be reached'))
        problems.push(`${model}, ${url}: ${status} ${String(param)} after ${Math.round(ms)} ms: ${message}`)
    }
  }
  return `${kind}: ${urls.length * 2} calls refused, the slowest after ${Math.round(slowestMs)} ms`
}

function reached({ canaries, taker }: World): string[] {
  return [
    ...canaries.flatMap(({ host, asked }) =>
      asked.length === 0 ? [] : [`${host} was asked ${asked.join(', ')}`],
    ),
    ...(taker.seen.length === 0 ? [] : ['an address that must not be fetched was given to the provider']),
  ]
}

async function refuseRedirects(world: World): Promise<ProofResult> {
  const { port } = new URL(`http://${world.canaries[0]?.host}`)
  const targets = hosts
    .flatMap(([, ...names]) => names.map((host) => `http://${host}:${port}/wav/x`))
    .concat(
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
      `http://user:secret@${world.allowed.host}/`,
      `//${world.canaries[1]?.host}/`,
    )
    // A header has bytes, not letters.
    .filter((url) => /^[\x20-\x7e]*$/.test(url))
  const problems: string[] = []
  let slowestMs = 0
  for (const target of targets) {
    const url = `http://${world.allowed.host}/to/${Buffer.from(target).toString('base64url')}`
    const { status, message, ms } = await ask(world, url)
    slowestMs = Math.max(slowestMs, ms)
    if (status !== 400 || ms > refusalMsMax)
      problems.push(`redirected to ${target}: ${status} after ${Math.round(ms)} ms: ${message}`)
  }
  const loop = await ask(world, `http://${world.allowed.host}/loop`)
  const hops = world.allowed.asked.filter((path) => path === '/loop').length
  if (loop.status !== 400 || hops > 10)
    problems.push(`an endless redirect: ${loop.status} after ${hops} hops`)
  const figures = [
    `redirects: ${targets.length} refused, the slowest after ${Math.round(slowestMs)} ms; an endless one after ${hops} hops`,
  ]
  return judge('redirects', figures, [...problems, ...reached(world)])
}

/** What a server does to whoever reads it, the status that says so, and the bytes of it that may be taken. */
const badAnswers: readonly (readonly [
  path: string,
  what: string,
  statuses: readonly number[],
  bytesMax: number,
])[] = [
  ['stated', 'a body that says it has 5 GB', [413], onTheWayBytes],
  ['endless', 'an endless body in chunks', [413, 400], audioBytesMax + onTheWayBytes],
  ['untilclosed', 'an endless body without a length', [413, 400], audioBytesMax + onTheWayBytes],
  ['bomb', 'a body that is packed', [400], onTheWayBytes],
  ['headers', 'endless headers', [400], onTheWayBytes],
  ['line', 'one endless header', [400], onTheWayBytes],
  ['again', 'endless interim answers', [400], audioBytesMax],
  ['silent', 'no answer', [400], 0],
  ['driphead', 'a header byte by byte', [400], onTheWayBytes],
  ['dripbody', 'a body byte by byte', [400], onTheWayBytes],
  ['garbage', 'another protocol', [400], 0],
  ['half', 'a body that breaks off', [400], onTheWayBytes],
]

async function refuseBadAnswers(world: World): Promise<ProofResult> {
  const { gateway, allowed } = world
  const pid = pidOf(gateway)
  // The first has the code that it runs compiled.
  await ask(world, `http://${allowed.host}/garbage`)
  const before = memoryOf(pid, 'VmRSS')
  const figures: string[] = []
  const problems: string[] = []
  let largest = { bytes: 0, what: 'none' }
  for (const [word, what, statuses, bytesMax] of badAnswers) {
    const path = `/${word}`
    resetPeak(pid)
    const resident = memoryOf(pid, 'VmRSS')
    const { status, message, ms } = await ask(world, `http://${allowed.host}${path}`)
    const bytes = allowed.bytesOf(path)
    const isBounded = ms <= slowMsMax && bytes <= bytesMax
    const grown = memoryOf(pid, 'VmHWM') - resident
    if (grown > largest.bytes) largest = { bytes: grown, what }
    if (grown > residentBytesMax.whileRead)
      problems.push(`${what}: the gateway grew by ${megabytes(grown)} MB`)
    figures.push(`${what}: ${status} after ${(ms / 1000).toFixed(1)} s and ${(bytes / 1e6).toFixed(1)} MB`)
    if (!statuses.includes(status) || !isBounded)
      problems.push(`${what}: ${status} after ${Math.round(ms)} ms and ${bytes} bytes: ${message}`)
  }
  const left = memoryOf(pid, 'VmRSS') - before
  figures.push(
    `resident memory of the gateway: ${megabytes(before)} MB before; ${megabytes(largest.bytes)} MB more by ${largest.what}, at most ${megabytes(residentBytesMax.whileRead)}; ${megabytes(left)} MB more after all, at most ${megabytes(residentBytesMax.left)}`,
  )
  if (left > residentBytesMax.left) problems.push('its memory stayed')
  const files = [...new Bun.Glob('**/audio-*').scanSync(gateway.folder)]
  if (files.length > 0) problems.push(`files were left behind: ${files.join(', ')}`)
  return judge('bad answers', figures, problems)
}

async function allowConfigured(world: World): Promise<ProofResult> {
  const wav = Buffer.from(toneWav(1)).toString('base64url')
  const url = `http://${world.allowed.host}/wav/${wav.slice(0, 4_000)}`
  const direct = await ask(world, url)
  const redirected = await ask(
    world,
    `http://${world.allowed.host}/to/${Buffer.from(url).toString('base64url')}`,
  )
  const taken = await ask(world, url, 'mistralai/voxtral-mini-2602')
  const statuses = [direct, redirected, taken].map(({ status }) => status)
  const isFine = statuses.every((status) => status === 200)
  const problems = isFine ? [] : [[direct, redirected, taken].map(({ message }) => message).join('; ')]
  return judge(
    'a configured host',
    [
      `a configured host: ${statuses.join(', ')}, by address, redirect, and for a provider that takes addresses`,
    ],
    problems,
  )
}

/** A name that is public when it is looked at and private a moment later, on a gateway whose resolver this proof is. */
async function resistRebinding(): Promise<ProofResult> {
  const served = await startHostileServer()
  const { port } = new URL(`http://${served.host}`)
  const canary = await startHostileServer('127.0.0.2', Number(port))
  const taker = startScriptedUpstream()
  taker.answer(() => Response.json({ text: 'heard', usage: { prompt_audio_seconds: 1 } }))
  let answers: string[][] = []
  let questions = 0
  const resolve = async () => answers[Math.min(questions++, answers.length - 1)] ?? []
  const model = (id: string) => ({
    id,
    modality: 'transcription' as const,
    prices: { audio_per_minute: '0.01' },
  })
  const custom = { base_url: taker.url, api_key: 'x', weight: 1, discover: false }
  const gateway = await startTestGateway({
    hooks: {
      writeLog: () => undefined,
      publicFetch: createPublicFetch({ resolve, allowedHosts: [`allowed.test:${port}`, served.host] }),
    },
    providers: () => [
      { ...custom, preset: 'custom', id: 'acme', models: [model('acme/ears')] },
      { ...custom, preset: 'mistral', models: [model('mistralai/voxtral-mini-2602')] },
    ],
  })
  const problems: string[] = []
  const tries: readonly (readonly [what: string, url: string, answers: string[][], status: number])[] = [
    ['private at once', `http://rebind.test:${port}/wav/x`, [['127.0.0.2']], 400],
    [
      'public and private together',
      `http://rebind.test:${port}/wav/x`,
      [['93.184.216.34', '127.0.0.2']],
      400,
    ],
    ['public, then private', `http://rebind.test:${port}/wav/x`, [['93.184.216.34'], ['127.0.0.2']], 400],
    [
      'a redirect to a name that turned private',
      `http://${served.host}/to/${Buffer.from(`http://rebind.test:${port}/wav/x`).toString('base64url')}`,
      [['127.0.0.2']],
      400,
    ],
    ['mapped', `http://rebind.test:${port}/wav/x`, [['::ffff:127.0.0.2']], 400],
    ['no address', `http://rebind.test:${port}/wav/x`, [[]], 400],
    // The first answer is the one that was looked at; the socket is not to ask again.
    [
      'a configured name that moves',
      `http://allowed.test:${port}/wav/${Buffer.from(toneWav(1)).toString('base64url').slice(0, 4_000)}`,
      [['127.0.0.1'], ['127.0.0.1'], ['127.0.0.2']],
      200,
    ],
  ]
  for (const [what, url, given, status] of tries) {
    answers = given
    questions = 0
    const answer = await gateway.post('/audio/transcriptions', { model: 'acme/ears', input_audio: { url } })
    if (answer.status !== status) problems.push(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`)
  }
  if (canary.asked.length > 0) problems.push(`the private server was asked ${canary.asked.join(', ')}`)
  await gateway.stop()
  for (const server of [served, canary]) await server.stop()
  await taker.stop()
  return judge(
    'rebinding',
    [
      `names that change their address: ${tries.length} tries, ${canary.asked.length} connections to the private server`,
    ],
    problems,
  )
}

function pidOf(gateway: RealGateway): number {
  const { port } = new URL(gateway.baseUrl)
  const { stdout } = Bun.spawnSync(['ss', '-Hltnp', `sport = :${port}`])
  const pid = Number(/pid=(\d+)/.exec(stdout.toString())?.[1])
  if (!pid) throw new Error('the process of the gateway cannot be found; ss and Linux are needed')
  return pid
}

/** Has the system count the peak of this process anew. */
function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}

function memoryOf(pid: number, member: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${member}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024
}

function judge(what: string, figures: readonly string[], problems: readonly string[]): ProofResult {
  const told = problems.slice(0, 20).map((problem) => `    ${what}: ${problem}`)
  return { status: problems.length === 0 ? 'PASS' : 'FAIL', figures: [...figures, ...told] }
}
