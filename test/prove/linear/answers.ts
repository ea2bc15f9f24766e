/** Formats in which providers answer. */
export type UpstreamFormat = 'chat' | 'responses' | 'messages' | 'gemini'

/** Objects of which an answer is made: the whole one alone, or the events of a stream. */
export type Told = (count: number) => readonly object[]

const times = <Each>(count: number, each: (index: number) => Each): Each[] =>
  Array.from({ length: count }, (_, index) => each(index))
const address = 'https://pages.example/a'

const chatUsage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
const chatAnswer = (message: object, more: object = {}) => [
  {
    id: 'up-1',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'so', ...message }, finish_reason: 'stop', ...more },
    ],
    usage: chatUsage,
  },
]
const chunk = (delta: object, more: object = {}) => ({
  id: 'up-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})
const chatStream = (chunks: readonly object[], more: object = {}) => [
  chunk({ role: 'assistant', content: '' }),
  ...chunks.map((each) => ({ ...each })),
  { ...chunk({}, { finish_reason: 'stop', ...more }), usage: chatUsage },
]
const chatCall = (index: number, id = `c${index}`) => ({
  index,
  id,
  type: 'function',
  function: { name: 'look', arguments: '{"a":1}' },
})
const chatToken = (index: number) => ({
  token: `w${index}`,
  logprob: -1,
  bytes: [119],
  top_logprobs: [{ token: 'x', logprob: -2, bytes: [120] }],
})
const chatCitation = (index: number) => ({
  type: 'url_citation',
  url_citation: { url: `${address}${index}`, title: 't', start_index: 0, end_index: 2 },
})
const chatThought = (index: number) => ({
  type: 'reasoning.text',
  text: `t${index}`,
  signature: null,
  id: `r${index}`,
  format: 'anthropic-claude-v1',
  index,
})

const responsesUsage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 }
const response = (output: readonly unknown[], more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'up',
  status: 'completed',
  output,
  usage: responsesUsage,
  ...more,
})
const outputText = (text: string, more: object = {}) => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
  ...more,
})
const outputMessage = (content: readonly unknown[], id = 'msg_1') => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content,
})
const functionCall = (index: number) => ({
  id: `fc_${index}`,
  type: 'function_call',
  call_id: `c${index}`,
  name: 'look',
  arguments: '{"a":1}',
  status: 'completed',
})
const thoughtItem = (index: number) => ({
  id: `rs_${index}`,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: `t${index}` }],
})
const responsesCitation = (index: number) => ({
  type: 'url_citation',
  url: `${address}${index}`,
  title: 't',
  start_index: 0,
  end_index: 2,
})
const responsesStream = (events: readonly object[], output: readonly unknown[] = []) =>
  [
    { type: 'response.created', response: response([], { status: 'in_progress', usage: null }) },
    ...events,
    { type: 'response.completed', response: response(output) },
  ].map((event, index) => ({ ...event, sequence_number: index }))
const added = (item: object, index: number) => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
})
const done = (item: object, index: number) => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
})
const textDelta = (delta: string, index = 0) => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: index,
  content_index: 0,
  delta,
})

const messagesUsage = { input_tokens: 9, output_tokens: 3 }
const message = (content: readonly unknown[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: messagesUsage,
})
const messagesStream = (events: readonly object[]) => [
  { type: 'message_start', message: { ...message([]), stop_reason: null } },
  ...events,
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 3 },
  },
  { type: 'message_stop' },
]
const begun = (block: object, index: number) => ({ type: 'content_block_start', index, content_block: block })
const blockDelta = (delta: object, index: number) => ({ type: 'content_block_delta', index, delta })
const ended = (index: number) => ({ type: 'content_block_stop', index })
const useBlock = (index: number) => ({ type: 'tool_use', id: `c${index}`, name: 'look', input: { a: 1 } })
const messagesCitation = (index: number) => ({
  type: 'web_search_result_location',
  url: `${address}${index}`,
  title: 't',
  cited_text: 'c',
  encrypted_index: 'e',
})

const geminiUsage = { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 }
const candidate = (parts: readonly unknown[], more: object = {}) => ({
  responseId: 'up-1',
  modelVersion: 'up',
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
})
const geminiEnd = { ...candidate([], { finishReason: 'STOP' }), usageMetadata: geminiUsage }
const geminiAnswer = (parts: readonly unknown[], more: object = {}) => [
  { ...candidate(parts, { finishReason: 'STOP', ...more }), usageMetadata: geminiUsage },
]
const geminiCall = (index: number) => ({ functionCall: { id: `c${index}`, name: 'look', args: { a: 1 } } })
const grounding = (count: number) => ({
  groundingMetadata: {
    groundingChunks: times(count, (index) => ({ web: { uri: `${address}${index}`, title: 't' } })),
    groundingSupports: times(count, (index) => ({
      segment: { startIndex: 0, endIndex: 2, text: 'so' },
      groundingChunkIndices: [index],
    })),
  },
})

/** Whole answers that have a great many of one thing. */
export const wholeAnswers: Readonly<Record<UpstreamFormat, Readonly<Record<string, Told>>>> = {
  chat: {
    calls: (count) => chatAnswer({ tool_calls: times(count, (index) => chatCall(index)) }),
    'calls of one id': (count) => chatAnswer({ tool_calls: times(count, (index) => chatCall(index, 'c')) }),
    citations: (count) => chatAnswer({ annotations: times(count, chatCitation) }),
    thoughts: (count) => chatAnswer({ reasoning_details: times(count, chatThought) }),
    logprobs: (count) => chatAnswer({}, { logprobs: { content: times(count, chatToken), refusal: null } }),
    words: (count) => chatAnswer({ content: 'word '.repeat(count) }),
    'parts of its content': (count) =>
      chatAnswer({ content: times(count, (index) => ({ type: 'text', text: `p${index}` })) }),
  },
  responses: {
    calls: (count) => [response(times(count, functionCall))],
    messages: (count) => [
      response(times(count, (index) => outputMessage([outputText(`m${index}`)], `msg_${index}`))),
    ],
    parts: (count) => [response([outputMessage(times(count, (index) => outputText(`p${index}`)))])],
    thoughts: (count) => [response(times(count, thoughtItem))],
    citations: (count) => [
      response([outputMessage([outputText('so', { annotations: times(count, responsesCitation) })])]),
    ],
    logprobs: (count) => [
      response([outputMessage([outputText('so', { logprobs: times(count, chatToken) })])]),
    ],
    words: (count) => [response([outputMessage([outputText('word '.repeat(count))])])],
  },
  messages: {
    calls: (count) => [message(times(count, useBlock))],
    blocks: (count) => [
      message(times(count, (index) => ({ type: 'text', text: `p${index}`, citations: null }))),
    ],
    thoughts: (count) => [
      message(times(count, (index) => ({ type: 'thinking', thinking: `t${index}`, signature: 'c2VhbA==' }))),
    ],
    citations: (count) => [
      message([{ type: 'text', text: 'so', citations: times(count, messagesCitation) }]),
    ],
    words: (count) => [message([{ type: 'text', text: 'word '.repeat(count), citations: null }])],
  },
  gemini: {
    calls: (count) => geminiAnswer(times(count, geminiCall)),
    'words and thoughts in turn': (count) =>
      geminiAnswer(
        times(count, (index) => ({ text: `p${index}`, ...(index % 2 === 0 ? {} : { thought: true }) })),
      ),
    parts: (count) => geminiAnswer(times(count, (index) => ({ text: `p${index}` }))),
    sources: (count) => geminiAnswer([{ text: 'so' }], grounding(count)),
    words: (count) => geminiAnswer([{ text: 'word '.repeat(count) }]),
  },
}

/** Streams that have a great many of one thing. */
export const streams: Readonly<Record<UpstreamFormat, Readonly<Record<string, Told>>>> = {
  chat: {
    words: (count) => chatStream(times(count, (index) => chunk({ content: `w${index} ` }))),
    'words of several choices': (count) =>
      chatStream(
        times(count, (index) => ({
          ...chunk({}),
          choices: [{ index: index % 2, delta: { content: 'w ' }, finish_reason: null }],
        })),
      ),
    calls: (count) => chatStream(times(count, (index) => chunk({ tool_calls: [chatCall(index)] }))),
    'calls that are open at once': (count) =>
      chatStream(
        times(count, (index) =>
          chunk({
            tool_calls: [
              { index, id: `c${index}`, type: 'function', function: { name: 'look', arguments: '{' } },
            ],
          }),
        ),
      ),
    'calls of one index': (count) =>
      chatStream(times(count, (index) => chunk({ tool_calls: [{ ...chatCall(index), index: 0 }] }))),
    'calls without arguments, with the end': (count) =>
      chatStream(
        times(count, (index) =>
          chunk({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'look' } }] }),
        ),
      ),
    'calls of one frame': (count) =>
      chatStream([chunk({ tool_calls: times(count, (index) => chatCall(index)) })]),
    'pieces of arguments': (count) =>
      chatStream([
        chunk({ tool_calls: [{ ...chatCall(0), function: { name: 'look', arguments: '{"a":"' } }] }),
        ...times(count, () => chunk({ tool_calls: [{ index: 0, function: { arguments: 'w ' } }] })),
      ]),
    'words amid a call': (count) =>
      chatStream([
        chunk({ tool_calls: [{ ...chatCall(0), function: { name: 'look', arguments: '{' } }] }),
        ...times(count, () => chunk({ content: 'w ' })),
      ]),
    thoughts: (count) =>
      chatStream(times(count, (index) => chunk({ reasoning_details: [chatThought(index)] }))),
    citations: (count) =>
      chatStream([
        chunk({ content: 'so' }),
        ...times(count, (index) => chunk({ annotations: [chatCitation(index)] })),
      ]),
    'texts and citations in turn': (count) =>
      chatStream(
        times(count >> 2, (index) => [
          chunk({ content: 'so' }),
          chunk({ reasoning: 'hm' }),
          chunk({ annotations: [chatCitation(index), chatCitation(index)] }),
        ]).flat(),
      ),
    logprobs: (count) =>
      chatStream(
        times(count, (index) => chunk({ content: 'w ' }, { logprobs: { content: [chatToken(index)] } })),
      ),
  },
  responses: {
    words: (count) =>
      responsesStream([added(outputMessage([]), 0), ...times(count, (index) => textDelta(`w${index} `))]),
    calls: (count) =>
      responsesStream(
        times(count >> 1, (index) => [
          added({ ...functionCall(index), arguments: '' }, index),
          done(functionCall(index), index),
        ]).flat(),
        times(count >> 1, functionCall),
      ),
    'calls that are open at once': (count) =>
      responsesStream(
        times(count, (index) => added({ ...functionCall(index), arguments: '' }, index)),
        times(count, functionCall),
      ),
    'calls that end backwards': (count) =>
      responsesStream([
        ...times(count >> 1, (index) => added({ ...functionCall(index), arguments: '' }, index)),
        ...times(count >> 1, (index) =>
          done(functionCall((count >> 1) - 1 - index), (count >> 1) - 1 - index),
        ),
      ]),
    'items without a place': (count) =>
      responsesStream(
        times(count >> 1, (index) => [
          { type: 'response.output_item.added', item: { ...functionCall(index), arguments: '' } },
          { type: 'response.output_item.done', item: functionCall(index) },
        ]).flat(),
      ),
    'pieces of arguments': (count) =>
      responsesStream([
        added({ ...functionCall(0), arguments: '' }, 0),
        ...times(count, () => ({
          type: 'response.function_call_arguments.delta',
          item_id: 'fc_0',
          output_index: 0,
          delta: 'w ',
        })),
      ]),
    thoughts: (count) =>
      responsesStream(
        times(count >> 1, (index) => [
          added({ ...thoughtItem(index), summary: [] }, index),
          done(thoughtItem(index), index),
        ]).flat(),
      ),
    citations: (count) =>
      responsesStream([
        added(outputMessage([]), 0),
        textDelta('so'),
        ...times(count, (index) => ({
          type: 'response.output_text.annotation.added',
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          annotation_index: index,
          annotation: responsesCitation(index),
        })),
      ]),
    logprobs: (count) =>
      responsesStream([
        added(outputMessage([]), 0),
        ...times(count, (index) => ({ ...textDelta('w '), logprobs: [chatToken(index)] })),
      ]),
    'parts of a message': (count) =>
      responsesStream([
        added(outputMessage([]), 0),
        ...times(count, (index) => ({ ...textDelta('w '), content_index: index })),
      ]),
  },
  messages: {
    words: (count) =>
      messagesStream([
        begun({ type: 'text', text: '' }, 0),
        ...times(count, (index) => blockDelta({ type: 'text_delta', text: `w${index} ` }, 0)),
        ended(0),
      ]),
    blocks: (count) =>
      messagesStream(
        times(count >> 1, (index) => [
          begun({ type: 'text', text: '' }, index),
          blockDelta({ type: 'text_delta', text: 'w' }, index),
          ended(index),
        ]).flat(),
      ),
    'open blocks': (count) =>
      messagesStream([
        ...times(count, (index) => begun({ type: 'text', text: 'w' }, index)),
        ...times(count, (index) => ended(index)),
      ]),
    'open calls': (count) =>
      messagesStream([
        ...times(count, (index) => begun({ ...useBlock(index), input: {} }, index)),
        ...times(count, (index) => blockDelta({ type: 'input_json_delta', partial_json: '{"a":1}' }, index)),
        ...times(count, (index) => ended(index)),
      ]),
    'open calls that end backwards': (count) =>
      messagesStream([
        ...times(count, (index) => begun({ ...useBlock(index), input: {} }, index)),
        ...times(count, (index) =>
          blockDelta({ type: 'input_json_delta', partial_json: '{"a":1}' }, count - 1 - index),
        ),
        ...times(count, (index) => ended(count - 1 - index)),
      ]),
    'blocks of one index': (count) =>
      messagesStream(times(count, () => begun({ type: 'text', text: 'w' }, 0))),
    'pieces of arguments': (count) =>
      messagesStream([
        begun({ ...useBlock(0), input: {} }, 0),
        ...times(count, () => blockDelta({ type: 'input_json_delta', partial_json: 'w ' }, 0)),
        ended(0),
      ]),
    citations: (count) =>
      messagesStream([
        begun({ type: 'text', text: 'so' }, 0),
        ...times(count, (index) =>
          blockDelta({ type: 'citations_delta', citation: messagesCitation(index) }, 0),
        ),
        ended(0),
      ]),
    'blocks in the beginning': (count) => [
      { type: 'message_start', message: message(times(count, useBlock)) },
      { type: 'message_stop' },
    ],
  },
  gemini: {
    words: (count) => [...times(count, (index) => candidate([{ text: `w${index} ` }])), geminiEnd],
    calls: (count) => [...times(count, (index) => candidate([geminiCall(index)])), geminiEnd],
    'parts of one frame': (count) => [
      candidate(
        times(count, (index) => ({ text: `p${index}`, ...(index % 2 === 0 ? {} : { thought: true }) })),
      ),
      geminiEnd,
    ],
    'pieces of arguments': (count) => [
      candidate([{ functionCall: { name: 'look', willContinue: true } }]),
      ...times(count, () =>
        candidate([
          { functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'w ' }], willContinue: true } },
        ]),
      ),
      candidate([{ functionCall: {} }]),
      geminiEnd,
    ],
    'words, and sources with each': (count) => [
      ...times(count, () => candidate([{ text: 'w ' }], grounding(1))),
      geminiEnd,
    ],
    sources: (count) => [candidate([{ text: 'so' }], grounding(count)), geminiEnd],
  },
}
