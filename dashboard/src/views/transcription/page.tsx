import { Download, FileAudio, RotateCw, X } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Switch, TextField } from '../../parts/fields.tsx'
import { LeaveQuestion } from '../../parts/leave-question.tsx'
import { Playground, useModelChoice } from '../../parts/playground.tsx'
import { Progress } from '../../parts/progress.tsx'
import { useBlobUrl } from '../../parts/sound.tsx'
import { saveFile } from '../../values/download.ts'
import { formatBytes } from '../../values/money.ts'
import { Source } from './source.tsx'
import { TranscriptView } from './transcript-view.tsx'
import { useTranscription, type Sound, type Transcription } from './use-transcription.ts'

const none = {
  title: 'No model transcribes here',
  words: 'Set the key of a provider with speech to text and start the gateway again.',
}

export function Page() {
  const choice = useModelChoice('transcription', (id) => id.includes('whisper'))
  const [language, setLanguage] = useState('')
  const [keyterms, setKeyterms] = useState('')
  const [isDiarized, setDiarized] = useState(false)
  const { model } = choice
  const transcription = useTranscription(
    model === undefined ? null : { model: model.id, language: language.trim(), keyterms, isDiarized },
  )
  const { sound, step } = transcription
  return (
    <Playground
      title="Transcription"
      choice={choice}
      none={none}
      settings={
        <>
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
        </>
      }
    >
      <Source
        onFile={(file) => transcription.take({ file, isRecording: false })}
        onRecorded={(file) => transcription.take({ file, isRecording: true })}
      />
      {sound !== null && <SoundView sound={sound} transcription={transcription} />}
      <LeaveQuestion
        isOn={sound?.isRecording === true && step.name !== 'done'}
        title="Leave the recording?"
        verb="Leave without it"
      >
        It is kept on this page alone and has no transcript yet. Download it first, or send it again.
      </LeaveQuestion>
    </Playground>
  )
}

function SoundView({ sound, transcription }: { sound: Sound; transcription: Transcription }) {
  const { file, isRecording } = sound
  const { step } = transcription
  const url = useBlobUrl(file)
  const [audio, setAudio] = useState<HTMLAudioElement | null>(null)
  return (
    <div className="stack">
      <div className="row sound-head">
        <FileAudio size={16} aria-hidden />
        <span className="cut">{file.name}</span>
        <span className="muted small">{formatBytes(file.size)}</span>
        <span className="grow" />
        <Button isCompact disabled={step.name === 'sending'} onClick={transcription.again}>
          <RotateCw size={14} aria-hidden />
          Send again
        </Button>
        <IconButton word="Download the recording" onClick={() => saveFile(file, file.name)}>
          <Download size={14} aria-hidden />
        </IconButton>
        <IconButton word="Remove the recording" onClick={transcription.remove}>
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      {/* The words below are its captions. */}
      {url !== null && (
        <audio ref={setAudio} controls src={url} aria-label="The recording" className="sound" />
      )}
      {step.name === 'sending' && (
        <Progress
          label="Upload"
          words={
            step.sent >= step.total && step.total > 0
              ? 'Sent; waiting for the words'
              : `Sending ${formatBytes(step.sent)} of ${formatBytes(step.total)}`
          }
          done={step.sent}
          total={step.total}
          onStop={transcription.stop}
        />
      )}
      {step.name === 'failed' && (
        <>
          <Failure error={step.failure} />
          <p className="hint">
            {isRecording ? 'The recording is kept here' : 'The file stays here'}: send it again, or download
            it.
          </p>
        </>
      )}
      {step.name === 'done' && <TranscriptView transcript={step.transcript} audio={audio} file={file} />}
    </div>
  )
}
