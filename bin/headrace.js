#!/usr/bin/env node
// Starts src/main.ts with the Bun that npm installed beside this package, from any Node >= 18.
//
//   headrace <arguments>          runs the gateway's command line
//   headrace --bun <arguments>    runs that same Bun with other arguments; used by the npm scripts
//
// A Bun on the PATH is never used: its version is not the one the tests ran with. Where Node can replace its own
// process it does, and nothing stands between the caller and the gateway. Where it cannot, and below npm, this process
// stays as a parent that passes signals down and the exit up; should it be killed outright, Bun notices
// (`--no-orphans`) and stops as it would at a power cut, which the gateway is built to survive.

import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const target = `${process.platform}-${process.arch}`

/** Package names in order of preference, by `${process.platform}-${process.arch}`. */
const packagesOf = {
  'darwin-arm64': ['@oven/bun-darwin-aarch64'],
  'darwin-x64': ['@oven/bun-darwin-x64', '@oven/bun-darwin-x64-baseline'],
  'linux-arm64': ['@oven/bun-linux-aarch64', '@oven/bun-linux-aarch64-musl'],
  'linux-x64': [
    '@oven/bun-linux-x64',
    '@oven/bun-linux-x64-musl',
    '@oven/bun-linux-x64-baseline',
    '@oven/bun-linux-x64-musl-baseline',
  ],
  'win32-arm64': ['@oven/bun-windows-aarch64', '@oven/bun-windows-x64'],
  'win32-x64': ['@oven/bun-windows-x64', '@oven/bun-windows-x64-baseline'],
}

/** A second copy of a signal inside this time is the same wish: npm and the terminal both send the one Ctrl-C. */
const repeatWindowMs = 500

/**
 * npm and npx run us below a shell and pass SIGTERM to that shell, which dies without telling us. So below npm we look
 * whether our parent has changed, this often; elsewhere a parent may go (nohup, a closed shell) and the gateway stays.
 */
const parentCheckMs = 250
const isBelowNpm = process.env.npm_command !== undefined || process.env.npm_lifecycle_event !== undefined

function fail(message) {
  process.stderr.write(`headrace: ${message}\n`)
  process.exit(1)
}

/** Resolved from this file, so that a clone, a hoisted dependency and a linked package all find theirs. */
function installedBinaries() {
  const require = createRequire(import.meta.url)
  const file = process.platform === 'win32' ? 'bun.exe' : 'bun'
  const found = []
  for (const name of packagesOf[target] ?? []) {
    try {
      const path = join(dirname(require.resolve(`${name}/package.json`)), 'bin', file)
      if (existsSync(path)) found.push({ name, path })
    } catch {
      // Not installed: npm takes only the packages that fit the platform.
    }
  }
  return found
}

/** Asked only when both kinds are installed (npm before 9.4 does not tell them apart). */
function isMusl() {
  if (process.report === undefined) return false
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime === undefined
}

/** False only when the kernel lists the processor's features and AVX2 is not among them. */
function hasAvx2() {
  if (target !== 'linux-x64') return true
  try {
    // The first processor's entry is enough; the whole file takes milliseconds on machines with many.
    const file = openSync('/proc/cpuinfo', 'r')
    const head = Buffer.alloc(8192)
    const length = readSync(file, head, 0, head.length, 0)
    closeSync(file)
    const flags = /^flags\s*:(.*)$/m.exec(head.toString('latin1', 0, length))
    return flags === null || / avx2( |$)/.test(flags[1])
  } catch {
    return true
  }
}

/** The path of the binary to run; ends the process with one line when there is none that can run here. */
function findBun() {
  let found = installedBinaries()
  if (found.length === 0) {
    if (packagesOf[target] === undefined)
      fail(`there is no Bun build for ${target}; see https://bun.com for the platforms it runs on`)
    fail(
      `the Bun runtime for ${target} (${packagesOf[target][0]}) is not installed; run "npm ci --include=optional" in ${root}`,
    )
  }
  if (found.length > 1 && process.platform === 'linux') {
    const musl = isMusl()
    found = found.filter((binary) => binary.name.includes('-musl') === musl)
    if (found.length === 0)
      fail(`the installed Bun was built for another C library than this system's; run "npm ci" in ${root}`)
  }
  if (hasAvx2()) return found[0].path
  const baseline = found.find((binary) => binary.name.endsWith('-baseline'))
  if (baseline !== undefined) return baseline.path
  // Asked rather than assumed: a build that does without AVX2 is welcome.
  if (spawnSync(found[0].path, ['--version'], { stdio: 'ignore' }).signal !== 'SIGILL') return found[0].path
  return fail(
    `this processor has no AVX2, which ${found[0].name} needs; run "npm install --no-save ${found[0].name}-baseline@${bunVersion(found[0].name)}" in ${root}`,
  )
}

function bunVersion(name) {
  return createRequire(import.meta.url)(`${name}/package.json`).version
}

/** What Bun reads before the first line of ours runs. Whatever the operator has set stands. */
function environment() {
  return {
    // Bun opens at most 256 upstream connections unless told otherwise before it starts.
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
    // Young objects are collected when their space is full, not by a timer besides: it came two to three times as often under
    // load, and each time looked at all calls that were running.
    BUN_JSC_percentCPUPerMBForEdenTimer: '0.00001',
    // A full collection once the young generation has less than half of the whole, not less than a third: 15 MB less stay
    // resident after load.
    BUN_JSC_minEdenToOldGenerationRatio: '0.6',
    // What a call runs is compiled by the last of the runtime's compilers after 100,000 calls, not after 7,000; loops as
    // before. That compiler takes as much processor time as its code saves in so many calls (docs/adr/0017).
    BUN_JSC_ftlTierUpCounterIncrementForReturn: '1',
    // Bun collects everything once a second, however little there is to collect, and stops all calls for 4 to 8 ms each
    // time; collections by need go on.
    BUN_GC_TIMER_INTERVAL: '2500',
    // Milliseconds until freed memory goes back to the system. After 10, Bun's own choice, bodies of a megabyte are put
    // into fresh pages each time, which costs more than everything else that is done with them; after 250 they cost a
    // quarter less. Longer ones gain nothing more and keep twice the memory.
    MIMALLOC_PURGE_DELAY: '250',
    // Milliseconds between two looks for free pages among blocks in use: a thread of its own looked all the time while calls
    // ran, and gives the same pages back some seconds after them.
    MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000',
    // A thread that touches memory for later use; a busy gateway saves nothing by it.
    BUN_JSC_useWarmUpMarkedBlocks: '0',
    DO_NOT_TRACK: '1',
    ...process.env,
  }
}

/**
 * `--no-install`: a missing package is an error, never a download. `--no-env-file`: a `.env` of the folder the operator
 * stands in belongs to another program; its DATABASE_URL must not become ours.
 */
function bunArguments(own) {
  const flags = [`--config=${join(root, 'bin', 'bunfig.toml')}`, '--no-install', '--no-env-file']
  if (own[0] === '--bun') return [...flags, ...own.slice(1)]
  return [...flags, join(root, 'src', 'main.ts'), ...own]
}

function stopWithParent(stop) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, parentCheckMs)
}

function runAsChild(path, args, env) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
  const sentAtMs = new Map()
  const pass = (signal) => {
    const nowMs = performance.now()
    if (nowMs - (sentAtMs.get(signal) ?? -Infinity) < repeatWindowMs) return
    sentAtMs.set(signal, nowMs)
    child.kill(signal)
  }
  // Before the child starts: a signal right after its first line must not find this process without them.
  for (const signal of signals) process.on(signal, pass)
  const child = spawn(path, ['--no-orphans', ...args], {
    stdio: 'inherit',
    env,
    // Outside the terminal's process group the child gets a Ctrl-C once, from here, and not twice.
    detached: process.platform !== 'win32',
  })
  if (isBelowNpm) stopWithParent(() => pass('SIGTERM'))
  child.on('error', (error) => fail(`Bun could not be started from ${path}: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    for (const name of signals) process.removeAllListeners(name)
    // Dying of the same signal tells a waiting shell the truth; the exit code is for platforms without signals.
    process.kill(process.pid, signal)
    setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 100)
  })
}

const path = findBun()
const args = bunArguments(process.argv.slice(2))
if (typeof process.execve === 'function' && process.platform !== 'win32' && !isBelowNpm) {
  process.execve(path, [path, ...args], environment())
} else {
  runAsChild(path, args, environment())
}
