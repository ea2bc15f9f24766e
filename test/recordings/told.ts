import { countAt, listAt, objectAt, textAt, type Wire } from './wire.ts'

/** Tokens in the one way in which all formats can be compared: parts are inside their totals. */
export interface ToldUsage {
  input: number
  cached: number
  written: number
  output: number
  reasoning: number
}

/** A tool that was called. */
export interface ToldCall {
  id: string
  name: string
  /** As a value; the text itself where it is no JSON. */
  arguments: unknown
}

/** What an answer says, in whatever format. */
export interface Told {
  text: string
  thoughts: string
  signatures: string[]
  calls: ToldCall[]
  /** Addresses of the pages that are cited, in order. */
  citations: string[]
  /** Null where nothing was counted. */
  usage: ToldUsage | null
  /** The format's own word for how it ended. */
  stop: string | null
}

/** Arguments as a value. None at all stay an empty text, which clients fail to parse. */
export function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A chat answer or stream, from its objects. */
export function toldByChat(objects: readonly Wire[]): Told {
  const told: Told = {
    text: '',
    thoughts: '',
    signatures: [],
    calls: [],
    citations: [],
    usage: null,
    stop: null,
  }
  const calls = new Map<number, { id: string; name: string; text: string }>()
  for (const object of objects) {
    const usage =
      'usage' in object ? objectAt(object, 'usage') : objectAt(objectAt(object, 'x_groq'), 'usage')
    if (typeof usage['prompt_tokens'] === 'number') told.usage = chatUsage(usage)
    for (const choice of listAt(object, 'choices')) {
      // One host has both in a whole answer, the delta without a word.
      const delta = 'message' in choice ? objectAt(choice, 'message') : objectAt(choice, 'delta')
      readChatDelta(delta, told)
      for (const [place, call] of listAt(delta, 'tool_calls').entries()) readChatCall(call, place, calls)
      const reason = textAt(choice, 'finish_reason')
      if (reason !== '') told.stop ??= reason
    }
  }
  told.calls = [...calls.values()].map(({ id, name, text }) => ({ id, name, arguments: argumentsOf(text) }))
  return told
}

function readChatDelta(delta: Wire, told: Told): void {
  told.text += textAt(delta, 'content')
  // An answer in a form that was asked for, which one host gives as the object itself.
  const object = objectAt(delta, 'content')
  if (Object.keys(object).length > 0) told.text += JSON.stringify(object)
  for (const part of listAt(delta, 'content')) {
    told.text += textAt(part, 'text')
    for (const thought of listAt(part, 'thinking')) told.thoughts += textAt(thought, 'text')
  }
  const details = listAt(delta, 'reasoning_details')
  for (const detail of details) {
    told.thoughts += textAt(detail, 'summary') + textAt(detail, 'text')
    const bound = textAt(detail, 'signature') || textAt(detail, 'data')
    if (bound !== '') told.signatures.push(bound)
  }
  if (details.length === 0) told.thoughts += textAt(delta, 'reasoning') || textAt(delta, 'reasoning_content')
  for (const annotation of listAt(delta, 'annotations'))
    told.citations.push(textAt(objectAt(annotation, 'url_citation'), 'url'))
}

function readChatCall(
  wire: Wire,
  place: number,
  calls: Map<number, { id: string; name: string; text: string }>,
): void {
  const index = typeof wire['index'] === 'number' ? wire['index'] : place
  const call = calls.get(index) ?? { id: '', name: '', text: '' }
  calls.set(index, call)
  const called = { ...objectAt(wire, 'function'), ...objectAt(wire, 'custom') }
  call.id ||= textAt(wire, 'id')
  call.name ||= textAt(called, 'name')
  call.text += textAt(called, 'arguments') + textAt(called, 'input')
}

/** Some hosts leave thinking out of the completion and count it in the total alone. */
function chatUsage(usage: Wire): ToldUsage {
  const [input, output] = [countAt(usage, 'prompt_tokens'), countAt(usage, 'completion_tokens')]
  const details = objectAt(usage, 'prompt_tokens_details')
  const reasoning = countAt(objectAt(usage, 'completion_tokens_details'), 'reasoning_tokens')
  const isApart = reasoning > 0 && countAt(usage, 'total_tokens') === input + output + reasoning
  return {
    input,
    cached: countAt(details, 'cached_tokens'),
    written: countAt(details, 'cache_write_tokens'),
    output: isApart ? output + reasoning : output,
    reasoning,
  }
}

/** The blocks of a message, put together from the events of its stream. */
export function blocksOfStream(objects: readonly Wire[]): Wire[] {
  const blocks: { block: Record<string, unknown>; json: string }[] = []
  for (const object of objects) {
    if (object['type'] === 'message_start') {
      for (const block of listAt(objectAt(object, 'message'), 'content'))
        blocks.push({ block: { ...block }, json: '' })
    }
    if (object['type'] === 'content_block_start')
      blocks.push({ block: { ...objectAt(object, 'content_block') }, json: '' })
    const last = blocks.at(-1)
    if (object['type'] === 'content_block_delta' && last) addDelta(last, objectAt(object, 'delta'))
  }
  return blocks.map(({ block, json }) => (json === '' ? block : { ...block, input: argumentsOf(json) }))
}

function addDelta(open: { block: Record<string, unknown>; json: string }, delta: Wire): void {
  const { block } = open
  switch (delta['type']) {
    case 'text_delta':
      block['text'] = textAt(block, 'text') + textAt(delta, 'text')
      return
    case 'thinking_delta':
      block['thinking'] = textAt(block, 'thinking') + textAt(delta, 'thinking')
      return
    case 'signature_delta':
      block['signature'] = textAt(delta, 'signature')
      return
    case 'citations_delta':
      block['citations'] = [...listAt(block, 'citations'), objectAt(delta, 'citation')]
      return
    case 'input_json_delta':
      open.json += textAt(delta, 'partial_json')
      return
    case 'compaction_delta':
      block['content'] = textAt(block, 'content') + textAt(delta, 'content')
  }
}

/** A whole message, or the events of its stream. */
export function toldByMessages(objects: readonly Wire[]): Told {
  const [first = {}] = objects
  const isWhole = first['type'] === 'message'
  const blocks = isWhole ? listAt(first, 'content') : blocksOfStream(objects)
  const of = (type: string) => blocks.filter((block) => block['type'] === type)
  const ends = objects.filter(({ type }) => type === 'message_delta').map((end) => objectAt(end, 'delta'))
  const starts = objects
    .filter(({ type }) => type === 'message_start')
    .map((start) => objectAt(start, 'message'))
  const stops = (isWhole ? [first] : [...ends, ...starts]).map((wire) => textAt(wire, 'stop_reason'))
  return {
    text: of('text')
      .map((block) => textAt(block, 'text'))
      .join(''),
    thoughts: of('thinking')
      .map((block) => textAt(block, 'thinking'))
      .join(''),
    signatures: blocks.flatMap((block) => boundOf(block)),
    calls: of('tool_use').map((block) => ({
      id: textAt(block, 'id'),
      name: textAt(block, 'name'),
      arguments: block['input'] ?? '',
    })),
    citations: of('text').flatMap((block) =>
      listAt(block, 'citations').flatMap((citation) => textAt(citation, 'url') || []),
    ),
    usage: messagesUsage(objects),
    stop: stops.find((stop) => stop !== '') ?? null,
  }
}

/** What binds a thought to its provider. */
function boundOf(block: Wire): string[] {
  const bound = block['type'] === 'redacted_thinking' ? textAt(block, 'data') : textAt(block, 'signature')
  return bound === '' ? [] : [bound]
}

/** Counts of the end take the place of those of the beginning; tokens of the cache stand beside the input. */
function messagesUsage(objects: readonly Wire[]): ToldUsage | null {
  const counts: Record<string, unknown> = {}
  for (const object of objects) {
    const usage =
      object['type'] === 'message_start'
        ? objectAt(objectAt(object, 'message'), 'usage')
        : objectAt(object, 'usage')
    for (const [name, value] of Object.entries(usage)) if (value !== null) counts[name] = value
  }
  if (typeof counts['output_tokens'] !== 'number') return null
  const [cached, written] = [
    countAt(counts, 'cache_read_input_tokens'),
    countAt(counts, 'cache_creation_input_tokens'),
  ]
  // To shorten a conversation counts beside the totals, and is billed.
  const compactions = listAt(counts, 'iterations').filter(({ type }) => type === 'compaction')
  const compacted = (name: string) => compactions.reduce((sum, each) => sum + countAt(each, name), 0)
  return {
    input: countAt(counts, 'input_tokens') + cached + written + compacted('input_tokens'),
    cached,
    written,
    output: countAt(counts, 'output_tokens') + compacted('output_tokens'),
    reasoning: countAt(objectAt(counts, 'output_tokens_details'), 'thinking_tokens'),
  }
}

/**
 * A whole response, or the events of its stream: its items as they were when each was whole, because thoughts are sealed
 * anew for the last event. The text of a stream is that of its pieces, of which some recordings had fewer taken down.
 */
export function toldByResponses(objects: readonly Wire[]): Told {
  const last = objects.at(-1) ?? {}
  const response = 'response' in last ? objectAt(last, 'response') : last
  const ended = objects.filter(({ type }) => type === 'response.output_item.done')
  const items = ended.length > 0 ? ended.map((event) => objectAt(event, 'item')) : listAt(response, 'output')
  const of = (type: string) => items.filter((item) => item['type'] === type)
  const contents = of('message').flatMap((item) => listAt(item, 'content'))
  const usage = objectAt(response, 'usage')
  const details = objectAt(usage, 'input_tokens_details')
  const reason = textAt(objectAt(response, 'incomplete_details'), 'reason')
  return {
    text: 'type' in last && 'response' in last ? textOfResponsesDeltas(objects).text : textOf(contents),
    thoughts: of('reasoning').map(thoughtOf).join(''),
    signatures: of('reasoning').flatMap((item) => textAt(item, 'encrypted_content') || []),
    calls: items.filter(isCall).map((item) => ({
      id: textAt(item, 'call_id'),
      name: nameOf(item),
      arguments: argumentsOf(textAt(item, 'arguments') + textAt(item, 'input')),
    })),
    citations: contents.flatMap((part) =>
      listAt(part, 'annotations').flatMap((each) => textAt(each, 'url') || []),
    ),
    usage:
      'input_tokens' in usage
        ? {
            input: countAt(usage, 'input_tokens'),
            cached: countAt(details, 'cached_tokens'),
            written: countAt(details, 'cache_write_tokens'),
            output: countAt(usage, 'output_tokens'),
            reasoning: countAt(objectAt(usage, 'output_tokens_details'), 'reasoning_tokens'),
          }
        : null,
    stop: reason === '' ? textAt(response, 'status') : `incomplete ${reason}`,
  }
}

function textOf(parts: readonly Wire[]): string {
  return parts.map((part) => textAt(part, 'text')).join('')
}

/** Its summary, whose paragraphs have an empty line between them, and its own words. */
function thoughtOf(item: Wire): string {
  const paragraphs = listAt(item, 'summary').map((part) => textAt(part, 'text'))
  const words = listAt(item, 'content').map((part) => textAt(part, 'text'))
  return paragraphs.join('\n\n') + words.join('')
}

/** A call of the caller's tool. xAI calls tools of its own in the same words, by ids of its own. */
function isCall(item: Wire): boolean {
  const { type } = item
  if (type !== 'function_call' && type !== 'custom_tool_call') return false
  return !textAt(item, 'call_id').startsWith('xs_call_')
}

/** A tool in a namespace is one with a longer name to callers whose format has none. */
function nameOf(item: Wire): string {
  const [namespace, name] = [textAt(item, 'namespace'), textAt(item, 'name')]
  return namespace === '' ? name : `${namespace}__${name}`
}

/** The same of a stream's deltas alone, by item: what a client shows before the last event repeats it. */
export function textOfResponsesDeltas(objects: readonly Wire[]): {
  text: string
  thoughts: string
  calls: string[]
} {
  const calls = new Map<string, string>()
  let text = ''
  let thoughts = ''
  for (const object of objects) {
    const delta = textAt(object, 'delta')
    const id = textAt(object, 'item_id')
    if (object['type'] === 'response.output_text.delta') text += delta
    if (object['type'] === 'response.reasoning_text.delta') thoughts += delta
    if (object['type'] === 'response.reasoning_summary_text.delta') thoughts += delta
    if (object['type'] === 'response.reasoning_summary_part.added' && object['summary_index'] !== 0)
      thoughts += '\n\n'
    const item = objectAt(object, 'item')
    if (object['type'] === 'response.output_item.added' && isCall(item)) calls.set(textAt(item, 'id'), '')
    const isPiece = /(?:function_call_arguments|custom_tool_call_input)\.delta$/.test(textAt(object, 'type'))
    if (isPiece && calls.has(id)) calls.set(id, (calls.get(id) ?? '') + delta)
  }
  return { text, thoughts, calls: [...calls.values()] }
}
