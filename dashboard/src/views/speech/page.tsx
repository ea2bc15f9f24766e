import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { Code, Download, Play, Square, Volume2 } from 'lucide-react'
import { useState } from 'react'
import { modelsQuery, useModels } from '../../api/models.ts'
import { apiUrl } from '../../api/place.ts'
import { useFilters } from '../../app/filters.ts'
import { Button } from '../../parts/button.tsx'
import { CodeTabs } from '../../parts/code.tsx'
import { Failure } from '../../parts/failure.tsx'
import { SelectField, TextArea, TextField } from '../../parts/fields.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { Empty, PageHead, Skeleton } from '../../parts/page.tsx'
import { Peaks, useBlobUrl } from '../../parts/sound.tsx'
import { State } from '../../parts/state.tsx'
import { Credits } from '../../parts/values.tsx'
import { saveFile } from '../../values/download.ts'
import { speechExamples } from '../../values/examples.ts'
import { formatDuration, formatPosition } from '../../values/time.ts'
import { useSpeech, type Spoken } from './use-speech.ts'

const firstText = 'Water turns the wheel, and the wheel turns the mill.'

export function Page() {
  const models = useModels('speech')
  const { error, refetch } = useQuery(modelsQuery)
  const [filters, setFilters] = useFilters()
  const [text, setText] = useState(firstText)
  const [speed, setSpeed] = useState('')
  const player = useSpeech()
  const model =
    models?.find(({ id }) => id === filters['model']) ??
    models?.find(({ id }) => id.endsWith('tts-1')) ??
    models?.[0]
  const voices = model?.supported_voices ?? []
  const voice = filters['voice'] ?? voices[0] ?? ''
  const isSpeedWrong = speed !== '' && !(Number(speed) > 0)
  const speak = (spokenVoice: string) => {
    if (model === undefined || text.trim() === '' || isSpeedWrong) return
    player.speak({
      model: model.id,
      input: text,
      ...(spokenVoice === '' ? {} : { voice: spokenVoice }),
      response_format: 'pcm',
      ...(speed === '' ? {} : { speed: Number(speed) }),
    })
  }
  if (models === undefined)
    return (
      <>
        <PageHead title="Speech" />
        <div className="page-body">
          {error === null ? (
            <Skeleton height={240} />
          ) : (
            <Failure error={error} onRetry={() => void refetch()} />
          )}
        </div>
      </>
    )
  return (
    <>
      <PageHead title="Speech" />
      <div className="split">
        <div className="split-main stack loose">
          {models.length === 0 ? (
            <Empty title="No model speaks here">
              <p>Set the key of a provider with text to speech and start the gateway again.</p>
            </Empty>
          ) : (
            <>
              <div className="stack tight">
                <TextArea
                  label="Text"
                  rows={4}
                  value={text}
                  onChange={(event) => setText(event.target.value)}
                  onKeyDown={(event) => {
                    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) speak(voice)
                  }}
                />
                <div className="row">
                  <span className="hint grow">{[...text].length.toLocaleString('en-US')} characters</span>
                  {player.isBusy && (
                    <Button onClick={player.stop}>
                      <Square size={12} aria-hidden />
                      Stop
                    </Button>
                  )}
                  <Button
                    kind="primary"
                    disabled={text.trim() === '' || isSpeedWrong || (voice === '' && voices.length > 0)}
                    onClick={() => speak(voice)}
                  >
                    <Volume2 size={14} aria-hidden />
                    Speak
                  </Button>
                </div>
              </div>
              <ol className="spoken-list" aria-label="Spoken">
                {player.spoken.map((one) => (
                  <SpokenView key={one.id} spoken={one} />
                ))}
              </ol>
            </>
          )}
        </div>
        <aside className="split-side stack" aria-label="Settings">
          {model && (
            <>
              <div className="field">
                <span className="field-label">Model</span>
                <ModelPicker
                  label="Model"
                  models={models}
                  value={model.id}
                  onChange={(id) => setFilters({ model: id, voice: null })}
                />
              </div>
              {voices.length === 0 ? (
                <TextField
                  label="voice"
                  hint="The provider publishes no list; leave it empty where the model’s name has the voice."
                  value={voice}
                  onChange={(event) => setFilters({ voice: event.target.value })}
                />
              ) : (
                <SelectField
                  label="voice"
                  value={voice}
                  onChange={(value) => setFilters({ voice: value })}
                  choices={voices.map((value) => ({ value, label: value }))}
                />
              )}
              <TextField
                label="speed"
                inputMode="decimal"
                placeholder="1"
                hint="What a provider does not take is refused with its range."
                value={speed}
                wrong={isSpeedWrong ? 'A number above 0, such as 1.25.' : null}
                onChange={(event) => setSpeed(event.target.value.trim())}
              />
              {voices.length > 1 && (
                <div className="stack tight">
                  <span className="field-label">Hear every voice</span>
                  <ul className="voices">
                    {voices.map((value) => (
                      <li key={value}>
                        <Button
                          isCompact
                          kind="quiet"
                          aria-label={`Speak with ${value}`}
                          disabled={text.trim() === ''}
                          onClick={() => speak(value)}
                        >
                          <Play size={12} aria-hidden />
                          {value}
                        </Button>
                      </li>
                    ))}
                  </ul>
                </div>
              )}
            </>
          )}
        </aside>
      </div>
    </>
  )
}

function SpokenView({ spoken }: { spoken: Spoken }) {
  const [isCodeShown, setCodeShown] = useState(false)
  const url = useBlobUrl(spoken.file)
  const { body, state } = spoken
  const name = `speech-${String(body['voice'] ?? 'voice')}.wav`
  return (
    <li className="spoken">
      <div className="row">
        <b>{String(body['voice'] ?? 'voice of the model')}</b>
        <span className="muted cut">{String(body['model'])}</span>
        <span className="grow" />
        {state === 'waiting' && <State kind="running">Waiting for the first byte</State>}
        {state === 'arriving' && <State kind="running">Playing while it arrives</State>}
        {state === 'stopped' && <State kind="ended">Stopped</State>}
      </div>
      <p className="muted cut">{String(body['input'])}</p>
      {spoken.failure !== null && <Failure error={spoken.failure} />}
      {spoken.peaks.length > 0 && (
        <Peaks peaks={spoken.peaks} label={`Sound of ${formatPosition(spoken.seconds)}`} />
      )}
      {url !== null && state !== 'arriving' && (
        // Speech has no captions: its text stands above it.
        <audio controls src={url} aria-label={`Play again: ${String(body['voice'] ?? '')}`} />
      )}
      <div className="step-foot">
        {spoken.cost !== null && <Credits value={spoken.cost} />}
        {spoken.firstSoundMs !== null && (
          <span title="from the click to the first sound">
            first sound {formatDuration(spoken.firstSoundMs)}
          </span>
        )}
        {spoken.totalMs !== null && <span>all of it {formatDuration(spoken.totalMs)}</span>}
        {spoken.seconds > 0 && <span>{spoken.seconds.toFixed(1)} s of sound</span>}
        {spoken.provider !== null && <span>{spoken.provider}</span>}
        <span className="grow" />
        {spoken.file !== null && state !== 'arriving' && (
          <button
            type="button"
            className="copy"
            aria-label="Download as WAV"
            title="Download as WAV"
            onClick={() => spoken.file && saveFile(spoken.file, name)}
          >
            <Download size={14} aria-hidden />
          </button>
        )}
        <button
          type="button"
          className="copy"
          aria-label="Show the code"
          title="Show the code"
          aria-expanded={isCodeShown}
          onClick={() => setCodeShown(!isCodeShown)}
        >
          <Code size={14} aria-hidden />
        </button>
        {spoken.generationId !== null && (
          <Link to={`/requests/${spoken.generationId}`} className="small">
            Open in Requests
          </Link>
        )}
      </div>
      {isCodeShown && (
        <CodeTabs examples={speechExamples(apiUrl, { ...body, response_format: 'mp3' }, 'speech.mp3')} />
      )}
    </li>
  )
}
