import { fieldError } from '../../../core/errors.ts'
import { streamFrameBytesMax, streamPictureFrameBytesMax } from '../../../core/limits/text.ts'
import { toBuffer } from '../../../json/bytes.ts'
import {
  editDocument,
  hasMember,
  type JsonDocument,
  memberBytes,
  memberValue,
  parseJsonDocument,
} from '../../../json/document.ts'
import { findMember } from '../../../json/scan.ts'
import { recordOrEmpty } from '../../../json/values.ts'
import { createFrameSplitter, readFrameData, toBytes, toUtf8 } from '../../sse.ts'
import type { TextCall } from '../../../canonical/call.ts'
import type {
  AnsweredTurn,
  SocketTurn,
  SocketTurns,
  TurnEvents,
  TurnRefusal,
  WarmUpFacts,
} from '../socket-format.ts'
import { emptyResponse } from './write-answer.ts'

const quote = 0x22
const openBracket = 0x5b

/** The longest name of a lane. */
const laneLengthMax = 256

/** Members of a message that the body of a call over HTTP does not have. */
const ownMembers = ['type', 'event_id', 'stream_id', 'generate', 'previous_response_id']

/** Turns of responses over a WebSocket: `response.create` messages, each answered by the events of a stream. */
export const responsesTurns: SocketTurns = {
  read: readTurn,
  laneOf(message) {
    try {
      const lane = recordOrEmpty(JSON.parse(message))['stream_id']
      return typeof lane === 'string' && lane.length <= laneLengthMax ? lane : null
    } catch {
      return null
    }
  },
  createEvents: (lane) => new ResponsesEvents(lane),
  writeWarmUp,
  writeError,
  writeUnknownAnswer: (id, lane) =>
    writeError({
      status: 400,
      error: {
        type: 'invalid_request_error',
        code: 'previous_response_not_found',
        message: `Previous response with id '${id}' not found: this connection does not have it. Send the whole conversation as "input".`,
        param: 'previous_response_id',
      },
      lane,
    }),
  writeLifeOver: (minutes) =>
    writeError({
      status: 400,
      error: {
        type: 'invalid_request_error',
        code: 'websocket_connection_limit_reached',
        message: `A WebSocket connection lasts for at most ${minutes} minutes. Connect again and send the whole conversation as "input".`,
        param: null,
      },
      lane: null,
    }),
}

function writeError({ status, error, headers, lane }: TurnRefusal): string {
  return JSON.stringify({
    type: 'error',
    status,
    error,
    ...(headers === undefined ? {} : { headers }),
    ...shownLane(lane),
  })
}

function shownLane(lane: string | null): { stream_id?: string } {
  return lane === null ? {} : { stream_id: lane }
}

function readTurn(bytes: Uint8Array, lean: Parameters<SocketTurns['read']>[1]): SocketTurn {
  const document = parseJsonDocument(bytes, lean)
  const type = valueOf(document, 'type')
  if (type !== 'response.create')
    throw fieldError('type', 'must be "response.create", the only event that is served here.')
  const lane = textOf(document, 'stream_id')
  if (lane !== null && lane.length > laneLengthMax)
    throw fieldError('stream_id', `must be at most ${laneLengthMax} characters.`)
  const generate = valueOf(document, 'generate') ?? true
  if (typeof generate !== 'boolean') throw fieldError('generate', 'must be true or false.')
  const items = inputItems(document)
  return {
    lane,
    isWarmUp: !generate,
    previousId: textOf(document, 'previous_response_id'),
    items: items ?? new Uint8Array(0),
    bodyAfter: (history) => bodyAfter(document, history, items),
  }
}

function valueOf(document: JsonDocument, name: string): unknown {
  return hasMember(document, name) ? memberValue(document, name) : null
}

function textOf(document: JsonDocument, name: string): string | null {
  const value = valueOf(document, name)
  if (value !== null && typeof value !== 'string') throw fieldError(name, 'must be a text.')
  return value
}

/** The elements of the input, in memory of their own: the message is larger and need not be kept. Null for what is no input. */
function inputItems(document: JsonDocument): Uint8Array | null {
  const input = hasMember(document, 'input') ? memberBytes(document, 'input') : null
  if (input === null) return new Uint8Array(0)
  if (input[0] === quote)
    return Buffer.concat([Buffer.from('{"role":"user","content":'), input, Buffer.from('}')])
  if (input[0] !== openBracket) return null
  const elements = toBuffer(input).subarray(1, -1)
  return elements.every((byte) => byte <= 0x20) ? new Uint8Array(0) : Buffer.from(elements)
}

/** Without a history, or where it is no input, the input stays as it came: its decoder says what is wrong with it. */
function bodyAfter(
  document: JsonDocument,
  history: readonly Uint8Array[],
  own: Uint8Array | null,
): Uint8Array {
  const parts = [...history, own ?? new Uint8Array(0)].filter(({ length }) => length > 0)
  const input = parts.flatMap((part, index) => [index === 0 ? '[' : ',', part])
  return editDocument(document, {
    set: {
      ...(history.length === 0 || own === null ? {} : { input: [...input, parts.length === 0 ? '[]' : ']'] }),
      stream: 'true',
    },
    remove: ownMembers,
  })
}

/** Events after which a turn can be continued. */
const continued: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])

/** Events of an answer, from the frames of a stream. What a later turn needs of them is kept. */
class ResponsesEvents implements TurnEvents {
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  readonly #beginning: string
  #id: string | null = null
  readonly #items: Buffer[] = []
  #isWhole = false
  answered: AnsweredTurn | null = null

  constructor(lane: string | null) {
    this.#beginning = lane === null ? '{' : `{"stream_id":${JSON.stringify(lane)},`
  }

  push(chunk: Uint8Array): string[] {
    return this.#show(this.#splitter.push(chunk))
  }

  end(): string[] {
    return this.#show(this.#splitter.end())
  }

  #show(frames: string | null): string[] {
    const shown: string[] = []
    for (const frame of frames?.split('\n\n') ?? []) {
      const data = readFrameData(frame)
      // Comments keep a stream over HTTP open, and its terminator has no event of its own.
      if (data === null || !data.startsWith('{')) continue
      this.#note(typeOf(frame, data), data)
      const text = toUtf8(data)
      shown.push(this.#beginning === '{' ? text : this.#beginning + text.slice(1))
    }
    return shown
  }

  #note(type: string, data: string): void {
    if (type === 'response.created') {
      const { value: response } = findMember(Buffer.from(data, 'latin1'), 'response')
      const id = response === null ? null : findMember(response, 'id').value
      this.#id = id === null ? null : textIn(id)
    } else if (type === 'response.output_item.done') {
      const { value: item } = findMember(toBuffer(toBytes(data)), 'item')
      if (item !== null && canBeSentBack(item)) this.#items.push(Buffer.from(item))
      this.#isWhole ||= item !== null && textIn(findMember(item, 'type').value ?? noValue) === 'compaction'
    } else if (continued.has(type) && this.#id !== null) {
      this.answered = { id: this.#id, items: joined(this.#items), isWhole: this.#isWhole }
    }
  }
}

/** Events begin with a line that names them; some servers leave that out, and the data begins with the type. */
function typeOf(frame: string, data: string): string {
  const named = /^event: ?([^\n]*)\n/.exec(frame)?.[1]
  return named ?? /^\{\s*"type"\s*:\s*"([^"]*)"/.exec(data)?.[1] ?? ''
}

const noValue = Buffer.from('null')

function textIn(json: Buffer): string | null {
  const value: unknown = JSON.parse(json.toString('utf8'))
  return typeof value === 'string' ? value : null
}

/** A thought without its sealed content means nothing to a provider that stores nothing. */
function canBeSentBack(item: Buffer): boolean {
  if (textIn(findMember(item, 'type').value ?? noValue) !== 'reasoning') return true
  return findMember(item, 'encrypted_content').value?.[0] === quote
}

function joined(items: readonly Buffer[]): Uint8Array {
  return Buffer.concat(items.flatMap((item, index) => (index === 0 ? [item] : [Buffer.from(','), item])))
}

/** What a warm-up is answered: a response that has ended and has no output. */
function writeWarmUp(call: TextCall, { id, created }: WarmUpFacts): string[] {
  const context = { generationId: id, created, model: call.model ?? '', provider: '' }
  const response = emptyResponse({ call, context })
  const usage = {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  }
  const ended = { ...response, status: 'completed', completed_at: created, usage }
  return [
    { type: 'response.created', sequence_number: 0, response },
    { type: 'response.completed', sequence_number: 1, response: ended },
  ].map((event) => JSON.stringify(event))
}
