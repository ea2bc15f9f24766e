import { Mic, Square, TriangleAlert, Upload } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { DropFile } from '../../parts/drop-file.tsx'
import { LeaveQuestion } from '../../parts/leave-question.tsx'
import { State } from '../../parts/state.tsx'
import { useRecorder, type MicrophoneState } from './recorder.ts'

/** Where a sound comes from: the microphone, or a file. */
export function Source({
  onFile,
  onRecorded,
}: {
  onFile: (file: File) => void
  onRecorded: (file: File) => void
}) {
  const recorder = useRecorder(onRecorded)
  const { state } = recorder
  const isRecording = state.name === 'recording'
  return (
    <div className="stack tight">
      <DropFile
        label="Recording"
        inputLabel="Audio file"
        accept="audio/*,video/mp4,video/webm,.m4a,.ogg,.flac"
        onFile={onFile}
      >
        {(choose) => (
          <>
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
              <Button onClick={choose} disabled={isRecording}>
                <Upload size={14} aria-hidden />
                Choose a file
              </Button>
            </div>
            <div className="source-foot">
              {isRecording ? (
                <Level level={recorder.level} sinceMs={state.sinceMs} />
              ) : (
                <p>or drop a recording here</p>
              )}
            </div>
          </>
        )}
      </DropFile>
      <MicrophoneNote state={state} />
      <LeaveQuestion isOn={isRecording} title="Leave while it records?" verb="Leave without the recording">
        What was recorded so far is lost.
      </LeaveQuestion>
    </div>
  )
}

function Level({ level, sinceMs }: { level: number; sinceMs: number }) {
  const seconds = Math.floor((Date.now() - sinceMs) / 1000)
  const percent = Math.round(level * 100)
  return (
    <div className="level">
      <State kind="running">
        Recording {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
      </State>
      <div
        className="bar"
        role="meter"
        aria-label="Level"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${percent}%` }} />
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
