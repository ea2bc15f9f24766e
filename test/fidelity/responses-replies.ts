import type { Json, ResponsesReply } from './table.ts'

// What a provider of OpenAI's responses sends: written by hand after the format's documents.

const counted = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
}

/** An item that says a text. */
export function saying(text: string, annotations: readonly Json[] = []): Json {
  const content = [{ type: 'output_text', text, annotations, logprobs: [] }]
  return { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
}

/** A whole response. */
export function responsesWhole({
  output,
  end = { status: 'completed' },
  usage = counted,
}: ResponsesReply): Json {
  return { id: 'resp_1', object: 'response', created_at: 1, model: 'up', error: null, output, usage, ...end }
}

/** The same as a stream: texts and arguments in two pieces each. */
export function responsesStream(reply: ResponsesReply): string {
  const whole = responsesWhole(reply)
  const response = { ...whole, status: 'in_progress', output: [], usage: null }
  const events: Json[] = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...reply.output.flatMap(itemEvents),
    { type: `response.${String(whole['status'])}`, response: whole },
  ]
  return events
    .map((event, index) => {
      const data = JSON.stringify({ ...event, sequence_number: index })
      return `event: ${String(event['type'])}\ndata: ${data}\n\n`
    })
    .join('')
}

function itemEvents(item: Json, index: number): Json[] {
  const place = { item_id: item['id'], output_index: index }
  return [
    { type: 'response.output_item.added', output_index: index, item: begun(item) },
    ...grown(item).map((event) => ({ ...place, ...event })),
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

function begun(item: Json): Json {
  const { encrypted_content: _sealed, ...rest } = item
  const empty: Json = { content: [], summary: [], arguments: '', input: '' }
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, empty[name] ?? value]))
}

function grown(item: Json): Json[] {
  const contents = (item['content'] ?? []) as Json[]
  const summaries = (item['summary'] ?? []) as Json[]
  return [
    ...summaries.flatMap(({ text }, at) => halves('reasoning_summary_text', text, { summary_index: at })),
    ...contents.flatMap((part, at) => partEvents(part, { content_index: at })),
    ...halves('function_call_arguments', item['arguments']),
    ...halves('custom_tool_call_input', item['input']),
  ]
}

function partEvents(part: Json, place: Json): Json[] {
  const { type, text, refusal, annotations = [], logprobs = [] } = part
  if (type === 'refusal') return halves('refusal', refusal, place)
  if (type === 'reasoning_text') return halves('reasoning_text', text, place)
  return [
    {
      type: 'response.content_part.added',
      part: { ...part, text: '', annotations: [], logprobs: [] },
      ...place,
    },
    ...halves('output_text', text, { ...place, logprobs: [] }).map((event, at) =>
      at === 0 ? { ...event, logprobs } : event,
    ),
    ...(annotations as Json[]).map((annotation, at) => ({
      type: 'response.output_text.annotation.added',
      annotation,
      annotation_index: at,
      ...place,
    })),
    { type: 'response.content_part.done', part, ...place },
  ]
}

function halves(name: string, value: unknown, place: Json = {}): Json[] {
  if (typeof value !== 'string') return []
  const half = Math.ceil(value.length / 2)
  return [value.slice(0, half), value.slice(half)].map((delta) => ({
    type: `response.${name}.delta`,
    delta,
    ...place,
  }))
}
