import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { parseListing, type ListedModel } from '../catalog/listing.ts'
import { testContext, testEndpoint } from '../formats/text/testing.ts'
import { asChat } from '../formats/text/chat/quirks.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import { decodeEmbeddingsRequest } from '../formats/embeddings/read-request.ts'
import { decodeMessagesRequest } from '../formats/text/messages/read-request.ts'
import { decodeResponsesRequest } from '../formats/text/responses/read-request.ts'
import { textAdapter } from '../formats/text/adapter.ts'
import { chooseInterface } from '../formats/text/text-interface.ts'
import { addressOf, authHeaders } from '../transport/credentials.ts'
import { textInterfacesOf } from './define-provider.ts'
import { rowsOf } from '../../test/support/rows-of-providers.ts'
import { presetOf, targetOf, toDeploymentSource, type ProviderSettings } from './deployments.ts'

const decoders = {
  chat: decodeChatRequest,
  responses: decodeResponsesRequest,
  messages: decodeMessagesRequest,
  embeddings: decodeEmbeddingsRequest,
}
const bodies = {
  chat: { messages: [{ role: 'user', content: 'hi' }] },
  responses: { input: 'hi' },
  messages: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 },
  embeddings: { input: 'hi' },
}

/** The URL of a call in this format, and the provider's own headers. */
function sentBy(
  settings: Omit<ProviderSettings, 'weight' | 'models'>,
  format: keyof typeof bodies,
  names: { model?: string; upstream: string; interfaces?: readonly string[] },
) {
  const source = toDeploymentSource({ api_key: 'key-1', weight: 1, models: [], ...settings })
  const { upstream, model = 'a/b', interfaces = [] } = names
  const endpoint = { ...testEndpoint(upstream), model, interfaces, deployment: source.deployment }
  const { adapters } = presetOf(settings.preset)
  const modality = format === 'embeddings' ? 'embedding' : 'language'
  const chosen = chooseInterface(textInterfacesOf(adapters, modality), {
    ...endpoint,
    format,
    parameters: [],
  })
  if (chosen === null) throw new Error('nothing takes the format')
  const bytes = new TextEncoder().encode(JSON.stringify({ model, ...bodies[format] }))
  const call = decoders[format](bytes, { sessionIdHeader: null })
  const step = textAdapter(format, chosen).first({ call, endpoint, context: testContext })
  if (step.type === 'answer') throw new Error('a text call sends something')
  const { request } = step.exchange
  const target = targetOf(source)
  const { accept: _, 'content-type': __, ...headers } = request.headers
  return {
    format: chosen.format,
    address: addressOf(request, target),
    headers: { ...headers, ...authHeaders(request, target) },
  }
}

const bearer = { authorization: 'Bearer key-1' }

test.each(rowsOf('addresses').map((row) => [row.asked, row.preset, row] as const))(
  'a caller of %s reaches %s where its row says',
  (asked, preset, { through, address, headers = bearer }) => {
    expect(sentBy({ preset }, asked, { upstream: 'm' })).toEqual({ format: through, address, headers })
  },
)

test('DeepSeek is asked at the same place when its address was given with a version', () => {
  const given = { preset: 'deepseek', base_url: 'https://api.deepseek.com/v1' }
  expect(sentBy(given, 'messages', { upstream: 'm' }).address).toBe(
    'https://api.deepseek.com/anthropic/v1/messages',
  )
})

test('callers of chat and of messages reach Perplexity by its one interface', () => {
  for (const format of ['chat', 'messages'] as const)
    expect(sentBy({ preset: 'perplexity' }, format, { upstream: 'm' }).format).toBe('responses')
})

test('xAI is asked in chat completions for features that only chat completions have', () => {
  expect(sentBy({ preset: 'xai' }, 'chat', { upstream: 'grok-4.3' }).address).toBe(
    'https://api.x.ai/v1/chat/completions',
  )
  const { language = [] } = presetOf('xai').adapters
  const asked = { format: 'messages', model: 'x-ai/grok-3', upstreamModel: 'grok-3' } as const
  expect(chooseInterface(language, { ...asked, parameters: ['tools'] })?.format).toBe('responses')
  expect(chooseInterface(language, { ...asked, parameters: ['stop'] })?.format).toBe('chat')
})

test('a model of Novita is asked in messages where its listing says so', () => {
  const listing = JSON.parse(readFileSync(new URL('./novita/samples/models.json', import.meta.url), 'utf8'))
  const addressesOf = ({ upstream, interfaces = [] }: ListedModel) =>
    sentBy({ preset: 'novita' }, 'messages', { upstream, interfaces }).address
  const models = parseListing(listing).filter(({ modality }) => modality === 'language')
  expect(models.map(addressesOf)).toEqual([
    'https://api.novita.ai/anthropic/v1/messages',
    'https://api.novita.ai/openai/v1/chat/completions',
  ])
})

const key = { 'api-key': 'key-1' }
const version = { 'anthropic-version': '2023-06-01' }
test.each([
  ['https://r.openai.azure.com/openai/v1', {}, 'https://r.openai.azure.com/openai/v1/chat/completions'],
  [
    'https://r.openai.azure.com/openai',
    { 'api-version': '2024-10-21' },
    'https://r.openai.azure.com/openai/deployments/our%20gpt/chat/completions?api-version=2024-10-21',
  ],
  [
    'https://r.services.ai.azure.com/models',
    { 'api-version': '2024-05-01-preview' },
    'https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview',
  ],
])('a deployment of Azure at %s is asked in the way of that address', (base_url, query, address) => {
  const given = { preset: 'azure', base_url, query }
  expect(sentBy(given, 'chat', { upstream: 'our gpt' })).toEqual({ format: 'chat', address, headers: key })
  expect(sentBy(given, 'messages', { upstream: 'our gpt' }).format).toBe('chat')
  const vectors = address.replace('/chat/completions', '/embeddings')
  expect(sentBy(given, 'embeddings', { upstream: 'our gpt' }).address).toBe(vectors)
})

test('Claude at Azure is asked in messages, by its public id or its deployment’s name', () => {
  const given = { preset: 'azure', base_url: 'https://r.services.ai.azure.com/openai/v1' }
  for (const names of [
    { upstream: 'claude-opus-4-7' },
    { upstream: 'ours', model: 'anthropic/claude-opus-4-7' },
  ])
    expect(sentBy(given, 'chat', names)).toEqual({
      format: 'messages',
      address: 'https://r.services.ai.azure.com/anthropic/v1/messages',
      headers: { ...version, 'x-api-key': 'key-1' },
    })
})

test('a token of Entra travels as a bearer to Azure, in every format', () => {
  const given = {
    preset: 'azure',
    base_url: 'https://r.services.ai.azure.com/openai/v1',
    key_form: 'bearer',
  }
  expect(sentBy(given, 'chat', { upstream: 'gpt' }).headers).toEqual(bearer)
  expect(sentBy(given, 'messages', { upstream: 'claude-opus-4-7' }).headers).toEqual({
    ...version,
    ...bearer,
  })
})

test('a key of Inworld is sent unchanged, and a JWT as a bearer', () => {
  const authOf = (more: { key_form?: string }) =>
    toDeploymentSource({ preset: 'inworld', api_key: 'key-1', weight: 1, models: [], ...more }).credential
      .auth
  const header = { type: 'header', name: 'authorization', secret: 'key-1' }
  expect<unknown>(authOf({})).toEqual({ ...header, prefix: 'Basic ' })
  expect<unknown>(authOf({ key_form: 'bearer' })).toEqual({ ...header, prefix: 'Bearer ' })
})

test('models of xAI and Moonshot with fixed sampling are not sent the options that they refuse', () => {
  const interfaceOf = (preset: string, upstreamModel: string) => {
    const { adapters } = presetOf(preset)
    const asked = { model: 'a/b', upstreamModel, format: 'chat', parameters: [] } as const
    const found = chooseInterface(textInterfacesOf(adapters, 'language'), asked)
    if (found === null) throw new Error('it has chat')
    return asChat(found.quirks).rules
  }
  for (const model of ['grok-4.3', 'grok-3-mini', 'grok-code-fast-1', 'grok-4-1-fast-reasoning'])
    expect(interfaceOf('xai', model).get('stop')).toBe('refuse')
  for (const model of ['grok-3', 'grok-4-fast-non-reasoning', 'grok-2-1212'])
    expect(interfaceOf('xai', model).get('stop')).toBe('keep')
  expect(interfaceOf('moonshot', 'kimi-k3').get('temperature')).toBe('drop')
  expect(interfaceOf('moonshot', 'moonshot-v1-8k').get('temperature')).toBe('keep')
})
