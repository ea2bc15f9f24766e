import { durationTracksMax, durationWalkBytesMax } from '../core/limits/audio.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { boxesIn, contentOf, numberAt, type Box } from './mp4-boxes.ts'
import { readSampleSeconds } from './mp4-codec.ts'
import { addFragment, type SoundTrack } from './mp4-fragments.ts'

/**
 * Seconds of the longest audio track of a QuickTime or MP4 file, whole or in fragments. The number of its samples
 * counts, because every decoder needs it; otherwise the table of their times. The header's total does not count, and a
 * truncated file is as long as its rest. Null when no track has audio.
 */
export async function measureMp4(blob: BoundedBlob): Promise<number | null> {
  const tracks: SoundTrack[] = []
  let mediaBytes = 0
  let missingBytes = 0
  let walked = blob.size
  for await (const box of boxesIn(blob, { start: 0, end: blob.size })) {
    if (box.type === 'moov' && tracks.length < durationTracksMax)
      tracks.push(...(await soundTracks(blob, box)))
    if (box.type === 'mdat') {
      mediaBytes += Math.max(0, box.end - box.start)
      missingBytes += box.missing
    }
    if (box.type !== 'moof') continue
    // The walk ended at its bound; the rest of the file is assumed to be like the part before.
    if (box.start > durationWalkBytesMax) {
      walked = box.start
      break
    }
    await addFragment(blob, box, tracks)
  }
  const longest = Math.max(0, ...tracks.map(secondsOf))
  if (longest === 0) return null
  const there = missingBytes > 0 ? mediaBytes / (mediaBytes + missingBytes) : 1
  return longest * there * (blob.size / walked)
}

function secondsOf({ units, scale, samples, sampleSeconds }: SoundTrack): number {
  return Math.max(scale > 0 ? units / scale : 0, samples * sampleSeconds)
}

async function soundTracks(blob: BoundedBlob, movie: Box): Promise<SoundTrack[]> {
  const tracks: SoundTrack[] = []
  for await (const box of boxesIn(blob, movie, 'trak')) {
    const track = await readTrack(blob, box)
    if (track !== null) tracks.push(track)
    if (tracks.length === durationTracksMax) break
  }
  for await (const extended of boxesIn(blob, movie, 'mvex')) {
    for await (const box of boxesIn(blob, extended, 'trex')) {
      const content = await contentOf(blob, box, 16)
      const track = tracks.find(({ id }) => id === numberAt(content, 4))
      if (track !== undefined) track.defaultUnits = numberAt(content, 12)
    }
  }
  return tracks
}

/** Null for a track without audio. */
async function readTrack(blob: BoundedBlob, within: Box): Promise<SoundTrack | null> {
  const track = { id: 0, scale: 0, units: 0, samples: 0, sampleSeconds: 0, defaultUnits: 0 }
  let isSound = false
  for await (const box of boxesIn(blob, within)) {
    // The long form of both headers has dates of eight bytes.
    if (box.type === 'tkhd') track.id = datedNumber(await contentOf(blob, box, 24))
    if (box.type !== 'mdia') continue
    // QuickTime has a second handler deeper inside, for the place of the data; it does not state the kind of track.
    for await (const inner of boxesIn(blob, box)) {
      if (inner.type === 'hdlr') isSound = (await contentOf(blob, inner, 12)).toString('latin1', 8) === 'soun'
      if (inner.type === 'mdhd') track.scale = datedNumber(await contentOf(blob, inner, 24))
      if (inner.type === 'minf') await readTables(blob, inner, track)
    }
  }
  return isSound ? track : null
}

function datedNumber(content: Buffer): number {
  return numberAt(content, content[0] === 1 ? 20 : 12)
}

async function readTables(blob: BoundedBlob, within: Box, track: SoundTrack): Promise<void> {
  for await (const tables of boxesIn(blob, within, 'stbl')) {
    for await (const box of boxesIn(blob, tables)) {
      if (box.type === 'stts') track.units += await tableUnits(blob, box)
      if (box.type === 'stsz' || box.type === 'stz2')
        track.samples += numberAt(await contentOf(blob, box, 12), 8)
      if (box.type === 'stsd') track.sampleSeconds = await readSampleSeconds(blob, box)
    }
  }
}

/** After a version and a number, each entry is a count of samples and their length. */
async function tableUnits(blob: BoundedBlob, { start, end }: Box): Promise<number> {
  let units = 0
  for (let at = start + 8; at < Math.min(end, blob.size); at += tableReadBytes) {
    const entries = Buffer.from(await blob.read(at, Math.min(end, at + tableReadBytes)))
    for (let entry = 0; entry + 8 <= entries.length; entry += 8)
      units += entries.readUInt32BE(entry) * entries.readUInt32BE(entry + 4)
  }
  return units
}

const tableReadBytes = 8_192
