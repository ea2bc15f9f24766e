import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sparePort } from '../harness/processes.ts'
import { buildWithGo, installFromNpm, installFromPyPi, type PeerKind } from './peer.ts'

const upstreamKey = 'bench-upstream-key'

const portkey: PeerKind = {
  name: 'portkey',
  version: '1.15.2',
  leavesOut: 'keys, credits, a ledger, a log',
  // Its streams answer 500 with that server from 1.14 on: it adds headers to an answer whose headers cannot be changed there.
  install: installFromNpm('@portkey-ai/gateway', '1.15.2', { '@hono/node-server': '1.13.8' }),
  callers: 32,
  commandOf: ({ home, port }) => ({
    command: [
      'node',
      join(home, 'node_modules/@portkey-ai/gateway/build/start-server.js'),
      `--port=${port}`,
      '--headless',
    ],
    env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  }),
  headersOf: (address) => ({
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${address}/v1`,
    authorization: `Bearer ${upstreamKey}`,
  }),
}

const smg: PeerKind = {
  name: 'smg',
  version: '1.13.0',
  leavesOut: 'keys, credits, a ledger, a line of log a call',
  install: installFromPyPi('smg==1.13.0', 'smg'),
  commandOf: ({ home, port, address }) => ({
    command: [
      join(home, 'bin/smg'),
      'launch',
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--prometheus-port',
      String(sparePort()),
      '--backend',
      'openai',
      '--worker-urls',
      address,
      '--disable-health-check',
      '--history-backend',
      'none',
      '--log-level',
      'error',
    ],
  }),
}

const ferro: PeerKind = {
  name: 'ferro',
  version: '1.5.0',
  leavesOut: 'credits, a durable ledger',
  install: installFromPyPi('ferrogw==1.5.0', 'ferrogw'),
  commandOf({ home, folder, port, address }) {
    const config = join(folder, 'config.json')
    writeFileSync(
      config,
      JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'openai' }] }),
    )
    return {
      command: [join(home, 'bin/ferrogw'), 'serve'],
      env: {
        GATEWAY_CONFIG: config,
        MASTER_KEY: 'fgw_bench',
        OPENAI_API_KEY: upstreamKey,
        OPENAI_BASE_URL: `${address}/v1`,
        PORT: String(port),
        LOG_LEVEL: 'error',
        // Its own default refuses most of a saturated run.
        RATE_LIMIT_RPS: '1000000',
        RATE_LIMIT_BURST: '1000000',
      },
    }
  },
  headersOf: () => ({ authorization: 'Bearer fgw_bench' }),
  model: 'gpt-4o-mini',
}

const litellm: PeerKind = {
  name: 'litellm',
  version: '1.106.2',
  leavesOut: 'keys, credits and a ledger, which need its database',
  install: installFromPyPi('litellm[proxy]==1.106.2', 'litellm'),
  callers: 4,
  commandOf({ home, folder, port, address }) {
    const config = join(folder, 'config.json')
    const parameters = { model: 'openai/bench', api_base: `${address}/v1`, api_key: upstreamKey }
    writeFileSync(
      config,
      JSON.stringify({ model_list: [{ model_name: 'bench', litellm_params: parameters }] }),
    )
    return {
      command: [
        join(home, 'bin/litellm'),
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--config',
        config,
        '--num_workers',
        '1',
      ],
      env: {
        LITELLM_LOG: 'ERROR',
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        LITELLM_MASTER_KEY: 'sk-bench-master-key-0000000001',
      },
    }
  },
  headersOf: () => ({ authorization: 'Bearer sk-bench-master-key-0000000001' }),
  model: 'bench',
}

const bifrostCore: PeerKind = {
  name: 'bifrost-core',
  version: '1.1.38',
  leavesOut: 'keys, credits, a ledger, a log, its own HTTP server and plugins',
  install: buildWithGo(join(import.meta.dir, 'bifrost-core'), 'bifrost-core'),
  commandOf: ({ home, port, address }) => ({
    command: [join(home, 'bifrost-core'), String(port), address],
  }),
}

/** Every gateway that is measured beside Headrace. */
export const peerKinds: readonly PeerKind[] = [bifrostCore, smg, ferro, portkey, litellm]
