import { expect, test } from 'bun:test'
import { joinPieces } from '../../../core/body.ts'
import { testContext, testEndpoint, textOf, testCharge } from '../testing.ts'
import { selectCodec } from '../formats.ts'
import { decodeMessagesRequest } from './read-request.ts'
import { messagesQuirks, type MessagesModel, type MessagesQuirkOptions } from './quirks.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const codec = selectCodec('messages', 'messages')
const callOf = (members: Record<string, unknown>) =>
  decodeMessagesRequest(
    bytesOf({ model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...members }),
    { sessionIdHeader: null },
  )

/** The request that a messages caller causes at a messages host. */
function sentTo(options: MessagesQuirkOptions, members: Record<string, unknown>) {
  const { body, ...rest } = codec.encodeRequest(callOf(members), testEndpoint('b'), messagesQuirks(options))
  return { ...rest, wire: JSON.parse(new TextDecoder().decode(joinPieces(body))) }
}

const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }]

test('a host that supports only a part of the format is sent only that part', () => {
  const marked = [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }]
  const asked = { messages: [{ role: 'user', content: marked }], metadata: { user_id: 'ann' }, top_k: 5 }
  expect(sentTo({}, asked).wire).toMatchObject(asked)
  const { wire, dropped } = sentTo({ hasCacheMarks: false, hasMetadata: false }, asked)
  expect(wire).toEqual({
    model: 'b',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    top_k: 5,
  })
  expect([...dropped].toSorted()).toEqual(['messages[].content[].cache_control', 'metadata.user_id'])
})

test('a choice of tools that a host of the format ignores is left out and listed', () => {
  const named = { tools, tool_choice: { type: 'tool', name: 'f' } }
  expect(sentTo({}, named).wire.tool_choice).toEqual(named.tool_choice)
  const free = { hasToolChoice: false }
  expect(sentTo(free, named)).toMatchObject({ dropped: ['tool_choice'] })
  const alone = { tools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }
  expect(sentTo(free, alone)).toMatchObject({ dropped: ['tool_choice.disable_parallel_tool_use'] })
  for (const choice of [named, alone, { tools, tool_choice: { type: 'auto' } }])
    expect(sentTo(free, choice).wire).not.toHaveProperty('tool_choice')
})

test('pictures for a host of the format that takes none are refused by name', () => {
  const seen = { messages: [{ role: 'user', content: [picture] }] }
  expect(sentTo({ hasToolChoice: false }, seen).wire.messages).toEqual([{ role: 'user', content: [picture] }])
  expect(() => sentTo({ hasImages: false }, seen)).toThrow('images')
})

test('an unsigned thought goes back to a host that does not sign thoughts', () => {
  const history = [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'so', signature: '' },
        { type: 'text', text: 'a' },
      ],
    },
    { role: 'user', content: 'and?' },
  ]
  const blocksTo = (signsThoughts: boolean) =>
    sentTo({ hasDocuments: false, signsThoughts }, { messages: history }).wire.messages[1].content
  expect(blocksTo(false)).toEqual([
    { type: 'thinking', thinking: 'so', signature: '' },
    { type: 'text', text: 'a' },
  ])
  expect(blocksTo(true)).toEqual([{ type: 'text', text: 'a' }])
})

test('a schema to which a host does not hold its model is described in the prompt, and the answer is checked', () => {
  const open: MessagesModel = {
    sampling: 'all' as const,
    thinking: 'budget',
    hasEffort: false,
    hasSchema: false,
    hasSystemTurns: false,
    outputTokensMax: 100,
  }
  const quirks = messagesQuirks({ hasDocuments: false, modelOf: () => open })
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a'],
    additionalProperties: false,
  }
  const call = callOf({ output_config: { format: { type: 'json_schema', schema } } })
  const { promised, approximated, body } = codec.encodeRequest(call, testEndpoint('b'), quirks)
  expect(approximated).toEqual(['output_config.format'])
  expect(textOf(body)).not.toContain('output_config')
  if (!promised) throw new Error('the form is promised')
  const answer = (text: string) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'b',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  })
  const decode = (text: string) =>
    codec.decodeAnswer(bytesOf(answer(text)), { ...testContext, promised }, quirks, call)
  expect(JSON.parse(textOf(decode('{"a":1}').encode(testCharge))).content).toMatchObject([
    { type: 'text', text: '{"a":1}' },
  ])
  expect(() => decode('no').encode(testCharge)).toThrow('only told in the prompt')
})
