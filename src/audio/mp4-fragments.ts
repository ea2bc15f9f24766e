import type { BoundedBlob } from './bounded-blob.ts'
import { boxesIn, contentOf, numberAt, type Box } from './mp4-boxes.ts'

/** The facts about an audio track, including those of its fragments. */
export interface SoundTrack {
  id: number
  /** Units per second. */
  scale: number
  /** The length from the tables of times. */
  units: number
  samples: number
  /** The duration of every sample, when the codec fixes it; 0 when a table must state it. */
  sampleSeconds: number
  /** The duration, in the track's units, of a sample whose fragment states none. */
  defaultUnits: number
}

/** Adds the contents of one fragment of the file to its tracks. */
export async function addFragment(
  blob: BoundedBlob,
  fragment: Box,
  tracks: readonly SoundTrack[],
): Promise<void> {
  for await (const part of boxesIn(blob, fragment, 'traf')) {
    let track: SoundTrack | undefined
    let defaultUnits = 0
    for await (const box of boxesIn(blob, part)) {
      if (box.type === 'tfhd') {
        const head = await contentOf(blob, box, 24)
        track = tracks.find(({ id }) => id === numberAt(head, 4))
        defaultUnits = ownDefault(head) ?? track?.defaultUnits ?? 0
      }
      if (box.type === 'trun' && track !== undefined) await addRun(blob, box, { track, defaultUnits })
    }
  }
}

/**
 * The fields after the flags and the track are optional: the start of the data, its description, and the duration of
 * samples.
 */
function ownDefault(head: Buffer): number | null {
  const flags = numberAt(head, 0)
  if ((flags & 8) === 0) return null
  return numberAt(head, 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0))
}

async function addRun(
  blob: BoundedBlob,
  run: Box,
  { track, defaultUnits }: { track: SoundTrack; defaultUnits: number },
): Promise<void> {
  const head = await contentOf(blob, run, 8)
  const flags = numberAt(head, 0)
  const count = numberAt(head, 4)
  track.samples += count
  if ((flags & ownUnits) === 0) {
    track.units += count * defaultUnits
    return
  }
  const entryBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length
  const first = run.start + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0)
  const end = Math.min(run.end, first + count * entryBytes)
  for (let at = first; at < end; at += entryBytes * runReadEntries) {
    const entries = Buffer.from(await blob.read(at, Math.min(end, at + entryBytes * runReadEntries)))
    for (let entry = 0; entry + 4 <= entries.length; entry += entryBytes)
      track.units += entries.readUInt32BE(entry)
  }
}

/** Each sample states its own duration. */
const ownUnits = 0x100
const runReadEntries = 1_024
