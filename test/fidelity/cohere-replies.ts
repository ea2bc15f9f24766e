import type { CohereReply, Json } from './table.ts'

// What Cohere's chat sends: written by hand after its documents.

const usualUsage = {
  billed_units: { input_tokens: 10, output_tokens: 5 },
  tokens: { input_tokens: 500, output_tokens: 7 },
}

/** A whole answer. */
export function cohereWhole({
  content = [],
  plan,
  calls,
  citations,
  finish,
  usage = usualUsage,
}: CohereReply): Json {
  return {
    id: 'c1',
    message: {
      role: 'assistant',
      ...(content.length === 0 ? {} : { content }),
      ...(plan === undefined ? {} : { tool_plan: plan }),
      ...(calls === undefined ? {} : { tool_calls: calls }),
      ...(citations === undefined ? {} : { citations }),
    },
    finish_reason: finish,
    usage,
  }
}

/** The same as a stream: texts, thoughts, the plan and arguments in two pieces each; citations come within their text. */
export function cohereStream(reply: CohereReply): string {
  const { content = [], plan, calls = [], citations = [], finish, usage = usualUsage } = reply
  const beginning = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  const events: Json[] = [
    { id: 'c1', type: 'message-start', delta: { message: beginning } },
    ...content.flatMap((block, index) =>
      contentEvents(block, { index, citations: citations.filter((each) => each['content_index'] === index) }),
    ),
    ...(plan === undefined ? [] : halves(plan).map((piece) => told('tool-plan-delta', { tool_plan: piece }))),
    ...calls.flatMap(callEvents),
    { type: 'message-end', delta: { finish_reason: finish, usage } },
  ]
  return `${events.map(frame).join('')}data: [DONE]\n\n`
}

function contentEvents(
  block: Json,
  { index, citations }: { index: number; citations: readonly Json[] },
): Json[] {
  const kind = String(block['type'])
  return [
    told('content-start', { content: { type: kind, [kind]: '' } }, index),
    ...halves(String(block[kind])).map((piece) =>
      told('content-delta', { content: { [kind]: piece } }, index),
    ),
    ...citations.flatMap((citation, at) => [
      told('citation-start', { citations: citation }, at),
      { type: 'citation-end', index: at },
    ]),
    { type: 'content-end', index },
  ]
}

function callEvents({ id, type, function: called }: Json, index: number): Json[] {
  const { name, arguments: text } = called as { name: string; arguments: string }
  return [
    told('tool-call-start', { tool_calls: { id, type, function: { name, arguments: '' } } }, index),
    ...halves(text).map((piece) =>
      told('tool-call-delta', { tool_calls: { function: { arguments: piece } } }, index),
    ),
    { type: 'tool-call-end', index },
  ]
}

function told(type: string, message: Json, index?: number): Json {
  return { type, ...(index === undefined ? {} : { index }), delta: { message } }
}

function halves(text: string): string[] {
  const half = Math.ceil(text.length / 2)
  return [text.slice(0, half), text.slice(half)]
}

function frame(event: Json): string {
  return `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`
}
