import { startTestGateway, type Answer, type TestGateway } from '../support/gateway.ts'
import {
  startScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamSeen,
} from '../support/scripted-upstream.ts'
import { geminiStream, geminiWhole } from './gemini-replies.ts'
import { chatStream, chatWhole, messagesStream, messagesWhole } from './replies.ts'
import { responsesStream, responsesWhole } from './responses-replies.ts'
import {
  filesUrl,
  type Caller,
  type ChatReply,
  type GeminiReply,
  type Json,
  type MessagesReply,
  type ResponsesReply,
  type Upstream,
} from './table.ts'

/** The gateway in front of one upstream that speaks both formats, each at its own address. */
export interface Lab {
  /** Sends a request; what its provider was sent is in `seen`. */
  ask(caller: Caller, body: Json): Promise<Answer>
  /** What the providers were sent since the last `ask`. */
  readonly seen: readonly Json[]
  /** What the providers answer from now on. */
  answer(replies: Replies): void
  stop(): Promise<void>
}

/** By the format of who is asked. */
export interface Replies {
  chat: ChatReply
  responses: ResponsesReply
  messages: MessagesReply
  gemini: GeminiReply
}

const pdfPath = '/a.pdf'
const pngPath = '/a.png'
/** Stands in requests for a picture that most providers fetch themselves. */
const pngAddress = 'https://example.com/a.png'
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
  /** Thinks as it sees fit, takes instructions between the turns, and no sampling. */
  messagesNewest: 'anthropic/claude-opus-5',
  /** Takes no schema. */
  messagesOlder: 'anthropic/claude-3-5-haiku',
} as const

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
      const isGemini = String(body['model']).startsWith('google/')
      const text = JSON.stringify(body)
        .replaceAll(filesUrl, upstream.url)
        // The gateway fetches for this one, and the test is on a machine of its own.
        .replaceAll(isGemini ? pngAddress : filesUrl, `${upstream.url}${pngPath}`)
      return gateway.post(paths[caller], JSON.parse(text))
    },
    get seen() {
      return upstream.seen
        .filter(({ path }) => path !== pdfPath && path !== pngPath)
        .map(({ body }) => JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Json)
    },
    answer: (replies) => upstream.answer((seen) => replyTo(seen, replies)),
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
    models: ids.map((id) => ({ id, prices: { input_per_million: '1', output_per_million: '1' } })),
  })
  return [
    // As OpenAI answers chat completions; its own preset answers callers of responses in their format.
    at('sandbox', [models.chat, models.chatThinking]),
    at('openai', [models.responses]),
    at('zai', [models.chatWithoutSchema]),
    at('mistral', [models.chatWithoutLogprobs]),
    at('anthropic', [models.messages, models.messagesNewest, models.messagesOlder]),
    at('google-ai-studio', [models.gemini, models.geminiNewest]),
    { ...at('custom', [models.chatThatPasses]), id: 'acme' },
    { ...at('custom', [models.chatThatMarks]), id: 'marked', cache_marks: true },
  ]
}

function replyTo({ path, body }: UpstreamSeen, { chat, responses, messages, gemini }: Replies): Response {
  if (path === pdfPath) return new Response('%PDF-1.4', { headers: { 'content-type': 'application/pdf' } })
  if (path === pngPath) return new Response(pngBytes, { headers: { 'content-type': 'image/png' } })
  const isStream = (JSON.parse(body) as Json)['stream'] === true || path.endsWith(':streamGenerateContent')
  const ways: Readonly<Record<Upstream, { whole: () => Json; stream: () => string }>> = {
    chat: { whole: () => chatWhole(chat), stream: () => chatStream(chat) },
    responses: { whole: () => responsesWhole(responses), stream: () => responsesStream(responses) },
    messages: { whole: () => messagesWhole(messages), stream: () => messagesStream(messages) },
    gemini: { whole: () => geminiWhole(gemini), stream: () => geminiStream(gemini) },
  }
  const own = /\/(responses|messages)$/.exec(path)?.[1] as 'responses' | 'messages' | undefined
  const way = ways[path.endsWith('enerateContent') ? 'gemini' : (own ?? 'chat')]
  if (!isStream) return Response.json(way.whole())
  return new Response(way.stream(), { headers: { 'content-type': 'text/event-stream' } })
}

async function stop(gateway: TestGateway, upstream: ScriptedUpstream): Promise<void> {
  await gateway.stop()
  await upstream.stop()
}

/** The model that a row asks, by the upstream's format. */
export function modelOf(upstream: Upstream, given: Partial<Record<Upstream, string>> = {}): string {
  return given[upstream] ?? models[upstream]
}
