import { Download, Play, Square, Volume2 } from 'lucide-react'
import { useState } from 'react'
import { apiUrl } from '../../api/place.ts'
import { useFilters } from '../../app/filters.ts'
import { Button } from '../../parts/button.tsx'
import { CallFoot } from '../../parts/call-foot.tsx'
import { Failure } from '../../parts/failure.tsx'
import { SelectField, TextArea, TextField } from '../../parts/fields.tsx'
import { Playground, useModelChoice } from '../../parts/playground.tsx'
import { Peaks, useBlobUrl } from '../../parts/sound.tsx'
import { State } from '../../parts/state.tsx'
import { saveFile } from '../../values/download.ts'
import { speechExamples } from '../../values/examples.ts'
import { formatCount } from '../../values/money.ts'
import { formatDuration, formatPosition } from '../../values/time.ts'
import { useSpeech, type Spoken } from './use-speech.ts'

const firstText = 'Water turns the wheel, and the wheel turns the mill.'

const none = {
  title: 'No model speaks here',
  words: 'Set the key of a provider with text to speech and start the gateway again.',
}

export function Page() {
  const choice = useModelChoice('speech', (id) => id.endsWith('tts-1'))
  const [filters, setFilters] = useFilters()
  const [text, setText] = useState(firstText)
  const [speed, setSpeed] = useState('')
  const player = useSpeech()
  const { model } = choice
  const voices = model?.supported_voices ?? []
  const voice = filters['voice'] ?? voices[0] ?? ''
  const isSpeedWrong = speed !== '' && !(Number(speed) > 0)
  const isBlocked = text.trim() === '' || isSpeedWrong
  const speak = (spokenVoice: string) => {
    if (model === undefined || isBlocked) return
    player.speak({
      model: model.id,
      input: text,
      ...(spokenVoice === '' ? {} : { voice: spokenVoice }),
      response_format: 'pcm',
      ...(speed === '' ? {} : { speed: Number(speed) }),
    })
  }
  return (
    <Playground
      title="Speech"
      choice={choice}
      none={none}
      settings={
        <>
          <VoiceField voices={voices} voice={voice} onChange={(value) => setFilters({ voice: value })} />
          <TextField
            label="speed"
            inputMode="decimal"
            placeholder="1"
            hint="What a provider does not take is refused with its range."
            value={speed}
            wrong={isSpeedWrong ? 'A number above 0, such as 1.25.' : null}
            onChange={(event) => setSpeed(event.target.value.trim())}
          />
          {voices.length > 1 && <Voices voices={voices} isBlocked={isBlocked} onSpeak={speak} />}
        </>
      }
    >
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
          <span className="hint grow">{formatCount([...text].length)} characters</span>
          {player.isBusy && (
            <Button onClick={player.stop}>
              <Square size={12} aria-hidden />
              Stop
            </Button>
          )}
          <Button kind="primary" disabled={isBlocked} onClick={() => speak(voice)}>
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
    </Playground>
  )
}

function VoiceField({
  voices,
  voice,
  onChange,
}: {
  voices: readonly string[]
  voice: string
  onChange: (voice: string) => void
}) {
  if (voices.length === 0)
    return (
      <TextField
        label="voice"
        hint="The provider publishes no list; leave it empty where the model’s name has the voice."
        value={voice}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  return (
    <SelectField
      label="voice"
      value={voice}
      onChange={onChange}
      choices={voices.map((value) => ({ value, label: value }))}
    />
  )
}

function Voices({
  voices,
  isBlocked,
  onSpeak,
}: {
  voices: readonly string[]
  isBlocked: boolean
  onSpeak: (voice: string) => void
}) {
  return (
    <div className="stack tight">
      <span className="field-label">Hear every voice</span>
      <ul className="voices">
        {voices.map((voice) => (
          <li key={voice}>
            <Button
              isCompact
              kind="quiet"
              aria-label={`Speak with ${voice}`}
              disabled={isBlocked}
              onClick={() => onSpeak(voice)}
            >
              <Play size={12} aria-hidden />
              {voice}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}

function SpokenView({ spoken }: { spoken: Spoken }) {
  const url = useBlobUrl(spoken.file)
  const { body, state } = spoken
  const voice = body.voice ?? 'voice of the model'
  const isWhole = spoken.file !== null && state !== 'arriving'
  const examples = () => speechExamples(apiUrl, { ...body, response_format: 'mp3' }, 'speech.mp3')
  return (
    <li className="spoken">
      <div className="row">
        <b>{voice}</b>
        <span className="muted cut">{body.model}</span>
        <span className="grow" />
        <SpokenState state={state} />
      </div>
      <p className="muted cut">{body.input}</p>
      {spoken.failure !== null && <Failure error={spoken.failure} />}
      {(spoken.failure === null || spoken.file !== null) && (
        <div className="spoken-sound">
          {spoken.peaks.length > 0 && (
            <Peaks peaks={spoken.peaks} label={`Sound of ${formatPosition(spoken.seconds)}`} />
          )}
          {url !== null && isWhole && (
            // Speech has no captions: its text stands above it.
            <audio controls src={url} aria-label={`Play again: ${voice}`} />
          )}
        </div>
      )}
      <CallFoot
        call={{ ...spoken, id: spoken.generationId }}
        examples={examples}
        actions={isWhole && <SaveSound spoken={spoken} />}
      >
        {spoken.firstSoundMs !== null && (
          <span title="from the click to the first sound">
            first sound {formatDuration(spoken.firstSoundMs)}
          </span>
        )}
        {spoken.seconds > 0 && <span>{spoken.seconds.toFixed(1)} s of sound</span>}
      </CallFoot>
    </li>
  )
}

function SpokenState({ state }: Pick<Spoken, 'state'>) {
  if (state === 'waiting') return <State kind="running">Waiting for the first byte</State>
  if (state === 'arriving') return <State kind="running">Playing while it arrives</State>
  if (state === 'stopped') return <State kind="ended">Stopped</State>
  return null
}

function SaveSound({ spoken: { file, body } }: { spoken: Spoken }) {
  return (
    <button
      type="button"
      className="copy"
      aria-label="Download as WAV"
      title="Download as WAV"
      onClick={() => file && saveFile(file, `speech-${body.voice ?? 'voice'}.wav`)}
    >
      <Download size={14} aria-hidden />
    </button>
  )
}
