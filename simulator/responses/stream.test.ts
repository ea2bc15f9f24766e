import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../json.ts'
import { at, namedEventsOf, respondTo, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const path = '/responses'
const look = {
  type: 'function',
  name: 'look',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
}

async function stream(more: JsonObject = {}, fault = '', text = 'Say hello'): Promise<JsonObject[]> {
  const { text: sent } = await simulator.post(path, {
    body: respondTo(text, { stream: true, ...more }),
    fault,
  })
  return namedEventsOf(sent)
}

/** The types of events in order without what they all begin with, a run of one type as one. */
function typesOf(events: readonly JsonObject[]): string[] {
  const types = events.map((event) => String(event['type']).replace('response.', ''))
  return types.filter((type, index) => type !== types[index - 1])
}

function join(events: readonly JsonObject[], type: string): string {
  return events
    .filter((event) => event['type'] === type)
    .map((event) => event['delta'])
    .join('')
}

describe('a streamed response', () => {
  test('with thoughts, text and a call has every event in order, numbered from 0', async () => {
    const script = {
      thinking: 'I look.',
      text: 'Looking.',
      tool_calls: [{ name: 'look', arguments: { at: 'it' } }],
    }
    await simulator.admin('scripts', { mount: 'order', scripts: [{ turns: [script] }] })
    const settings = {
      model: 'gpt-5.4',
      reasoning: { summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      tools: [look],
      stream: true,
    }
    const { text } = await simulator.post(path, { body: respondTo('hi', settings), mount: 'order' })
    const events = namedEventsOf(text)
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index))
    expect(typesOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ])
    expect(join(events, 'response.reasoning_summary_text.delta')).toBe('I look.')
    expect(join(events, 'response.output_text.delta')).toBe('Looking.')
    expect(join(events, 'response.function_call_arguments.delta')).toBe('{"at":"it"}')
    const done = events.filter((event) => event['type'] === 'response.output_item.done')
    expect(at(events.at(-1), 'response.output')).toEqual(done.map((event) => event['item']))
    const added = events.filter((event) => event['type'] === 'response.output_item.added')
    expect(added.map((event) => at(event, 'item.id'))).toEqual(done.map((event) => at(event, 'item.id')))
    expect(added.map((event) => event['output_index'])).toEqual([0, 1, 2])
    expect(at(added[2], 'item')).toMatchObject({ status: 'in_progress', arguments: '' })
    expect(at(events[0], 'response')).toMatchObject({ status: 'in_progress', output: [], usage: null })
    expect(Number(at(events.at(-1), 'response.usage.output_tokens'))).toBeGreaterThan(0)
  })

  test('gives the text of a custom tool piece by piece', async () => {
    const tools = [{ type: 'custom', name: 'apply' }]
    const events = await stream({ tools, tool_choice: 'required' }, '', 'Do it in Oslo')
    expect(join(events, 'response.custom_tool_call_input.delta')).toBe('Oslo')
    expect(typesOf(events)).toContain('custom_tool_call_input.done')
  })

  test('has refusals, citations and probabilities', async () => {
    const refused = await stream({}, 'refusal=Not%20this')
    expect(typesOf(refused).slice(3, 6)).toEqual(['content_part.added', 'refusal.delta', 'refusal.done'])
    expect(join(refused, 'response.refusal.delta')).toBe('Not this')
    const cited = await stream({ include: ['message.output_text.logprobs'] }, 'citations')
    expect(typesOf(cited)).toContain('output_text.annotation.added')
    const delta = cited.find((event) => event['type'] === 'response.output_text.delta')
    expect(at(delta, 'logprobs.0.token')).toBe('Hell')
  })

  test('has thoughts in plain text when a fault says so', async () => {
    const events = await stream({}, 'reasoning_text')
    expect(typesOf(events).slice(2, 6)).toEqual([
      'output_item.added',
      'reasoning_text.delta',
      'reasoning_text.done',
      'output_item.done',
    ])
    const thoughts = join(events, 'response.reasoning_text.delta')
    expect(at(events.at(-1), 'response.output.0.content')).toEqual([
      { type: 'reasoning_text', text: thoughts },
    ])
  })

  test('ends incomplete when it was cut', async () => {
    const events = await stream({ max_output_tokens: 16 }, 'tokens=20')
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { incomplete_details: { reason: 'max_output_tokens' } },
    })
  })

  test('is padded unless the caller switches padding off', async () => {
    const options = { stream_options: { include_obfuscation: false } }
    expect((await stream()).some((event) => 'obfuscation' in event)).toBe(true)
    expect((await stream(options)).some((event) => 'obfuscation' in event)).toBe(false)
  })
})

describe('a faulty Responses stream comes', () => {
  test('with an error, nested as recorded, and the failed response', async () => {
    const events = await stream({}, 'error_chunk=2;code=rate_limit_exceeded;message=Slow%20down')
    expect(typesOf(events)).toEqual(['created', 'in_progress', 'error', 'failed'])
    expect(events[2]).toEqual({
      type: 'error',
      sequence_number: 2,
      error: { type: 'server_error', code: 'rate_limit_exceeded', message: 'Slow down', param: null },
    })
    expect(events[3]).toMatchObject({
      sequence_number: 3,
      response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down' } },
    })
  })

  test('with an error that is flat, or no error event but the failed response', async () => {
    const flat = await stream({}, 'error_chunk=4;form=flat')
    expect(flat[4]).toMatchObject({ type: 'error', code: 'server_error', param: null })
    expect(flat.at(-1)?.['type']).toBe('response.failed')
    expect(typesOf(await stream({}, 'error_chunk=2;form=failed')).slice(2)).toEqual(['failed'])
  })

  test('without its end, and without its usage', async () => {
    expect(typesOf(await stream({}, 'no_done')).at(-1)).toBe('output_item.done')
    expect(at((await stream({}, 'usage=missing')).at(-1), 'response.usage')).toBeUndefined()
    expect(at((await stream({}, 'usage=zero')).at(-1), 'response.usage.total_tokens')).toBe(0)
  })

  test('with an unknown event, and keep-alive comments', async () => {
    const events = await stream({}, 'unknown_event,pings=2')
    expect(typesOf(events).slice(0, 4)).toEqual(['created', 'in_progress', 'keepalive', 'model_mood.delta'])
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index))
  })

  test('with frames that no JSON parser takes, and goes on', async () => {
    const body = respondTo('hi', { stream: true })
    const { text } = await simulator.post(path, { body, fault: 'malformed_json,crlf,split=9' })
    expect(text).toContain('"sequence_number":2,"del\r\n\r\n')
    expect(text).toContain('event: response.completed\r\n')
  })
})
