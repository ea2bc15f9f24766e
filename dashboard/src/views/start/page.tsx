import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { firstModel, modelsQuery, type Model, type ModelKind } from '../../api/models.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Empty, PageHead, Panel } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { useBlobUrl } from '../../parts/sound.tsx'
import { State } from '../../parts/state.tsx'
import { Credits } from '../../parts/values.tsx'
import { formatDuration } from '../../values/time.ts'
import { tryBatch, tryChat, trySpeech, tryTranscript, type TryResult } from './tries.ts'

interface Try {
  name: string
  title: string
  words: string
  kind: ModelKind
  /** The model that is taken where it is served; else the first of its kind. */
  wanted: string
  run: (given: { model: Model; onText: (text: string) => void; sound: Blob | null }) => Promise<TryResult>
  more: { to: string; word: string }
}

const tries: readonly Try[] = [
  {
    name: 'chat',
    title: 'Ask a model',
    words: 'A chat completion, streamed.',
    kind: 'text',
    wanted: 'openai/gpt-4o-mini',
    run: tryChat,
    more: { to: '/chat', word: 'Chat' },
  },
  {
    name: 'speech',
    title: 'Hear a voice',
    words: 'Text to speech, played while it arrives.',
    kind: 'speech',
    wanted: 'openai/tts-1',
    run: trySpeech,
    more: { to: '/speech', word: 'Speech' },
  },
  {
    name: 'transcript',
    title: 'Have that voice written down',
    words: 'The sound of the step before, as text.',
    kind: 'transcription',
    wanted: 'openai/whisper-1',
    run: tryTranscript,
    more: { to: '/transcription', word: 'Transcription' },
  },
  {
    name: 'batch',
    title: 'Run a batch',
    words: 'Five items, durable before they run.',
    kind: 'text',
    wanted: 'openai/gpt-4o-mini',
    run: tryBatch,
    more: { to: '/batches', word: 'Batches' },
  },
]

const providerLines = `OPENAI_API_KEY=sk-… npm start
ANTHROPIC_API_KEY=sk-ant-… npm start
OLLAMA_BASE_URL=http://127.0.0.1:11434 npm start`

export function Page() {
  const models = useQuery(modelsQuery)
  return (
    <>
      <PageHead title="Start" of={models} />
      <div className="page-body narrow">
        <Reading of={models} place={<Tries models={null} />}>
          {(all) =>
            all.length === 0 ? (
              <Empty title="No provider answers">
                <p>Set a provider’s key as below and start the gateway again.</p>
              </Empty>
            ) : (
              <Tries models={all} />
            )
          }
        </Reading>
        <Panel title="Real providers">
          <div className="stack">
            <p className="muted">
              A provider is switched on by its key. Stop the gateway and start it with one or several of
              these; the README has the whole list.
            </p>
            <CodeBlock label="Start with a provider" text={providerLines} />
          </div>
        </Panel>
      </div>
    </>
  )
}

/** The tries that a model is there for; all of them, at their places, while the models are still read. */
function Tries({ models }: { models: readonly Model[] | null }) {
  const may = useMay()
  const [sound, setSound] = useState<Blob | null>(null)
  if (!may('POST /chat/completions')) return null
  return (
    <Panel title="Try everything once">
      <ol className="tries">
        {tries.map((one) => {
          const model = models === null ? null : firstModel(models, one.kind, one.wanted)
          if (models !== null && model === null) return null
          return <TryView key={one.name} item={one} model={model} sound={sound} onSound={setSound} />
        })}
      </ol>
    </Panel>
  )
}

function TryView({
  item,
  model,
  sound,
  onSound,
}: {
  item: Try
  /** Null while the models are read. */
  model: Model | null
  sound: Blob | null
  onSound: (sound: Blob) => void
}) {
  const [isBusy, setBusy] = useState(false)
  const [text, setText] = useState('')
  const [result, setResult] = useState<TryResult | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const url = useBlobUrl(result?.sound ?? null)
  const run = async () => {
    if (model === null) return
    setBusy(true)
    setText('')
    setResult(null)
    setFailure(null)
    try {
      const done = await item.run({ model, onText: setText, sound })
      setResult(done)
      if (done.sound !== null) onSound(done.sound)
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  const shown = result?.text ?? text
  return (
    <li className="try">
      <div>
        <h3>{item.title}</h3>
        <p className="hint">
          {item.words} <span className="whole">{model?.id ?? item.wanted}</span>
        </p>
      </div>
      <Button
        isBusy={isBusy}
        disabled={model === null || (item.kind === 'transcription' && sound === null)}
        onClick={() => void run()}
      >
        {!isBusy && <Play size={12} aria-hidden />}
        {result === null ? 'Try' : 'Again'}
        <span className="hidden-visually">: {item.title}</span>
      </Button>
      {(isBusy || shown !== '' || failure !== null) && (
        <div className={`try-result ${item.kind === 'speech' ? 'with-sound' : ''}`} aria-live="polite">
          {shown !== '' && <p className="try-text">{shown}</p>}
          {url !== null && <audio controls src={url} aria-label="Play again" className="sound" />}
          {failure !== null && <Failure error={failure} />}
          {result !== null && (
            <div className="step-foot">
              <State kind="ok">Done</State>
              <Credits value={result.cost} />
              <span>{formatDuration(result.ms)}</span>
              <span className="step-actions">
                {result.to !== null && <Link to={result.to}>See what happened</Link>}
                <Link to={item.more.to}>{item.more.word}</Link>
              </span>
            </div>
          )}
        </div>
      )}
    </li>
  )
}
