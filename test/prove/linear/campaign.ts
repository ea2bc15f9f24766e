import type { TextCall } from '../../../src/canonical/call.ts'
import type { DecodedAnswer } from '../../../src/canonical/upstream.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { wholeBodyBytesMax } from '../../../src/core/limits/text.ts'
import { testCharge, testContext, testEndpoint } from '../../../src/formats/text/testing.ts'
import { encodeInSteps, selectCodec } from '../../../src/formats/text/formats.ts'
import { leaveOutTexts } from '../../../src/json/set-aside-texts.ts'
import { listAddresses } from '../../../src/formats/text/media/media-addresses.ts'
import type { TextInterface } from '../../../src/formats/text/text-interface.ts'
import type { TextCodec } from '../../../src/formats/text/codec.ts'
import { chatCompletions, messages, responses } from '../../../src/formats/text/text-operations.ts'
import { presets } from '../../../src/providers/registry.ts'
import { streams, type Told, type UpstreamFormat, wholeAnswers } from './answers.ts'
import { type CallerFormat, type Shape, shapes } from './requests.ts'
import { threadMs } from './thread-time.ts'

/** A way in which hosts are asked, and one model of each kind that differs there. */
interface Host {
  name: string
  format: UpstreamFormat
  quirks: TextInterface['quirks']
  model: string
}

/** One kind of work at `count`: what each of its turns costs, and what may not be blamed on it. */
export interface Case {
  name: string
  workOf(count: number): Work
}

/** How many each case has of what it has many of. */
export const sizes = { few: 10_000, many: 40_000 }

/** It can be run again and again. */
export interface Work {
  /** Runs it; the milliseconds of each turn of the event loop. */
  run(): number[]
  /** One parse and one stringify of the same bytes, in milliseconds. */
  floorMs(): number
}

const operations = { chat: chatCompletions, responses, messages }
const callers = Object.keys(shapes) as CallerFormat[]
const pushBytes = 65_536
const floorRunsMax = 4

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

function isUpstream(format: string): format is UpstreamFormat {
  return Object.hasOwn(streams, format)
}

/** Models that an interface is asked for in different ways. */
const modelsOf = (format: string): readonly string[] =>
  format === 'gemini' ? ['gemini-2.5-flash', 'gemini-3-pro-preview'] : ['up/name']

/** The hosts of every preset; those that are asked alike to the letter are one, under the name of the first. */
export function listHosts(): Host[] {
  const all = presets.flatMap(({ slug, adapters }) =>
    (adapters.language ?? []).flatMap(({ format, quirks }) =>
      isUpstream(format)
        ? modelsOf(format).map((model) => ({ name: `${slug} (${format})`, format, quirks, model }))
        : [],
    ),
  )
  const keyOf = ({ model, quirks }: Host) => `${model} ${Bun.inspect(quirks, { depth: 6 })}`
  const hosts = new Map<string, Host>()
  for (const host of all.toReversed()) hosts.set(keyOf(host), host)
  return [...hosts.values()].toReversed()
}

/** The least of several runs: what disturbs one of them is no work that any turn must do. */
export function floorOf(json: string): number {
  const cost = () => {
    const before = threadMs()
    JSON.stringify(JSON.parse(json))
    return threadMs() - before
  }
  return Math.min(...Array.from({ length: floorRunsMax }, cost))
}

function timed<Made>(turns: number[], work: () => Made): Made {
  const before = threadMs()
  const made = work()
  turns.push(threadMs() - before)
  return made
}

/** What callers send: how it is read, which is the same for every host, and how it is written for each. */
export function requestCases(hosts: readonly Host[]): Case[] {
  return callers.flatMap((caller) =>
    Object.entries(shapes[caller]).flatMap(([what, shape]) => {
      const requestOf = (count: number) =>
        kept(`${what} ${caller} ${count}`, () => new Request(caller, shape, count))
      const reading: Case = {
        name: `${what} of a ${caller} caller, read`,
        workOf(count) {
          const request = requestOf(count)
          return { run: () => request.read().turns, floorMs: () => request.floorMs }
        },
      }
      const writing = hosts.map((host): Case => ({
        name: `${what} of a ${caller} caller to ${host.name}`,
        workOf(count) {
          const request = requestOf(count)
          return { run: () => encodeTurns(request.call, caller, host), floorMs: () => request.floorMs }
        },
      }))
      return [reading, ...writing]
    }),
  )
}

/** The newest of what was made by name. */
const newest: { name: string; made: unknown }[] = []

/** What is compared and no more: all of it would fill the memory, and to collect its garbage costs time. */
function kept<Made>(name: string, make: () => Made): Made {
  const known = newest.find((each) => each.name === name)
  if (known !== undefined) return known.made as Made
  const made = make()
  newest.splice(0, newest.length - 1)
  newest.push({ name, made })
  return made
}

/** A request as it is before a host is chosen. */
class Request {
  readonly #caller: CallerFormat
  readonly #bytes: Uint8Array
  /** The larger of two requests that are compared is not read in another way than the smaller. */
  readonly #isLean: boolean
  #call: TextCall | null = null
  #floorMs: number | null = null

  constructor(caller: CallerFormat, shape: Shape, count: number) {
    this.#caller = caller
    this.#bytes = encode(JSON.stringify(shape(count)))
    this.#isLean = encode(JSON.stringify(shape(sizes.many))).length >= wholeBodyBytesMax
  }

  get call(): TextCall {
    this.#call ??= this.read().call
    return this.#call
  }

  get floorMs(): number {
    this.#floorMs ??= floorOf(new TextDecoder().decode(this.#bytes))
    return this.#floorMs
  }

  read(): { call: TextCall; turns: number[] } {
    const turns: number[] = []
    const lean = this.#isLean ? finish(leaveOutTexts(this.#bytes), turns) : null
    const call = timed(turns, () =>
      operations[this.#caller].decode(this.#bytes, { sessionIdHeader: null, lean }),
    )
    timed(turns, () => listAddresses(call))
    return { call, turns }
  }
}

function encodeTurns(call: TextCall, caller: CallerFormat, host: Host): number[] {
  const turns: number[] = []
  const endpoint = testEndpoint(host.model, host.name)
  try {
    finish(encodeInSteps(selectCodec(caller, host.format), { call, endpoint, quirks: host.quirks }), turns)
  } catch (error) {
    // What a host cannot be sent is refused, which costs a turn as well.
    if (!(error instanceof GatewayError)) throw error
  }
  return turns
}

function finish<Made>(work: Generator<void, Made>, turns: number[]): Made {
  for (;;) {
    const before = threadMs()
    const step = work.next()
    turns.push(threadMs() - before)
    if (step.done) return step.value
  }
}

const plainCalls = {
  chat: '{"model":"a/b","messages":[{"role":"user","content":"x"}],"stream":true}',
  responses: '{"model":"a/b","input":"x","stream":true}',
  messages: '{"model":"a/b","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":true}',
}

const callOf = (caller: CallerFormat) =>
  operations[caller].decode(encode(plainCalls[caller]), { sessionIdHeader: null })

/** Whole answers of every host, to callers of every format. */
export function answerCases(hosts: readonly Host[]): Case[] {
  return toldCases(hosts, wholeAnswers, (what, { told, host, caller }) => ({
    name: `${what} of an answer of ${host.name} to a ${caller} caller`,
    workOf(count) {
      const json = kept(`${what} of an answer of ${host.format} ${count}`, () =>
        JSON.stringify(told(count)[0]),
      )
      const bytes = encode(json)
      const codec = selectCodec(caller, host.format)
      const run = () => {
        const turns: number[] = []
        const answer = timed(turns, () => decodedAnswer(codec, { bytes, host, caller }))
        timed(turns, () => answer?.encode(testCharge))
        return turns
      }
      return { run, floorMs: () => floorOf(json) }
    },
  }))
}

/** A case for each kind of answer, each host of its format and each caller, those of one kind together. */
function toldCases(
  hosts: readonly Host[],
  kinds: Readonly<Record<UpstreamFormat, Readonly<Record<string, Told>>>>,
  caseOf: (what: string, asked: { told: Told; host: Host; caller: CallerFormat }) => Case,
): Case[] {
  const formats = [...new Set(hosts.map(({ format }) => format))]
  return formats.flatMap((format) =>
    Object.entries(kinds[format]).flatMap(([what, told]) =>
      hosts
        .filter((host) => host.format === format)
        .flatMap((host) => callers.map((caller) => caseOf(what, { told, host, caller }))),
    ),
  )
}

/** Null where it has more than an answer may have. */
function decodedAnswer(
  codec: TextCodec,
  { bytes, host, caller }: { bytes: Uint8Array; host: Host; caller: CallerFormat },
): DecodedAnswer | null {
  try {
    return codec.decodeAnswer(bytes, testContext, host.quirks, callOf(caller))
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return null
  }
}

/** Streams of every host, to callers of every format. */
export function streamCases(hosts: readonly Host[]): Case[] {
  return toldCases(hosts, streams, (what, { told, host, caller }) => ({
    name: `${what} of a stream of ${host.name} to a ${caller} caller`,
    workOf(count) {
      const { bytes, floorMs } = kept(`${what} of a stream of ${host.format} ${count}`, () => {
        const frames = told(count).map((each) => JSON.stringify(each))
        const end = host.format === 'chat' ? 'data: [DONE]\n\n' : ''
        return {
          bytes: encode(`${frames.map((frame) => `data: ${frame}\n\n`).join('')}${end}`),
          floorMs: () => floorOf(`[${frames.join()}]`),
        }
      })
      return { run: () => streamTurns(bytes, caller, host), floorMs }
    },
  }))
}

function streamTurns(bytes: Uint8Array, caller: CallerFormat, host: Host): number[] {
  const turns: number[] = []
  const stream = selectCodec(caller, host.format).createStream(testContext, host.quirks, callOf(caller))
  for (let at = 0; at < bytes.length && stream.failure === null; at += pushBytes)
    timed(turns, () => stream.push(bytes.subarray(at, at + pushBytes)))
  timed(turns, () => {
    if (stream.failure === null) stream.end()
    if (stream.failure === null) stream.encodeEnding(testCharge)
  })
  return turns
}
