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

/** The browser hands over a piece of the recording this often, instead of keeping all of it for the end. */
const pieceMs = 1000

export interface Recorder {
  state: MicrophoneState
  /** How loud it is now, 0 to 1. */
  level: number
  start: () => void
  stop: () => void
}

/** A recording that runs. */
interface Running {
  recorder: MediaRecorder
  /** Lets the microphone go. */
  end: () => void
}

/**
 * Records from the microphone and hands the sound over as a file when it ends: by the button, or because the microphone
 * is gone. A page that is left keeps nothing and sends nothing.
 */
export function useRecorder(onRecorded: (file: File) => void): Recorder {
  const [state, setState] = useState<MicrophoneState>({ name: 'idle' })
  const [level, setLevel] = useState(0)
  const running = useRef<Running | null>(null)
  const isGone = useRef(false)
  const latest = useRef(onRecorded)
  latest.current = onRecorded
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
      running.current?.end()
      running.current = null
    }
  }, [])
  const start = async () => {
    const media: MediaDevices | undefined = navigator.mediaDevices
    if (!window.isSecureContext || media === undefined) {
      setState({ name: 'insecure' })
      return
    }
    setState({ name: 'asking' })
    try {
      const stream = await media.getUserMedia({ audio: true })
      if (isGone.current) return endTracks(stream)
      running.current = record(stream, {
        onLevel: setLevel,
        onEnd(file) {
          if (isGone.current) return
          setState({ name: 'idle' })
          setLevel(0)
          if (file !== null) latest.current(file)
        },
      })
      setState({ name: 'recording', sinceMs: Date.now() })
    } catch (error) {
      setState(refusalOf(error))
    }
  }
  const stop = () => {
    const recorder = running.current?.recorder
    if (recorder?.state === 'recording') recorder.stop()
  }
  return { state, level, start: () => void start(), stop }
}

function record(
  stream: MediaStream,
  given: { onLevel: (level: number) => void; onEnd: (file: File | null) => void },
): Running {
  const type = wantedTypes.find((one) => MediaRecorder.isTypeSupported(one))
  const recorder = new MediaRecorder(stream, type === undefined ? {} : { mimeType: type })
  const endMeter = meter(stream, given.onLevel)
  const end = () => {
    endMeter()
    endTracks(stream)
  }
  const pieces: Blob[] = []
  recorder.ondataavailable = ({ data }) => data.size > 0 && pieces.push(data)
  recorder.onstop = () => {
    end()
    given.onEnd(pieces.length > 0 ? toFile(pieces, recorder.mimeType) : null)
  }
  recorder.start(pieceMs)
  return { recorder, end }
}

function endTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
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

/** Tells the level about twelve times a second; a function that ends it, once. */
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
    if (context.state !== 'closed') void context.close()
  }
}
