import { useEffect, useRef, useState } from 'react'

export type MicrophoneState =
  | { name: 'idle' }
  | { name: 'asking' }
  | { name: 'recording'; sinceMs: number }
  /** No page of plain HTTP gets a microphone, except on this machine. */
  | { name: 'insecure' }
  | { name: 'denied' }
  | { name: 'absent' }
  | { name: 'broken'; message: string }

// Safari's WebM has no duration and plays nowhere else, so MP4 comes first.
const wantedTypes = ['audio/mp4', 'audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/webm']

/** Pieces of a recording come this often, so that a crash of the page's tab loses little. */
const pieceMs = 1000

export interface Recorder {
  state: MicrophoneState
  /** How loud it is now, 0 to 1. */
  level: number
  start: () => void
  stop: () => void
}

/** Records from the microphone and hands the sound over as a file when it ends, however it ends. */
export function useRecorder(onRecorded: (file: File) => void): Recorder {
  const [state, setState] = useState<MicrophoneState>({ name: 'idle' })
  const [level, setLevel] = useState(0)
  const recorder = useRef<MediaRecorder | null>(null)
  const cleanUp = useRef<() => void>(() => undefined)
  useEffect(
    () => () => {
      recorder.current?.stop()
      cleanUp.current()
    },
    [],
  )
  const start = async () => {
    const media: MediaDevices | undefined = navigator.mediaDevices
    if (!window.isSecureContext || media === undefined) {
      setState({ name: 'insecure' })
      return
    }
    setState({ name: 'asking' })
    try {
      const stream = await media.getUserMedia({ audio: true })
      const type = wantedTypes.find((one) => MediaRecorder.isTypeSupported(one))
      const started = new MediaRecorder(stream, type === undefined ? {} : { mimeType: type })
      const pieces: Blob[] = []
      started.ondataavailable = ({ data }) => data.size > 0 && pieces.push(data)
      started.onstop = () => {
        cleanUp.current()
        setState({ name: 'idle' })
        setLevel(0)
        if (pieces.length > 0) onRecorded(toFile(pieces, started.mimeType))
      }
      const stopMeter = meter(stream, setLevel)
      cleanUp.current = () => {
        stopMeter()
        for (const track of stream.getTracks()) track.stop()
        cleanUp.current = () => undefined
      }
      recorder.current = started
      started.start(pieceMs)
      setState({ name: 'recording', sinceMs: Date.now() })
    } catch (error) {
      setState(refusalOf(error))
    }
  }
  return {
    state,
    level,
    start: () => void start(),
    stop: () => recorder.current?.state === 'recording' && recorder.current.stop(),
  }
}

function refusalOf(error: unknown): MicrophoneState {
  const name = error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'SecurityError') return { name: 'denied' }
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return { name: 'absent' }
  return { name: 'broken', message: error instanceof Error ? error.message : String(error) }
}

function toFile(pieces: readonly Blob[], type: string): File {
  const bare = type.split(';')[0] ?? ''
  const ending = bare.includes('mp4') ? 'm4a' : (bare.split('/')[1] ?? 'webm')
  return new File([...pieces], `recording.${ending}`, { type: bare })
}

/** Tells the level about twelve times a second; a function that ends it. */
function meter(stream: MediaStream, onLevel: (level: number) => void): () => void {
  const context = new AudioContext()
  const analyser = context.createAnalyser()
  analyser.fftSize = 512
  context.createMediaStreamSource(stream).connect(analyser)
  const samples = new Float32Array(analyser.fftSize)
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples)
    onLevel(
      Math.min(
        1,
        samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0),
      ),
    )
  }, 80)
  return () => {
    clearInterval(timer)
    void context.close()
  }
}
