import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FileAudio, Mic, RotateCw, Square, TriangleAlert, Upload, X } from 'lucide-react'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { asFailure, type ApiFailure } from '../../api/failure.ts'
import { modelsQuery, useModels } from '../../api/models.ts'
import { apiUrl } from '../../api/place.ts'
import { useFilters } from '../../app/filters.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { CodeTabs } from '../../parts/code.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Switch, TextField } from '../../parts/fields.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { Empty, PageHead, Panel, Skeleton } from '../../parts/page.tsx'
import { useBlobUrl } from '../../parts/sound.tsx'
import { State } from '../../parts/state.tsx'
import { Credits } from '../../parts/values.tsx'
import { saveFile } from '../../values/download.ts'
import { transcriptionExamples } from '../../values/examples.ts'
import { formatBytes } from '../../values/money.ts'
import { toCues, toSrt, toVtt } from '../../values/subtitles.ts'
import { formatDuration } from '../../values/time.ts'
import { FollowedText, SpeakerNames, speakersOf } from './follow.tsx'
import { useRecorder, type MicrophoneState } from './recorder.ts'
import { transcribe, type Transcript, type TranscriptionOptions } from './transcript.ts'

type Progress =
  | { name: 'idle' }
  | { name: 'sending'; sent: number; total: number }
  | { name: 'failed'; failure: ApiFailure }
  | { name: 'done'; transcript: Transcript }

export function Page() {
  const models = useModels('transcription')
  const { error, refetch } = useQuery(modelsQuery)
  const [filters, setFilters] = useFilters()
  const [language, setLanguage] = useState('')
  const [keyterms, setKeyterms] = useState('')
  const [isDiarized, setDiarized] = useState(false)
  const [file, setFile] = useState<File | null>(null)
  const [progress, setProgress] = useState<Progress>({ name: 'idle' })
  const controller = useRef<AbortController | null>(null)
  const model =
    models?.find(({ id }) => id === filters['model']) ??
    models?.find(({ id }) => id.includes('whisper')) ??
    models?.[0]
  useEffect(() => () => controller.current?.abort(), [])

  const run = async (sound: File) => {
    if (model === undefined) return
    controller.current?.abort()
    const abort = new AbortController()
    controller.current = abort
    setProgress({ name: 'sending', sent: 0, total: sound.size })
    const options: TranscriptionOptions = { model: model.id, language: language.trim(), keyterms, isDiarized }
    try {
      const transcript = await transcribe(sound, options, {
        signal: abort.signal,
        onProgress: (sent, total) => setProgress({ name: 'sending', sent, total }),
      })
      setProgress({ name: 'done', transcript })
    } catch (failure) {
      setProgress(abort.signal.aborted ? { name: 'idle' } : { name: 'failed', failure: asFailure(failure) })
    }
  }
  const take = (sound: File) => {
    setFile(sound)
    void run(sound)
  }
  const recorder = useRecorder(take)
  if (models === undefined)
    return (
      <>
        <PageHead title="Transcription" />
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
      <PageHead title="Transcription" />
      <div className="split">
        <div className="split-main stack loose">
          {models.length === 0 ? (
            <Empty title="No model transcribes here">
              <p>Set the key of a provider with speech to text and start the gateway again.</p>
            </Empty>
          ) : (
            <>
              <Source recorder={recorder} onFile={take} />
              {file !== null && (
                <Sound
                  file={file}
                  progress={progress}
                  onAgain={() => void run(file)}
                  onStop={() => controller.current?.abort()}
                  onRemove={() => {
                    controller.current?.abort()
                    setFile(null)
                    setProgress({ name: 'idle' })
                  }}
                />
              )}
            </>
          )}
        </div>
        <aside className="split-side stack" aria-label="Settings">
          {model && (
            <div className="field">
              <span className="field-label">Model</span>
              <ModelPicker
                label="Model"
                models={models}
                value={model.id}
                onChange={(id) => setFilters({ model: id })}
              />
            </div>
          )}
          <TextField
            label="language"
            placeholder="found by the model"
            hint="Two letters, such as de."
            maxLength={2}
            value={language}
            onChange={(event) => setLanguage(event.target.value)}
          />
          <TextField
            label="keyterms"
            placeholder="Headrace, nanocredit"
            hint="Names and terms, separated by commas."
            value={keyterms}
            onChange={(event) => setKeyterms(event.target.value)}
          />
          <Switch label="diarize: who speaks" isOn={isDiarized} onChange={setDiarized} />
        </aside>
      </div>
    </>
  )
}

function Source({
  recorder,
  onFile,
}: {
  recorder: ReturnType<typeof useRecorder>
  onFile: (file: File) => void
}) {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const file = event.dataTransfer.files[0]
    if (file !== undefined) onFile(file)
  }
  const { state } = recorder
  const isRecording = state.name === 'recording'
  return (
    <div className="stack tight">
      <div
        className="drop"
        data-over={isOver}
        role="group"
        aria-label="Recording"
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <div className="row wrap">
          {isRecording ? (
            <Button kind="primary" onClick={recorder.stop}>
              <Square size={12} aria-hidden />
              Stop and transcribe
            </Button>
          ) : (
            <Button kind="primary" onClick={recorder.start} isBusy={state.name === 'asking'}>
              <Mic size={14} aria-hidden />
              Record
            </Button>
          )}
          <Button onClick={() => input.current?.click()} disabled={isRecording}>
            <Upload size={14} aria-hidden />
            Choose a file
          </Button>
        </div>
        <input
          ref={input}
          type="file"
          hidden
          accept="audio/*,video/mp4,video/webm,.m4a,.ogg,.flac"
          aria-label="Audio file"
          onChange={(event) => {
            const file = event.target.files?.[0]
            if (file !== undefined) onFile(file)
            event.target.value = ''
          }}
        />
        {isRecording ? (
          <Level level={recorder.level} sinceMs={state.sinceMs} />
        ) : (
          <p>or drop a recording here</p>
        )}
      </div>
      <MicrophoneNote state={state} />
    </div>
  )
}

function Level({ level, sinceMs }: { level: number; sinceMs: number }) {
  const seconds = Math.floor((Date.now() - sinceMs) / 1000)
  return (
    <div className="level">
      <State kind="running">
        Recording {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
      </State>
      <div
        className="bar"
        role="meter"
        aria-label="Level"
        aria-valuenow={Math.round(level * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${Math.round(level * 100)}%` }} />
      </div>
    </div>
  )
}

const notes: Readonly<Partial<Record<MicrophoneState['name'], string>>> = {
  insecure:
    'The browser gives the microphone only to pages of HTTPS or of this machine (localhost). Files can be dropped here as usual.',
  denied:
    'The microphone was refused. Allow it in the browser’s settings of this page, then press Record again. Files can be dropped here as usual.',
  absent: 'No microphone was found. Connect one and press Record again, or drop a file.',
}

function MicrophoneNote({ state }: { state: MicrophoneState }) {
  const text = state.name === 'broken' ? `The microphone failed: ${state.message}` : notes[state.name]
  if (text === undefined) return null
  return (
    <div className="note warn" role="alert">
      <TriangleAlert size={16} aria-hidden />
      <p>{text}</p>
    </div>
  )
}

function Sound({
  file,
  progress,
  onAgain,
  onStop,
  onRemove,
}: {
  file: File
  progress: Progress
  onAgain: () => void
  onStop: () => void
  onRemove: () => void
}) {
  const url = useBlobUrl(file)
  const [audio, setAudio] = useState<HTMLAudioElement | null>(null)
  return (
    <div className="stack">
      <div className="row sound-head">
        <FileAudio size={16} aria-hidden />
        <span className="cut">{file.name}</span>
        <span className="muted small">{formatBytes(file.size)}</span>
        <span className="grow" />
        {progress.name !== 'sending' && (
          <Button isCompact onClick={onAgain}>
            <RotateCw size={14} aria-hidden />
            {progress.name === 'failed' ? 'Send again' : 'Transcribe again'}
          </Button>
        )}
        <Button
          isCompact
          kind="quiet"
          onClick={() => saveFile(file, file.name)}
          aria-label="Download the recording"
        >
          Download
        </Button>
        <IconButton word="Remove the recording" onClick={onRemove}>
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      {/* The words below are its captions. */}
      {url !== null && (
        <audio ref={setAudio} controls src={url} aria-label="The recording" className="sound" />
      )}
      {progress.name === 'sending' && <Sending progress={progress} onStop={onStop} />}
      {progress.name === 'failed' && (
        <>
          <Failure error={progress.failure} onRetry={onAgain} />
          <p className="hint">The recording is kept here: send it again, or download it.</p>
        </>
      )}
      {progress.name === 'done' && (
        <TranscriptView transcript={progress.transcript} audio={audio} file={file} />
      )}
    </div>
  )
}

function Sending({ progress, onStop }: { progress: { sent: number; total: number }; onStop: () => void }) {
  const { sent, total } = progress
  const share = total === 0 ? 0 : sent / total
  const isSent = sent >= total && total > 0
  return (
    <div className="stack tight">
      <div className="row">
        <State kind="running">
          {isSent ? 'Sent; waiting for the words' : `Sending ${formatBytes(sent)} of ${formatBytes(total)}`}
        </State>
        <span className="grow" />
        <Button isCompact kind="quiet" onClick={onStop}>
          Stop
        </Button>
      </div>
      <div
        className="bar"
        role="progressbar"
        aria-label="Upload"
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}

function TranscriptView({
  transcript,
  audio,
  file,
}: {
  transcript: Transcript
  audio: HTMLAudioElement | null
  file: File
}) {
  const [names, setNames] = useState<Readonly<Record<string, string>>>({})
  const isWords = transcript.words.length > 0
  const pieces = isWords ? transcript.words : transcript.segments
  const speakers = speakersOf(pieces)
  const cues = isWords ? toCues(transcript.words) : transcript.segments
  const base = file.name.replace(/\.[^.]*$/, '')
  const save = (text: string, ending: string, type: string) =>
    saveFile(new Blob([text], { type }), `${base}.${ending}`)
  return (
    <Panel
      title="Transcript"
      actions={
        <>
          <CopyButton text={transcript.text} word="Copy the text" />
          <Button isCompact kind="quiet" onClick={() => save(transcript.text, 'txt', 'text/plain')}>
            TXT
          </Button>
          {cues.length > 0 && (
            <>
              <Button
                isCompact
                kind="quiet"
                onClick={() => save(toSrt(cues, names), 'srt', 'application/x-subrip')}
              >
                SRT
              </Button>
              <Button isCompact kind="quiet" onClick={() => save(toVtt(cues, names), 'vtt', 'text/vtt')}>
                VTT
              </Button>
            </>
          )}
        </>
      }
    >
      <div className="stack">
        {speakers.length > 0 && <SpeakerNames speakers={speakers} onChange={setNames} />}
        {pieces.length > 0 ? (
          <FollowedText pieces={pieces} audio={audio} names={names} isWords={isWords} />
        ) : (
          <p className="transcript-text">
            {transcript.text === '' ? 'No words were heard.' : transcript.text}
          </p>
        )}
        {transcript.without.length > 0 && (
          <p className="hint">This model does not give {transcript.without.join(', ')}.</p>
        )}
        <div className="step-foot">
          <Credits value={transcript.cost} />
          <span>{formatDuration(transcript.totalMs)}</span>
          {transcript.seconds !== null && <span>{transcript.seconds.toFixed(1)} s of sound</span>}
          {transcript.language !== null && <span>{transcript.language}</span>}
          {transcript.provider !== null && <span>{transcript.provider}</span>}
          <span className="grow" />
          {transcript.generationId !== null && (
            <Link to={`/requests/${transcript.generationId}`} className="small">
              Open in Requests
            </Link>
          )}
        </div>
        <CodeTabs examples={transcriptionExamples(apiUrl, transcript.fields, file.name)} />
      </div>
    </Panel>
  )
}
