import { describe, expect, test } from 'bun:test'
import type { JsonObject } from './json.ts'
import { ask, at, respondTo, say, simulatorForTests } from './testing.ts'

const simulator = simulatorForTests()

/** The text formats, each with a request that says one thing and the frame that ends its stream. */
const formats = [
  { path: '/chat/completions', body: say, end: 'data: [DONE]', error: 'error.type' },
  { path: '/messages', body: ask, end: 'event: message_stop', error: 'error.type' },
  { path: '/responses', body: respondTo, end: 'event: response.completed', error: 'error.type' },
]

describe.each(formats)('the faults of every format work at $path', ({ path, body, end }) => {
  const whole = body('hi')
  const streamed: JsonObject = body('hi', { stream: true })

  /** The text that arrives before the connection closes, and whether it closed in the middle. */
  async function read(fault: string, asked = streamed): Promise<{ text: string; isCut: boolean }> {
    let text = ''
    try {
      const response = await simulator.fetch(path, { body: asked, fault })
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
      return { text, isCut: false }
    } catch {
      return { text, isCut: true }
    }
  }

  function framesIn(text: string): number {
    return text.split('\n\n').filter((block) => block !== '').length
  }

  test('with errors, their headers, and foreign bodies', async () => {
    const limited = await simulator.post(path, {
      body: streamed,
      fault: 'status=429;retry_after=3;retry_after_ms=2500',
    })
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3'])
    expect(limited.headers.get('retry-after-ms')).toBe('2500')
    expect(at(limited.json, 'error.message')).toBeString()
    const html = await simulator.post(path, { body: whole, fault: 'html_error' })
    expect([html.status, html.text.startsWith('<html>')]).toEqual([502, true])
    const google = await simulator.post(path, { body: whole, fault: 'status=503,fault_body=google' })
    expect(at(google.json, 'error.status')).toBe('UNAVAILABLE')
    const hidden = await simulator.post(path, { body: streamed, fault: 'status=429,hidden_error' })
    expect([hidden.status, typeof at(hidden.json, 'error.message')]).toEqual([200, 'string'])
    const rejected = await simulator.post(path, { body: whole, fault: 'reject=model' })
    expect(rejected.status).toBe(400)
    const octets = await simulator.post(path, { body: whole, fault: 'octet_stream_error' })
    expect(octets.headers.get('content-type')).toBe('application/octet-stream')
  })

  test('with cut connections and missing ends', async () => {
    expect(await read('reset')).toEqual({ text: '', isCut: true })
    const cut = await read('cut_after=3')
    // A connection that closes may take its last frames with it.
    expect(framesIn(cut.text)).toBeLessThanOrEqual(3)
    expect([cut.isCut, cut.text.includes(end)]).toEqual([true, false])
    const complete = await read('')
    expect([complete.text.includes(end), complete.isCut]).toEqual([true, false])
    expect((await read('no_done')).text).not.toContain(end)
    const truncated = await read('truncate_json')
    expect([truncated.text.endsWith('\n\n'), truncated.isCut]).toEqual([false, false])
    expect((await read('empty_body')).text).toBe('')
    const later = await read('truncate_json=5')
    expect([framesIn(later.text), later.text.endsWith('\n\n')]).toEqual([6, false])
  })

  test('with bodies and types that do not fit', async () => {
    const broken = await simulator.post(path, { body: whole, fault: 'malformed_json' })
    expect([broken.status, broken.json]).toEqual([200, {}])
    const fifth = (await read('malformed_json=4')).text.split('\n\n')[4] ?? ''
    expect(() => JSON.parse(fifth.slice(fifth.indexOf('data: ') + 6))).toThrow()
    const plain = await simulator.post(path, { body: whole, fault: 'wrong_content_type' })
    expect(plain.headers.get('content-type')).toStartWith('text/plain')
    const stream = await simulator.post(path, { body: streamed, fault: 'wrong_content_type,no_rate_limits' })
    expect(stream.headers.get('content-type')).toBe('application/json')
    expect([...stream.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([])
  })

  /**
   * The frames that arrive before the caller hangs up: after a given number of frames, and once the mount has
   * its request.
   */
  async function heard(fault: string, frames: number): Promise<number> {
    const caller = new AbortController()
    const mount = `silent-${path.slice(1).replace('/', '-')}-${fault.replaceAll(/\W/g, '')}`
    let text = ''
    async function listen(): Promise<void> {
      const response = await simulator.fetch(path, { body: streamed, fault, mount, signal: caller.signal })
      for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk)
    }
    const listening = listen().catch(() => expect(caller.signal.aborted).toBe(true))
    for (let asked = 0; asked === 0 || framesIn(text) < frames;)
      asked = Number((await simulator.admin(`counters?mount=${mount}&requests=0`))['in_flight'])
    caller.abort()
    await listening
    return framesIn(text)
  }

  test.each([
    ['hang', 0],
    ['latency=900000', 0],
    ['first_byte=900000', 0],
    ['stall', 0],
    ['stall_after=2', 2],
  ])('with silence: %s', async (fault, frames) => {
    expect(await heard(fault, frames)).toBe(frames)
  })

  test('with an answer of exactly the given number of tokens, whatever its words', async () => {
    const counted = await simulator.post(path, { body: whole, fault: 'tokens=40' })
    const usage = counted.json['usage'] as JsonObject
    expect(usage['completion_tokens'] ?? usage['output_tokens']).toBe(40)
    expect((await simulator.post(path, { body: whole, fault: 'text=Exactly%20this' })).text).toContain(
      'Exactly this',
    )
  })
})
