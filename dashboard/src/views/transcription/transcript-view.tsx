import { useState } from 'react'
import { apiUrl } from '../../api/place.ts'
import { Button } from '../../parts/button.tsx'
import { CallFoot } from '../../parts/call-foot.tsx'
import { CodeTabs } from '../../parts/code.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Panel } from '../../parts/page.tsx'
import { saveFile } from '../../values/download.ts'
import { transcriptionExamples } from '../../values/examples.ts'
import { toCues, toSrt, toVtt } from '../../values/subtitles.ts'
import { FollowedText, speakerName, SpeakerNames, speakersOf } from './follow.tsx'
import type { Transcript } from './transcript.ts'

/** What was said, with its times; the words follow the sound. */
export function TranscriptView({
  transcript,
  audio,
  file,
}: {
  transcript: Transcript
  audio: HTMLAudioElement | null
  file: File
}) {
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({})
  const { text, words, segments, without, dropped, seconds, language } = transcript
  const isWords = words.length > 0
  const pieces = isWords ? words : segments
  const speakers = speakersOf(pieces)
  const names = Object.fromEntries(speakers.map((one) => [one, given[one] ?? speakerName(one)]))
  return (
    <Panel title="Transcript" actions={<Files transcript={transcript} names={names} name={file.name} />}>
      <div className="stack">
        {speakers.length > 0 && <SpeakerNames speakers={speakers} onChange={setGiven} />}
        {pieces.length > 0 ? (
          <FollowedText pieces={pieces} audio={audio} names={names} isWords={isWords} />
        ) : (
          <p className="transcript-text">{text === '' ? 'No words were heard.' : text}</p>
        )}
        {without.length > 0 && <p className="hint">This model does not give {without.join(', ')}.</p>}
        {dropped.length > 0 && <p className="hint">This model does not take {dropped.join(', ')}.</p>}
        <CallFoot call={{ ...transcript, id: transcript.generationId }}>
          {seconds !== null && <span>{seconds.toFixed(1)} s of sound</span>}
          {language !== null && <span>{language}</span>}
        </CallFoot>
        <CodeTabs examples={transcriptionExamples(apiUrl, transcript.fields, file.name)} />
      </div>
    </Panel>
  )
}

/** The text and its subtitles as files. */
function Files({
  transcript: { text, words, segments },
  names,
  name,
}: {
  transcript: Transcript
  names: Readonly<Record<string, string>>
  name: string
}) {
  const cues = words.length > 0 ? toCues(words) : segments
  const base = name.replace(/\.[^.]*$/, '')
  const forms = [
    { ending: 'txt', type: 'text/plain', make: () => text },
    ...(cues.length === 0
      ? []
      : [
          { ending: 'srt', type: 'application/x-subrip', make: () => toSrt(cues, names) },
          { ending: 'vtt', type: 'text/vtt', make: () => toVtt(cues, names) },
        ]),
  ]
  return (
    <>
      <CopyButton text={text} word="Copy the text" />
      {forms.map(({ ending, type, make }) => (
        <Button
          key={ending}
          isCompact
          kind="quiet"
          onClick={() => saveFile(new Blob([make()], { type }), `${base}.${ending}`)}
        >
          {ending.toUpperCase()}
        </Button>
      ))}
    </>
  )
}
