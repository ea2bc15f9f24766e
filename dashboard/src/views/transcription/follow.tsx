import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { TextField } from '../../parts/fields.tsx'
import { pieceAt, type TimedText } from '../../values/subtitles.ts'
import { formatPosition } from '../../values/time.ts'

/** The text of a recording; what sounds is marked, and a click goes to its place. */
export function FollowedText({
  pieces,
  audio,
  names,
  isWords,
}: {
  pieces: readonly TimedText[]
  audio: HTMLAudioElement | null
  names: Readonly<Record<string, string>>
  isWords: boolean
}) {
  const list = useRef<HTMLDivElement>(null)
  useFollow(audio, list, pieces)
  const seek = (seconds: number) => {
    if (audio === null) return
    audio.currentTime = seconds
    void audio.play().catch(() => undefined)
  }
  return (
    <div
      ref={list}
      className={isWords ? 'words' : 'words sentences'}
      role="group"
      aria-label="What was said; arrow keys go from word to word"
    >
      {turnsOf(pieces).map((turn) => (
        <p key={turn.from} className="speaker-turn">
          {turn.speaker !== null && (
            <span className="speaker" data-series={turn.series}>
              {names[turn.speaker]}
            </span>
          )}
          {turn.pieces.map((piece, index) => (
            <button
              key={turn.from + index}
              type="button"
              className="said"
              data-piece={turn.from + index}
              tabIndex={turn.from + index === 0 ? 0 : -1}
              title={formatPosition(piece.start)}
              onKeyDown={goOn}
              onClick={() => seek(piece.start)}
            >
              {piece.text.trim()}
            </button>
          ))}
        </p>
      ))}
    </div>
  )
}

/** One word is in the order of Tab, so that thousands are no obstacle; the arrows take the place from word to word. */
function goOn(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  const word = event.currentTarget
  const next = word
    .closest('.words')
    ?.querySelector<HTMLElement>(`[data-piece="${Number(word.dataset['piece']) + (step ?? 0)}"]`)
  if (step === undefined || next === null || next === undefined) return
  event.preventDefault()
  word.tabIndex = -1
  next.tabIndex = 0
  next.focus()
}

/**
 * Marks the piece that sounds, in every frame while it plays. The mark is set on the element itself: React would draw
 * thousands of words again for each.
 */
function useFollow(
  audio: HTMLAudioElement | null,
  list: React.RefObject<HTMLDivElement | null>,
  pieces: readonly TimedText[],
): void {
  useEffect(() => {
    if (audio === null) return
    let frame = 0
    let marked = -1
    const mark = () => {
      // One loop, whatever began it.
      cancelAnimationFrame(frame)
      const isOver = audio.ended || (audio.paused && audio.currentTime === 0)
      const index = isOver ? -1 : pieceAt(pieces, audio.currentTime)
      if (index !== marked) {
        const find = (place: number) => list.current?.querySelector(`[data-piece="${place}"]`)
        find(marked)?.removeAttribute('data-sounding')
        const element = find(index)
        element?.setAttribute('data-sounding', 'true')
        element?.scrollIntoView({ block: 'nearest' })
        marked = index
      }
      if (!audio.paused) frame = requestAnimationFrame(mark)
    }
    const events = ['play', 'pause', 'seeked', 'timeupdate', 'ended'] as const
    for (const name of events) audio.addEventListener(name, mark)
    return () => {
      cancelAnimationFrame(frame)
      for (const name of events) audio.removeEventListener(name, mark)
    }
  }, [audio, list, pieces])
}

interface SpeakerTurn {
  from: number
  speaker: string | null
  series: number
  pieces: TimedText[]
}

function turnsOf(pieces: readonly TimedText[]): SpeakerTurn[] {
  const speakers = speakersOf(pieces)
  const turns: SpeakerTurn[] = []
  for (const [index, piece] of pieces.entries()) {
    const last = turns.at(-1)
    if (last !== undefined && last.speaker === piece.speaker) last.pieces.push(piece)
    else {
      const series = piece.speaker === null ? 0 : (speakers.indexOf(piece.speaker) % 8) + 1
      turns.push({ from: index, speaker: piece.speaker, series, pieces: [piece] })
    }
  }
  return turns
}

export function speakersOf(pieces: readonly TimedText[]): string[] {
  return [...new Set(pieces.flatMap(({ speaker }) => (speaker === null ? [] : [speaker])))]
}

/** A label of a letter or a number, as most providers give it, is no name. */
export function speakerName(speaker: string): string {
  return /^\w{1,2}$/.test(speaker) ? `Speaker ${speaker}` : speaker
}

export function SpeakerNames({
  speakers,
  onChange,
}: {
  speakers: readonly string[]
  onChange: (names: Readonly<Record<string, string>>) => void
}) {
  const [names, setNames] = useState<Readonly<Record<string, string>>>({})
  return (
    <div className="row wrap speaker-names">
      {speakers.map((speaker) => (
        <TextField
          key={speaker}
          label={`Name of ${speakerName(speaker)}`}
          placeholder={speakerName(speaker)}
          value={names[speaker] ?? ''}
          onChange={(event) => {
            const next = { ...names, [speaker]: event.target.value }
            setNames(next)
            onChange(Object.fromEntries(Object.entries(next).filter(([, name]) => name.trim() !== '')))
          }}
        />
      ))}
    </div>
  )
}
