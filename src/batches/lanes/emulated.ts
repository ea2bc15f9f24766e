import { GatewayError } from '../../core/errors.ts'
import type { Lane } from './lane.ts'

/** Every item is a call of its own through the live path, at the live price. Every batch that can be routed has it. */
export const emulated: Lane = {
  name: 'emulated',
  offers: (endpoints) => endpoints,
  refuse: (model) =>
    new GatewayError('invalid_request', `Model '${model}' has no endpoint that runs batches.`, {
      param: 'model',
    }),
  tier: null,
  waitsFor: null,
  leavesBeforeMs: null,
  automaticFrom: 1,
}
