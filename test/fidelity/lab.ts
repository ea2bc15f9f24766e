import { startTestGateway, type Answer, type TestGateway } from '../support/gateway.ts'
import {
  startScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamSeen,
} from '../support/scripted-upstream.ts'
import { cohereStream, cohereWhole } from './cohere-replies.ts'
import { converseStream, converseWhole } from './converse-replies.ts'
import { geminiStream, geminiWhole } from './gemini-replies.ts'
import { chatStream, chatWhole, messagesStream, messagesWhole } from './replies.ts'
import { responsesStream, responsesWhole, saying } from './responses-replies.ts'
import {
  filesUrl,
  type Caller,
  type ChatReply,
  type CohereReply,
  type ConverseReply,
  type GeminiReply,
  type Json,
  type MessagesReply,
  type ResponsesReply,
  type Upstream,
} from './table.ts'

/** The gateway in front of one upstream that speaks every format, each at its own address. */
export interface Lab {
  /** Sends a request; what its provider was sent is in `seen`. */
  ask(caller: Caller, body: Json): Promise<Answer>
  /** What the providers were sent since the last `ask`. */
  readonly seen: readonly Json[]
  /** What the providers answer from now on; a word in formats that are left out. */
  answer(replies: Partial<Replies>): void
  stop(): Promise<void>
}

/** By the format of who is asked. */
export interface Replies {
  chat: ChatReply
  responses: ResponsesReply
  messages: MessagesReply
  gemini: GeminiReply
  converse: ConverseReply
  cohere: CohereReply
}

/** The same text from every provider. */
export function repliesSaying(text: string): Replies {
  return {
    chat: { message: { content: text }, finish: 'stop' },
    responses: { output: [saying(text)] },
    messages: { content: [{ type: 'text', text }], stop: { stop_reason: 'end_turn' } },
    gemini: { parts: [{ text }], finish: 'STOP' },
    converse: { content: [{ text }], stop: 'end_turn' },
    cohere: { content: [{ type: 'text', text }], finish: 'COMPLETE' },
  }
}

const pdfPath = '/a.pdf'
const pngPath = '/a.png'
/** Stands in requests for a picture that most providers fetch themselves. */
const pngAddress = 'https://example.com/a.png'
/** Models whose providers fetch no pictures. */
const fetchesNothing = /^(?:google|amazon)\//
const pngBytes = Buffer.from('iVBORw0KGgo=', 'base64')

/** Models of the table, by what they can. */
export const models = {
  chat: 'sandbox/gpt-4o-mini',
  /** One that thinks, which takes less. */
  chatThinking: 'sandbox/o4-mini',
  /** A host that takes no schema and does not heed a choice of tools, and is asked in this format alone. */
  chatWithoutSchema: 'z-ai/glm-4.6',
  /** A host that gives no log probabilities. */
  chatWithoutLogprobs: 'mistral/mistral-large-latest',
  /** A server of the operator's, of which nothing is known: it is sent what it may not know. */
  chatThatPasses: 'acme/any',
  /** One that takes marks of a prompt cache, as its operator says. */
  chatThatMarks: 'marked/any',
  /** Of OpenAI's one that is asked in responses by callers of every format; it thinks. */
  responses: 'openai/gpt-5.1-codex',
  messages: 'anthropic/claude-sonnet-4-5',
  gemini: 'google/gemini-2.5-flash',
  /** Thinks at a level. */
  geminiNewest: 'google/gemini-3-pro-preview',
  /** Takes no schema, thinks at one of three levels. */
  converse: 'amazon/nova-2-lite-v1',
  /** A Claude, which takes schemas and thinks within a budget. */
  converseClaude: 'anthropic/claude-sonnet-4-5-20250929',
  /** A Claude that thinks as it sees fit, and takes no sampling. */
  converseNewest: 'anthropic/claude-opus-4-7',
  /** Thinks within a budget, and takes pictures. */
  cohere: 'cohere/command-a-plus',
  /** Thinks as it sees fit, takes instructions between the turns, and no sampling. */
  messagesNewest: 'anthropic/claude-opus-5',
  /** Takes no schema. */
  messagesOlder: 'anthropic/claude-3-5-haiku',
} as const

/** The providers' own names of models, where they are not the second part of the public ones. */
const upstreamNames: Readonly<Record<string, string>> = {
  [models.converse]: 'us.amazon.nova-2-lite-v1:0',
  [models.converseClaude]: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  [models.converseNewest]: 'us.anthropic.claude-opus-4-7',
  [models.cohere]: 'command-a-plus-05-2026',
}

const paths: Readonly<Record<Caller, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

/** What is asked where a row says nothing else. */
export function requestOf(caller: Caller, model: string, ask: Json): Json {
  if (caller === 'responses') return { model, input: 'Hello.', ...ask }
  const messages = [{ role: 'user', content: 'Hello.' }]
  return caller === 'chat' ? { model, messages, ...ask } : { model, max_tokens: 2_000, messages, ...ask }
}

/** Starts both; `stop` ends them. */
export async function startLab(): Promise<Lab> {
  const upstream = startScriptedUpstream()
  const gateway = await startTestGateway({
    providers: () => providersAt(upstream.url),
    fetchHosts: [new URL(upstream.url).host],
  })
  return {
    ask: (caller, body) => {
      upstream.seen.length = 0
      const text = JSON.stringify(body)
        .replaceAll(filesUrl, upstream.url)
        // For these the gateway fetches, and the test is on a machine of its own.
        .replaceAll(
          fetchesNothing.test(String(body['model'])) ? pngAddress : filesUrl,
          `${upstream.url}${pngPath}`,
        )
      return gateway.post(paths[caller], JSON.parse(text))
    },
    get seen() {
      return upstream.seen
        .filter(({ path }) => path !== pdfPath && path !== pngPath)
        .map(({ body }) => JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Json)
    },
    answer: (replies) => upstream.answer((seen) => replyTo(seen, { ...repliesSaying('x'), ...replies })),
    stop: () => stop(gateway, upstream),
  }
}

function providersAt(url: string) {
  const at = (preset: string, ids: readonly string[]) => ({
    preset,
    base_url: `${url}/${preset}/v1`,
    api_key: 'scripted',
    weight: 1,
    discover: false,
    models: ids.map((id) => ({
      id,
      ...(upstreamNames[id] === undefined ? {} : { upstream: upstreamNames[id] }),
      prices: { input_per_million: '1', output_per_million: '1' },
    })),
  })
  return [
    // As OpenAI answers chat completions; its own preset answers callers of responses in their format.
    at('sandbox', [models.chat, models.chatThinking]),
    at('openai', [models.responses]),
    at('zai', [models.chatWithoutSchema]),
    at('mistral', [models.chatWithoutLogprobs]),
    at('anthropic', [models.messages, models.messagesNewest, models.messagesOlder]),
    at('google-ai-studio', [models.gemini, models.geminiNewest]),
    at('amazon-bedrock', [models.converse, models.converseClaude, models.converseNewest]),
    at('cohere', [models.cohere]),
    { ...at('custom', [models.chatThatPasses]), id: 'acme' },
    { ...at('custom', [models.chatThatMarks]), id: 'marked', cache_marks: true },
  ]
}

type Reply = { whole: () => Json; stream: () => string | Uint8Array<ArrayBuffer> }

function replyTo({ path, body }: UpstreamSeen, replies: Replies): Response {
  if (path === pdfPath) return new Response('%PDF-1.4', { headers: { 'content-type': 'application/pdf' } })
  if (path === pngPath) return new Response(pngBytes, { headers: { 'content-type': 'image/png' } })
  const { chat, responses, messages, gemini, converse, cohere } = replies
  const isStream =
    (JSON.parse(body) as Json)['stream'] === true || /:streamGenerateContent$|\/converse-stream$/.test(path)
  const ways: Readonly<Record<Upstream, Reply>> = {
    chat: { whole: () => chatWhole(chat), stream: () => chatStream(chat) },
    responses: { whole: () => responsesWhole(responses), stream: () => responsesStream(responses) },
    messages: { whole: () => messagesWhole(messages), stream: () => messagesStream(messages) },
    gemini: { whole: () => geminiWhole(gemini), stream: () => geminiStream(gemini) },
    converse: { whole: () => converseWhole(converse), stream: () => converseStream(converse) },
    cohere: { whole: () => cohereWhole(cohere), stream: () => cohereStream(cohere) },
  }
  const format = formatOf(path)
  if (!isStream) return Response.json(ways[format].whole())
  const type = format === 'converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
  return new Response(ways[format].stream(), { headers: { 'content-type': type } })
}

/** The format that a provider is asked in at this path. */
function formatOf(path: string): Upstream {
  if (path.endsWith('enerateContent')) return 'gemini'
  if (/\/converse(?:-stream)?$/.test(path)) return 'converse'
  if (path.endsWith('/v2/chat')) return 'cohere'
  return (/\/(responses|messages)$/.exec(path)?.[1] ?? 'chat') as Upstream
}

async function stop(gateway: TestGateway, upstream: ScriptedUpstream): Promise<void> {
  await gateway.stop()
  await upstream.stop()
}

/** The model that a row asks, by the upstream's format. */
export function modelOf(upstream: Upstream, given: Partial<Record<Upstream, string>> = {}): string {
  return given[upstream] ?? models[upstream]
}
