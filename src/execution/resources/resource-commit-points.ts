/** Names of the units that are committed for what is left at providers; a crash test ends the process around each. */
export const commitPoints = {
  intend: 'resource.intend',
  name: 'resource.name',
  leave: 'resource.leave',
  forget: 'resource.forget',
  free: 'resource.free',
  claim: 'resource.claim',
  removed: 'resource.removed',
  postpone: 'resource.postpone',
  keep: 'resource.keep',
  expire: 'resource.expire',
} as const
