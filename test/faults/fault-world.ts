import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProviderConfig } from '../../src/config-file.ts'
import { callers, type Caller } from '../recordings/expected.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { openLedgerView, type LedgerView } from '../support/ledger-view.ts'
import type { FaultRow, FaultUpstream } from './fault-table.ts'

/** One row of the table for one pair of formats. Each has endpoints of its own, so that no case has a past. */
export interface FaultCase {
  row: FaultRow
  upstream: FaultUpstream
  /** The format of the second endpoint's provider. */
  second: FaultUpstream
  caller: Caller
  kind: 'whole' | 'stream'
  /** `alone`: the second endpoint has the fault too. */
  arrangement: 'sound' | 'alone'
  /** Unique; part of the names of its model, endpoints and mounts. */
  slug: string
}

/** Every case of these rows. */
export function casesOf(rows: readonly FaultRow[]): FaultCase[] {
  return rows.flatMap((row, index) =>
    row.upstreams.flatMap((upstream) =>
      callers.flatMap((caller) =>
        row.kinds.flatMap((kind) =>
          (['sound', 'alone'] as const)
            .filter((arrangement) => arrangement === 'sound' || row.alone !== undefined)
            .map((arrangement) => ({
              row,
              upstream,
              second: upstream,
              caller,
              kind,
              arrangement,
              slug: `${index}-${upstream}-${caller}-${kind}-${arrangement}`,
            })),
        ),
      ),
    ),
  )
}

const formats = ['chat', 'responses', 'messages', 'gemini'] as const satisfies readonly FaultUpstream[]

/** These rows for every two providers of different formats, the first of which has the fault. */
export function fallbackCasesOf(rows: readonly FaultRow[]): FaultCase[] {
  const arrangement = 'sound'
  return formats.flatMap((upstream) =>
    formats
      .filter((second) => second !== upstream)
      .flatMap((second) =>
        rows.flatMap((row, index) =>
          callers.flatMap((caller) =>
            row.kinds.map((kind) => {
              const slug = `${index}-${upstream}-${second}-${caller}-${kind}`
              return { row, upstream, second, caller, kind, arrangement, slug } as const
            }),
          ),
        ),
      ),
  )
}

/** Credits per million tokens: of the endpoint that is asked first, and of the dearer one. */
export const prices = {
  first: { input: 1_000, output: 4_000 },
  second: { input: 2_000, output: 8_000 },
} as const

/** Never to be seen in what a caller is told. */
export const providerKey = 'sk-of-the-operator-0123456789'

/** A gateway with two endpoints for each case. */
export interface FaultWorld {
  gateway: TestGateway
  ledger: LedgerView
  /** How often the endpoints of a case were asked. */
  asked(one: FaultCase): Promise<[number, number]>
  stop(): Promise<void>
}

/** Starts it, and tells the simulator what is wrong with whom. */
export async function startFaultWorld(
  cases: readonly FaultCase[],
  keepAliveMs?: number,
): Promise<FaultWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-faults-'))
  const closed = closedPort()
  const gateway = await startTestGateway({
    folder,
    credits: '1000000',
    hooks: { writeLog: () => undefined, ...(keepAliveMs === undefined ? {} : { keepAliveMs }) },
    providers: (url) => cases.flatMap((one) => endpointsOf(one, url, closed)),
  })
  const ledger = await openLedgerView(folder)
  for (const one of cases) {
    const { fault } = one.row
    if (fault === null) continue
    for (const place of one.arrangement === 'alone' ? (['first', 'second'] as const) : (['first'] as const))
      await gateway.admin('faults', { mount: `${place}-${one.slug}`, rules: [{ fault }] })
  }
  const requestsOf = async (mount: string) =>
    Number((await gateway.admin(`counters?mount=${mount}&requests=0`))['requests'])
  return {
    gateway,
    ledger,
    asked: async ({ slug }) => [await requestsOf(`first-${slug}`), await requestsOf(`second-${slug}`)],
    async stop() {
      await ledger.close()
      await gateway.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The model of a case, as the caller names it. */
export const modelOf = ({ slug }: FaultCase): string => `acme/${slug}`

/** Who answers in each format: of OpenAI a model that it answers in responses alone. */
const providers: Readonly<
  Record<FaultUpstream, { preset: string; version?: string; upstream: string; region?: string }>
> = {
  chat: { preset: 'custom', upstream: 'gpt-4o-mini' },
  responses: { preset: 'openai', upstream: 'gpt-5.1-codex' },
  messages: { preset: 'anthropic', upstream: 'claude-sonnet-4-5' },
  gemini: { preset: 'google-ai-studio', version: 'v1beta', upstream: 'gemini-2.0-flash' },
  converse: {
    preset: 'amazon-bedrock',
    version: '',
    upstream: 'us.amazon.nova-2-lite-v1:0',
    region: 'us-east-1',
  },
  cohere: { preset: 'cohere', version: 'cohere', upstream: 'command-a-03-2025' },
}

function endpointsOf(one: FaultCase, url: string, closed: number): ProviderConfig[] {
  return (['first', 'second'] as const).map((place) => {
    const {
      preset,
      version = 'v1',
      upstream,
      region,
    } = providers[place === 'first' ? one.upstream : one.second]
    const isRefused = one.row.fault === null && (place === 'first' || one.arrangement === 'alone')
    const { input, output } = prices[place]
    return {
      preset,
      ...(region === undefined ? {} : { region }),
      id: `${place}-${one.slug}`,
      base_url: isRefused
        ? `http://127.0.0.1:${closed}/${version}`
        : `${url}/p/${place}-${one.slug}/${version}`,
      api_key: providerKey,
      weight: 1,
      discover: false,
      models: [
        {
          id: modelOf(one),
          upstream,
          prices: { input_per_million: String(input), output_per_million: String(output) },
        },
      ],
    }
  })
}

/** A port at which nobody listens: one that was free a moment ago. */
function closedPort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  void server.stop(true)
  if (port === undefined) throw new Error('no port')
  return port
}
