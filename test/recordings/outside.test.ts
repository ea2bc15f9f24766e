import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicFetch } from '../../src/transport/public-fetch.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'
import { expectedStop, type Caller } from './expected.ts'
import {
  bytesOf,
  listExchanges,
  presetOfVendor,
  toReply,
  whyNoOutside,
  type OutsideExchange,
} from './outside.ts'
import { replay, toldByReply, toldToCaller } from './replay.ts'
import { objectAt, type Wire } from './wire.ts'

// Exchanges of other projects' clients with real hosts: each request is sent through the gateway as its client sent it,
// the host answers as it did, and the client is told what it was told then.

const reason = whyNoOutside()
if (reason !== null) console.log(reason)
const exchanges = reason === null ? listExchanges() : []

/** A transcript is replayed beside the others of its kind, in `test/contract`. */
const served = exchanges.filter(({ format }) => format !== 'transcription')

/** The requests of Gemini's clients as a client of chat completions sends them. */
const asChat: Readonly<Record<string, Wire>> = {
  x693: {
    messages: [{ role: 'user', content: 'Return exactly this payment amount: 12.34' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'Payment',
        schema: {
          type: 'object',
          title: 'Payment',
          properties: {
            amount: {
              anyOf: [
                { type: 'number' },
                { type: 'string', pattern: String.raw`^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$` },
              ],
            },
          },
          required: ['amount'],
        },
      },
    },
  },
  x714: { messages: [{ role: 'user', content: 'Repeat this exact sentence.' }] },
}
const getFile = {
  messages: [{ role: 'user', content: 'Use the get_file tool now.' }],
  tools: [
    {
      type: 'function',
      function: {
        name: 'get_file',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
      },
    },
  ],
}

const paths: Readonly<Record<string, string>> = {
  chat: '/chat/completions',
  gemini: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  embeddings: '/embeddings',
}

function requestOf({ id, format, request = {} }: OutsideExchange): Wire {
  return format === 'gemini' ? (asChat[id] ?? getFile) : request
}

const aPublicAddress = () => Promise.resolve(['93.184.216.34'])

let upstream: ScriptedUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = startScriptedUpstream()
  const prices = { input_per_million: '1', output_per_million: '2' }
  gateway = await startTestGateway({
    // No test asks a resolver what the host of a recorded address is.
    hooks: { writeLog: () => undefined, publicFetch: createPublicFetch({ resolve: aPublicAddress }) },
    providers: () =>
      served.map((exchange) => {
        const { id, format, request = {} } = exchange
        const modality = format === 'embeddings' ? ('embedding' as const) : ('language' as const)
        const model = {
          id: `outside/${id}`,
          upstream: String(request['model'] ?? 'gemini-3-flash'),
          modality,
          prices,
        }
        return {
          preset: presetOfVendor(exchange),
          id,
          base_url: `${upstream.url}/${id}/v1`,
          api_key: 'any',
          weight: 1,
          discover: false,
          only_models: true,
          models: [model],
        }
      }),
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

describe.if(reason === null)('what a real host answered', () => {
  for (const exchange of served) {
    const reply = toReply(exchange)
    const name = `${exchange.id} of ${exchange.vendor}`
    if (reply !== null)
      test(`says the same to callers of all three formats: ${name}`, () => {
        const { read, problems } = replay(reply, 8)
        expect(problems).toEqual([])
        expect(read).toBe(3)
      })

    test(`is what its client is told through the gateway: ${name}`, async () => {
      upstream.answer(
        () => new Response(bytesOf(exchange), { headers: { 'content-type': exchange.responseType } }),
      )
      const { status, text, json } = await gateway.post(paths[exchange.format] ?? '', {
        ...requestOf(exchange),
        model: `outside/${exchange.id}`,
      })
      expect([status, text.slice(0, status === 200 ? 0 : 500)]).toEqual([200, ''])
      if (reply === null) {
        const vector = at(exchange.response, 'data.0.embedding')
        // Some hosts leave out the padding.
        const expected =
          typeof vector === 'string' ? Buffer.from(vector, 'base64').toString('base64') : vector
        expect(at(json, 'data.0.embedding')).toEqual(expected)
        return
      }
      const caller: Caller = reply.format === 'gemini' ? 'chat' : reply.format
      const told = toldByReply(reply)
      const shown = toldToCaller(caller, text, reply.isStream)
      expect(shown.text).toBe(told.text)
      expect(shown.calls.map((call) => [call.name, call.arguments])).toEqual(
        told.calls.map((call) => [call.name, call.arguments]),
      )
      expect(shown.stop).toBe(expectedStop(told, reply.format, caller))
      expect(objectAt(json, 'error')).toEqual({})
      if (told.usage !== null) expect(shown.usage).toEqual(told.usage)
    })
  }
})
