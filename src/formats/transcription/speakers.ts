/** Who speaks, as a word or a segment has it; empty where nobody said. */
export interface NumberedSpeaker {
  speaker?: number
  speaker_label?: string
}

/** Speakers are numbered from 0 in the order in which they are first heard; the provider's own label is kept beside. */
export function createSpeakers(): (label: unknown) => NumberedSpeaker {
  const numbers = new Map<string, number>()
  return (given) => {
    if (typeof given !== 'string' && typeof given !== 'number') return {}
    const label = String(given)
    const speaker = numbers.get(label) ?? numbers.size
    numbers.set(label, speaker)
    return { speaker, speaker_label: label }
  }
}
