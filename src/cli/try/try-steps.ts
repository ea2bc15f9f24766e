import { join } from 'node:path'
import { batchStep } from './try-batch.ts'
import { duration, size } from '../amounts.ts'
import { readJson, refusal } from '../client.ts'
import { CommandFailure } from '../failure.ts'
import { readEvents } from '../batch/read-events.ts'
import { listOrEmpty, numberOrZero, recordOrEmpty, recordsOrEmpty, textOrEmpty } from '../../json/values.ts'
import { printable } from '../paint.ts'
import { chooseModel, type ListedByGateway, spokenSentence } from './try-models.ts'
import { type StepResult, StepSkipped, type TrySession, type TryStep } from './try-session.ts'
import { secondsOf, toWav } from './wav.ts'

const question = 'In one sentence: what does the headrace of a water mill do?'
const speechFile = 'speech.wav'

function modelFor(model: ListedByGateway | null, operation: string): ListedByGateway {
  if (model) return model
  throw new StepSkipped(
    `no configured provider offers ${operation}; "npx headrace models" lists what there is`,
  )
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response
  throw refusal(response, await readJson(response))
}

/** The provider that answered, and the id in the ledger. */
function originOf({ headers }: Response): Pick<StepResult, 'charged' | 'provider'> {
  const generationId = headers.get('x-generation-id')
  const provider = headers.get('x-provider-name')
  return {
    charged: generationId === null ? null : { generationId },
    ...(provider === null ? {} : { provider: printable(provider) }),
  }
}

const chatStep: TryStep = {
  title: 'Chat, streamed',
  subject: ({ models }) => models.chat?.id ?? '',
  async run({ client, key, models, signal, nowMs }) {
    const model = modelFor(models.chat, 'chat')
    const startedMs = nowMs()
    const body = {
      model: model.id,
      messages: [{ role: 'user', content: question }],
      stream: true,
      max_tokens: 200,
    }
    const response = await checked(await client.send('/chat/completions', { key, body, signal }))
    if (!response.body) throw new CommandFailure('The answer has no body.')
    let firstMs = 0
    let chunks = 0
    let answer = ''
    for await (const event of readEvents(response.body)) {
      const chunk = recordOrEmpty(event)
      const problem = textOrEmpty(recordOrEmpty(chunk['error'])['message'])
      if (problem) throw new CommandFailure(`The stream broke: ${printable(problem)}`)
      const piece = textOrEmpty(
        recordOrEmpty(recordOrEmpty(listOrEmpty(chunk['choices'])[0])['delta'])['content'],
      )
      if (piece === '') continue
      if (chunks++ === 0) firstMs = nowMs() - startedMs
      answer += piece
    }
    const lines = [`you    ${question}`, `model  ${printable(answer.trim())}`]
    return { lines, elapsedMs: nowMs() - startedMs, firstMs, ...originOf(response) }
  },
}

const embeddingsStep: TryStep = {
  title: 'Embeddings',
  subject: ({ models }) => models.embeddings?.id ?? '',
  async run({ client, key, models, signal, nowMs }) {
    const model = modelFor(models.embeddings, 'embeddings')
    const startedMs = nowMs()
    const body = { model: model.id, input: ['water', 'wheel'] }
    const response = await checked(await client.send('/embeddings', { key, body, signal }))
    const vectors = listOrEmpty((await readJson(response))['data']).map((entry) =>
      listOrEmpty(recordOrEmpty(entry)['embedding']),
    )
    const lines = [`2 texts, ${vectors.length} vectors of ${vectors[0]?.length ?? 0} numbers`]
    return { lines, elapsedMs: nowMs() - startedMs, ...originOf(response) }
  },
}

const rerankStep: TryStep = {
  title: 'Rerank',
  subject: ({ listed }) => rerankerOf(listed)?.id ?? '',
  async run({ client, key, listed, signal, nowMs }) {
    const model = modelFor(rerankerOf(listed), 'reranking')
    const startedMs = nowMs()
    const documents = ['Bread is made of flour.', 'The headrace leads water onto the wheel.']
    const body = { model: model.id, query: 'What does a headrace lead onto the wheel?', documents }
    const response = await checked(await client.send('/rerank', { key, body, signal }))
    const [best] = recordsOrEmpty((await readJson(response))['results'])
    const score = numberOrZero(best?.['relevance_score']).toFixed(2)
    const text = documents[numberOrZero(best?.['index'])] ?? ''
    const lines = [`${documents.length} texts, the most relevant one (${score}): ${text}`]
    return { lines, elapsedMs: nowMs() - startedMs, ...originOf(response) }
  },
}

function rerankerOf(listed: TrySession['listed']): ListedByGateway | null {
  return chooseModel(listed, 'rerank', [/rerank-v3\.5$/, /lite|fast|small|base/])
}

const completionsStep: TryStep = {
  title: 'Completions',
  subject: ({ models }) => models.chat?.id ?? '',
  async run({ client, key, models, signal, nowMs }) {
    const model = modelFor(models.chat, 'chat')
    const startedMs = nowMs()
    // One text can be asked of every text model: as a conversation of one turn where the provider has no completions.
    const body = { model: model.id, prompt: question, max_tokens: 100 }
    const response = await checked(await client.send('/completions', { key, body, signal }))
    const [choice] = recordsOrEmpty((await readJson(response))['choices'])
    const lines = [`text   ${question}`, `model  ${printable(textOrEmpty(choice?.['text']).trim())}`]
    return { lines, elapsedMs: nowMs() - startedMs, ...originOf(response) }
  },
}

const playerOf: Readonly<Record<string, string>> = { darwin: 'afplay', win32: 'start ""', linux: 'aplay' }

const speechStep: TryStep = {
  title: 'Text to speech',
  subject: ({ models }) => models.speech?.id ?? '',
  async run(session) {
    const { client, key, models, signal, nowMs } = session
    const model = modelFor(models.speech, 'speech')
    const startedMs = nowMs()
    // Every provider has samples without a container; this program adds the 44 bytes of the file's header.
    const body = {
      model: model.id,
      input: spokenSentence,
      voice: model.voices[0] ?? 'alloy',
      response_format: 'pcm',
    }
    const response = await checked(await client.send('/audio/speech', { key, body, signal }))
    const samples = new Uint8Array(await response.arrayBuffer())
    const elapsedMs = nowMs() - startedMs
    session.speech = toWav(samples)
    const file = await keepSpeech(session.speech, session.folder)
    const audio = `audio  ${secondsOf(samples).toFixed(1)} s, ${size(samples.byteLength)}`
    const lines = [
      `text   ${spokenSentence}`,
      file === null ? `${audio}; no temporary folder can be written, so it is not kept` : `${audio}: ${file}`,
      ...(file === null
        ? []
        : [`play   ${playerOf[process.platform] ?? 'ffplay -nodisp -autoexit'} ${file}`]),
    ]
    return { lines, elapsedMs, ...originOf(response) }
  },
}

/** The file's path, or null when it cannot be written. */
async function keepSpeech(speech: Uint8Array<ArrayBuffer>, folder: string | null): Promise<string | null> {
  if (folder === null) return null
  const file = join(folder, speechFile)
  return Bun.write(file, speech).then(
    () => file,
    () => null,
  )
}

const transcriptionStep: TryStep = {
  title: 'Speech to text',
  subject: ({ models }) => models.transcription?.id ?? '',
  async run({ client, key, models, signal, nowMs, speech }) {
    const model = modelFor(models.transcription, 'transcription')
    if (speech === null) throw new StepSkipped('there is no speech from the step before to transcribe')
    const startedMs = nowMs()
    const form = new FormData()
    form.set('model', model.id)
    form.set('language', 'en')
    form.set('file', new File([speech], speechFile, { type: 'audio/wav' }))
    const response = await checked(await client.send('/audio/transcriptions', { key, rawBody: form, signal }))
    const answer = await readJson(response)
    const elapsedMs = nowMs() - startedMs
    const seconds = numberOrZero(recordOrEmpty(answer['usage'])['seconds'])
    const lines = [
      `said   ${spokenSentence}`,
      `heard  ${printable(textOrEmpty(answer['text']).trim())}`,
      ...(seconds > 0 ? [`audio  ${seconds.toFixed(1)} s`] : []),
    ]
    return { lines, elapsedMs, ...originOf(response) }
  },
}

const shown = (isOn: boolean) => (isOn ? 'on' : 'off')

const settingsStep: TryStep = {
  title: 'Organization settings',
  subject: () => 'PATCH /v1/organization/settings',
  async run({ client, managementKey, signal, nowMs }) {
    if (managementKey === null)
      throw new StepSkipped('it needs a management key; set HEADRACE_MANAGEMENT_KEY')
    const path = '/organization/settings'
    const read = async () => {
      const data = recordOrEmpty((await client.json(path, { key: managementKey, signal }))['data'])
      return data['is_filtered_model_catalog_enabled'] === true
    }
    const change = (isOn: boolean) =>
      client.json(path, {
        method: 'PATCH',
        key: managementKey,
        body: { is_filtered_model_catalog_enabled: isOn },
      })
    const startedMs = nowMs()
    const before = await read()
    let after: boolean
    try {
      await change(!before)
      after = await read()
    } finally {
      // The setting may be a real organization's, so it is restored in any case, also after an interruption.
      await change(before)
    }
    const restored = await read()
    const lines = [
      `filtered model catalog  ${shown(before)} → ${shown(after)} → ${shown(restored)} (as it was)`,
    ]
    return { lines, elapsedMs: nowMs() - startedMs, charged: null }
  },
}

/** The steps of `headrace try`, in order. */
export const trySteps: readonly TryStep[] = [
  chatStep,
  embeddingsStep,
  rerankStep,
  completionsStep,
  speechStep,
  transcriptionStep,
  settingsStep,
  batchStep,
]

/** `Sandbox: first words after 12 ms, whole after 140 ms`. */
export function timingOf({ elapsedMs, firstMs, provider }: StepResult): string {
  const done = duration(elapsedMs)
  const times = firstMs === undefined ? done : `first words after ${duration(firstMs)}, whole after ${done}`
  return provider === undefined ? times : `${provider}: ${times}`
}
