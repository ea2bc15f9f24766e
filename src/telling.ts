import { createBatchRepository } from './batches/batch-repository.ts'
import { createMoveRepository } from './batches/lanes/move-repository.ts'
import { createEndMessages } from './batches/callbacks/end-message.ts'
import { createCallbacks } from './delivery/callbacks.ts'
import { Courier } from './delivery/courier.ts'
import { Broadcaster } from './delivery/broadcasts/broadcaster.ts'
import { createBroadcastRepository } from './delivery/broadcasts/broadcast-repository.ts'
import { createBroadcastSender } from './delivery/broadcasts/broadcast-sender.ts'
import { createDeliveryRepository } from './delivery/delivery-repository.ts'
import { createCallbackSender } from './transport/callback-sender.ts'
import { createSigning } from './stores.ts'
import type { Config } from './config.ts'
import { registerBroadcastGauges } from './telemetry/broadcast-gauges.ts'
import type { Core, GatewayHooks } from './gateway-core.ts'

/** Events of batches, what signs and sends them, and what tells of generations. */
export function createTelling(config: Config, { core, hooks }: { core: Core; hooks: GatewayHooks }) {
  const { database, clock, log } = core
  const { secrets, seal } = createSigning(config, database)
  const repository = createDeliveryRepository(database)
  const sender = hooks.callbackSender ?? createCallbackSender({ allowedHosts: config.callbackHosts })
  const courier = new Courier({
    repository,
    secrets,
    sender,
    clock,
    messageOf: createEndMessages({
      batches: createBatchRepository(database),
      moves: createMoveRepository(database),
    }),
    warn: (message, facts) => log.warn(message, facts),
  })
  const broadcaster = createBroadcaster(config, { core, hooks })
  return {
    secrets,
    seal,
    callbacks: createCallbacks({ repository, sender, seal }),
    start() {
      if (config.role !== 'api') courier.start()
      broadcaster.start()
    },
    stop: () => Promise.all([courier.stop(), broadcaster.stop()]),
  }
}

/** Tells generations to the operator's destinations, in every role: whoever captures may tell. */
function createBroadcaster(
  { broadcasts }: Config,
  { core, hooks }: { core: Core; hooks: GatewayHooks },
): Broadcaster {
  const { database, clock, log, metrics, version } = core
  const broadcaster = new Broadcaster({
    destinations: broadcasts,
    repository: createBroadcastRepository(database),
    sender: hooks.broadcastSender ?? createBroadcastSender(broadcasts),
    clock,
    version,
    warn: (message, facts) => log.warn(message, facts),
  })
  if (broadcasts.length > 0) registerBroadcastGauges(metrics, () => broadcaster.states)
  return broadcaster
}
