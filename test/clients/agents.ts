import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, type CommandOutcome } from '../prove/command.ts'
import { dotPng, marker } from './agent-task.ts'
import type { PackageSet } from './packages.ts'

/** The two agents for code, as their makers publish them. */
export const agentPackages: PackageSet = {
  name: 'npm-agents',
  registry: 'npm',
  versions: { '@anthropic-ai/claude-code': '2.1.330', '@openai/codex': '0.169.0' },
}

/** How an agent is run: in a home of its own, with the gateway's address and key and nothing else of this machine. */
export interface AgentRun {
  /** Where the packages are. */
  packages: string
  /** A new folder; the home and the folder of the work are made in it. */
  folder: string
  /** The gateway's address without `/v1`. */
  root: string
  key: string
  model: string
}

const runMsMax = 240_000

/** Where the agent works. */
export function workFolderOf(folder: string): string {
  return join(folder, 'work')
}

/** Runs Claude Code on the task until it ends, with variables of its environment besides. */
export function runClaudeCode(
  run: AgentRun,
  more: Readonly<Record<string, string>> = {},
): Promise<CommandOutcome> {
  const { packages, root, key, model } = run
  const program = join(packages, 'node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs')
  const environment = {
    ANTHROPIC_BASE_URL: root,
    ANTHROPIC_AUTH_TOKEN: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    ...more,
  }
  const args = ['-p', `Please do ${marker}.`, '--model', model, '--output-format', 'json']
  const allowed = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,Read,Edit,Write']
  return runAgent(run, environment, ['node', program, ...args, ...allowed])
}

/** Runs Codex on the task until it ends, as a provider of its configuration that it asks by HTTP. */
export function runCodex(run: AgentRun): Promise<CommandOutcome> {
  return runCodexWith(run, codexConfig(run.root, run.model))
}

/** The same with OpenAI's own provider at the gateway's address: over a WebSocket, with compactions by the server. */
export function runCodexOnSocket(run: AgentRun, more = ''): Promise<CommandOutcome> {
  mkdirSync(join(run.folder, '.codex'), { recursive: true })
  const login = { auth_mode: 'apikey', OPENAI_API_KEY: run.key }
  writeFileSync(join(run.folder, '.codex/auth.json'), JSON.stringify(login))
  return runCodexWith(
    run,
    `model = "${run.model}"
openai_base_url = "${run.root}/v1"
web_search = "disabled"
check_for_update_on_startup = false
${more}
[analytics]
enabled = false
`,
  )
}

/** By HTTP again, with settings of the session besides. */
export function runCodexOnHttp(run: AgentRun, more: string): Promise<CommandOutcome> {
  return runCodexWith(run, `${more}\n${codexConfig(run.root, run.model)}`)
}

function runCodexWith(run: AgentRun, config: string): Promise<CommandOutcome> {
  const { packages, folder } = run
  const program = join(packages, 'node_modules/@openai/codex/bin/codex.js')
  mkdirSync(join(folder, '.codex'), { recursive: true })
  writeFileSync(join(folder, '.codex/config.toml'), config)
  const args = ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
  return runAgent(run, { HEADRACE_API_KEY: run.key }, ['node', program, ...args, `Please do ${marker}.`])
}

/** The search that OpenAI itself runs is off: no other provider can be sent that tool, and the gateway says so. */
function codexConfig(root: string, model: string): string {
  return `model = "${model}"
model_provider = "headrace"
web_search = "disabled"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.headrace]
name = "Headrace"
base_url = "${root}/v1"
env_key = "HEADRACE_API_KEY"
wire_api = "responses"
`
}

function runAgent(
  { folder }: AgentRun,
  environment: Readonly<Record<string, string>>,
  command: readonly string[],
): Promise<CommandOutcome> {
  const work = workFolderOf(folder)
  mkdirSync(work, { recursive: true })
  writeFileSync(join(work, 'dot.png'), dotPng)
  const set = { PATH: process.env['PATH'] ?? '', HOME: folder, ...environment }
  const pairs = Object.entries(set).map(([name, value]) => `${name}=${value}`)
  return runCommand(['env', '-i', ...pairs, ...command], { cwd: work, msMax: runMsMax })
}
