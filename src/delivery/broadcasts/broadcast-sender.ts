import { type CallbackSender, createCallbackSender } from '../../transport/callback-sender.ts'
import type { Destination } from './destination.ts'

/** An answer of OTLP tells which spans were rejected; more of an answer says nothing. */
const broadcastAnswerBytesMax = 16_384

/** Posts to the configured destinations. Their hosts were named by the operator, so they may be private and without TLS. */
export function createBroadcastSender(destinations: readonly Pick<Destination, 'url'>[]): CallbackSender {
  return createCallbackSender({
    allowedHosts: destinations.flatMap(({ url }) => URL.parse(url)?.host ?? []),
    answerBytesMax: broadcastAnswerBytesMax,
    addressName: 'url',
  })
}
