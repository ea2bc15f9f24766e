import type { Conversation, ReasoningPart, Turn } from '../../../canonical/text/conversation.ts'
import type { Answer, AnswerPart } from '../../../canonical/text/answer.ts'
import type { PartHead, TextEvent } from '../../../canonical/text/events.ts'
import type { StreamReader } from '../halves.ts'
import type { TextQuirks } from '../codec.ts'

/**
 * The mark of a provider's seals: its slug, which all its deployments share, or `undefined` for the maker of the
 * format. A seal without a mark, which a client may have from the maker itself, counts as the maker's.
 */
export function sealerOf(quirks: TextQuirks, providerSlug: string): string | undefined {
  return quirks.isMaker === true ? undefined : providerSlug
}

/** The head of a part with the mark of the provider that sealed it. */
export function markHead(head: PartHead, sealer: string | undefined): PartHead {
  return sealer === undefined || head.type !== 'reasoning' || head.origin === null
    ? head
    : { ...head, sealer }
}

/** The same for a stream. */
export function markStream(reader: StreamReader, sealer: string | undefined): StreamReader {
  if (sealer === undefined) return reader
  const marked = (event: TextEvent): TextEvent =>
    event.type === 'part_begin' ? { ...event, head: markHead(event.head, sealer) } : event
  return {
    push: (chunk) => reader.push(chunk).map(marked),
    end: () => reader.end().map(marked),
    get isTerminated() {
      return reader.isTerminated
    },
  }
}

/** The same for a whole answer. */
export function markAnswer(answer: Answer, sealer: string | undefined): Answer {
  const marked = (part: AnswerPart) => ({ ...part, head: markHead(part.head, sealer) })
  return {
    ...answer,
    choices: answer.choices.map((choice) => ({ ...choice, parts: choice.parts.map(marked) })),
  }
}

/**
 * The conversation for a provider that can open the seals of `sealer`: seals of other providers are removed together
 * with their thoughts. A chat completions host gets the text of these thoughts, because there thoughts are text. It
 * also gets seals of a format's maker, because it may itself ask that maker.
 */
export function withoutForeignSeals(
  conversation: Conversation,
  { sealer, format }: { sealer: string | undefined; format: TextQuirks['format'] },
): { conversation: Conversation; hasForeign: boolean } {
  const isChat = format === 'chat'
  const isForeign = (part: Turn['parts'][number]): part is ReasoningPart =>
    part.type === 'reasoning' &&
    (part.signature !== null || part.sealed !== null) &&
    part.sealer !== sealer &&
    !(isChat && part.sealer === undefined)
  if (!conversation.turns.some(({ parts }) => parts.some(isForeign)))
    return { conversation, hasForeign: false }
  const strip = (part: ReasoningPart): ReasoningPart => {
    const { sealer: _foreign, ...rest } = part
    const words = isChat ? {} : { text: null, summary: null }
    return { ...rest, signature: null, sealed: null, origin: null, ...words }
  }
  const turns = conversation.turns.map((turn) =>
    turn.parts.some(isForeign)
      ? { ...turn, parts: turn.parts.map((part) => (isForeign(part) ? strip(part) : part)) }
      : turn,
  )
  return { conversation: { ...conversation, turns }, hasForeign: true }
}
