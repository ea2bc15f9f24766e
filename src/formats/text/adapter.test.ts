import { expect, test } from 'bun:test'
import type { TextFormat } from '../../canonical/operation.ts'
import { decodeChatRequest } from './chat/read-request.ts'
import { chatQuirks } from './chat/quirks.ts'
import { testContext, testEndpoint } from './testing.ts'
import { messagesQuirks } from './messages/quirks.ts'
import { responsesQuirks } from './responses/quirks.ts'
import { textAdapter } from './adapter.ts'
import { chooseInterface, type AskedInterface, type TextInterface, type TextPath } from './text-interface.ts'

/** The request for `team/model 1` through this interface, at this base URL. */
function sentThrough(through: TextInterface, stream: boolean, baseUrl = 'https://host.test/v1') {
  const body = { model: 'a/m', messages: [{ role: 'user', content: 'hi' }], stream }
  const call = decodeChatRequest(new TextEncoder().encode(JSON.stringify(body)), { sessionIdHeader: null })
  const endpoint = testEndpoint('team/model 1', 'acme')
  const step = textAdapter('chat', through).first({
    call,
    endpoint: { ...endpoint, deployment: { ...endpoint.deployment, baseUrl } },
    context: testContext,
  })
  if (step.type === 'answer') throw new Error('a text call sends something')
  return { type: step.type, ...step.exchange.request }
}

const sentTo = (path: TextPath, stream: boolean) =>
  sentThrough({ format: 'chat', path, quirks: chatQuirks() }, stream)

test('a provider’s path may name the model and depend on whether the answer is streamed', () => {
  const path: TextPath = ({ model, stream }) =>
    `/models/${encodeURIComponent(model)}:${stream ? 'stream' : 'whole'}`
  expect(sentTo(path, false)).toMatchObject({ type: 'send', path: '/models/team%2Fmodel%201:whole' })
  expect(sentTo(path, true)).toMatchObject({ type: 'stream', path: '/models/team%2Fmodel%201:stream' })
  expect(sentTo('/chat/completions', true).path).toBe('/chat/completions')
})

test('the method is POST unless the path names another with it', () => {
  const path: TextPath = ({ model, stream }) =>
    stream ? `/runs/${model}` : { method: 'PUT', path: `/answers/${encodeURIComponent(model)}` }
  expect(sentTo(path, false)).toMatchObject({ method: 'PUT', path: '/answers/team%2Fmodel%201' })
  expect(sentTo(path, true)).toMatchObject({ method: 'POST', path: '/runs/team/model 1' })
  expect(sentTo('/chat/completions', false).method).toBe('POST')
})

test('an interface may have another address, chosen by the ending of its deployment’s address', () => {
  const through: TextInterface = {
    format: 'chat',
    path: '/chat/completions',
    elsewhere: {
      '/openai': ({ model }) => `/openai/deployments/${encodeURIComponent(model)}/chat/completions`,
      '/openai/v1': '/other/v1/chat',
    },
    quirks: chatQuirks(),
  }
  expect(sentThrough(through, false, 'https://host.test/openai')).toMatchObject({
    path: '/openai/deployments/team%2Fmodel%201/chat/completions',
    inPlaceOf: '/openai',
  })
  expect(sentThrough(through, false, 'https://host.test/openai/v1')).toMatchObject({
    path: '/other/v1/chat',
    inPlaceOf: '/openai/v1',
  })
  const usual = sentThrough(through, false, 'https://proxy.test/ours')
  expect(usual.path).toBe('/chat/completions')
  expect(usual).not.toHaveProperty('inPlaceOf')
})

test('an interface may have a way of its own to send the key, and headers of its own', () => {
  const auth = { authorization: { type: 'header', name: 'x-api-key', prefix: '' } } as const
  const headers = { 'x-version': '1' }
  const sent = sentThrough({ format: 'chat', path: '/chat', quirks: chatQuirks(), auth, headers }, true)
  expect(sent).toMatchObject({ auth, headers: { 'x-version': '1', accept: 'text/event-stream' } })
})

test('a refusal is read in the provider’s format, and decides whether another endpoint is tried', () => {
  const refused = { status: 429, headers: new Headers({ 'retry-after': '7' }), requestedModel: 'a/m' }
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const read = (format: 'chat' | 'messages', status: number, body: unknown) =>
    textAdapter('chat', interfaceOf(format)).readError({
      ...refused,
      status,
      body: new TextEncoder().encode(JSON.stringify(body)),
      parameterNames: [],
    })
  expect(read('chat', 429, { error: { message: 'slow down' } })).toMatchObject({
    error: { type: 'upstream_rate_limited', retryAfterSeconds: 7 },
    retrySame: true,
    retryAfterMs: 7000,
  })
  expect(read('messages', 529, overloaded)).toMatchObject({ error: { type: 'provider_overloaded' } })
})

function interfaceOf(format: 'chat' | 'messages'): TextInterface {
  if (format === 'chat') return { format, path: '/chat', quirks: chatQuirks() }
  return { format, path: '/messages', quirks: messagesQuirks() }
}

test('the caller’s own format is preferred over a translation, which goes to the first', () => {
  const chat: TextInterface = { format: 'chat', path: '/chat', quirks: chatQuirks() }
  const messages: TextInterface = { format: 'messages', path: '/messages', quirks: messagesQuirks() }
  expect(chooseInterface([chat, messages], asked('messages'))).toBe(messages)
  expect(chooseInterface([chat, messages], asked('chat'))).toBe(chat)
  expect(chooseInterface([chat, messages], asked('responses'))).toBe(chat)
  expect(chooseInterface([], asked('chat'))).toBeNull()
})

test('an interface that does not serve the call is passed over, even by callers of its format', () => {
  const chat: TextInterface = {
    format: 'chat',
    path: '/chat',
    quirks: chatQuirks(),
    serves: ({ upstreamModel, parameters }) => upstreamModel !== 'newest' || !parameters.includes('tools'),
  }
  const responses: TextInterface = { format: 'responses', path: '/responses', quirks: responsesQuirks() }
  const interfaces = [chat, responses]
  expect(chooseInterface(interfaces, asked('chat'))).toBe(chat)
  expect(chooseInterface(interfaces, { ...asked('chat'), upstreamModel: 'newest' })).toBe(chat)
  const withTools = { upstreamModel: 'newest', parameters: ['tools'] }
  expect(chooseInterface(interfaces, { ...asked('chat'), ...withTools })).toBe(responses)
  expect(chooseInterface(interfaces, { ...asked('messages'), ...withTools })).toBe(responses)
  expect(chooseInterface([chat], { ...asked('chat'), ...withTools })).toBeNull()
})

function asked(format: TextFormat): AskedInterface {
  return { format, model: 'acme/model', upstreamModel: 'model', parameters: [] }
}
