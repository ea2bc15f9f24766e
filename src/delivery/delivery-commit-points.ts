/** Every unit of deliveries. A crash right before or right after any of them loses no event; it may tell one twice. */
export const deliveryCommitPoints = {
  secret: 'delivery.secret',
  claim: 'delivery.claim',
  record: 'delivery.record',
  again: 'delivery.again',
} as const

/** The name of one of them. */
export type DeliveryCommitPoint = (typeof deliveryCommitPoints)[keyof typeof deliveryCommitPoints]
