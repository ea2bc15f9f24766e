import type { Schemas } from '../../api/openapi.gen.ts'
import type { StateKind } from '../../parts/state.tsx'

type Deployment = Pick<Schemas['DeploymentHealth'], 'state' | 'last_30m'>

/** From this share of failed calls on, a deployment that the gateway calls again is not shown as healthy. */
const failedShareMin = 0.1

const states: Readonly<Record<Deployment['state'], { kind: StateKind; word: string }>> = {
  healthy: { kind: 'ok', word: 'Healthy' },
  failing: { kind: 'bad', word: 'Failing' },
  cooling_down: { kind: 'warn', word: 'Cooling down' },
  out: { kind: 'bad', word: 'Out' },
  unknown: { kind: 'idle', word: 'Unknown' },
}

/**
 * How a deployment is, in a word. The API's `healthy` means that no endpoint failed in the last 30 seconds; the figures
 * beside it are those of 30 minutes, and the word must fit them too.
 */
export function healthWord({ state, last_30m: { requests, errors } }: Deployment): {
  kind: StateKind
  word: string
} {
  if (state === 'healthy' && errors > 0 && errors >= requests * failedShareMin)
    return { kind: 'warn', word: 'Calls fail' }
  return states[state]
}
