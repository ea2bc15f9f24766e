import { assert } from '../../core/assert.ts'
import type { Annotation } from './conversation.ts'
import type { Finish, PartHead, Piece, ReportedUsage, TextEvent, TokenLogprob } from './events.ts'

/** A part of an answer: its head, and its joined pieces. */
export interface AnswerPart {
  head: PartHead
  /** Text of a text, refusal or reasoning; arguments of a tool call. */
  text: string
  /** Paragraphs of a reasoning's summary. */
  summary: string[]
  signature: string | null
  sealed: string | null
  annotations: Annotation[]
  logprobs: TokenLogprob[] | null
}

/** One of the requested answers. `finish` is null for one that was cut off. */
export interface AnswerChoice {
  parts: AnswerPart[]
  finish: Finish | null
}

/** A whole answer: the joined events of its stream. Never empty: an answer without text is a choice without parts. */
export interface Answer {
  upstreamId: string | null
  upstreamModel: string | null
  choices: AnswerChoice[]
  usage: ReportedUsage | null
}

/** A part without content yet. */
export function emptyPart(head: PartHead): AnswerPart {
  return { head, text: '', summary: [], signature: null, sealed: null, annotations: [], logprobs: null }
}

/** The answer in these events. Throws the error of a `failure`. */
export function joinEvents(events: Iterable<TextEvent>): Answer {
  const answer: Answer = { upstreamId: null, upstreamModel: null, choices: [], usage: null }
  const choiceAt = (index: number): AnswerChoice => {
    while (answer.choices.length <= index) answer.choices.push({ parts: [], finish: null })
    const choice = answer.choices[index]
    assert(choice, 'the choice was made')
    return choice
  }
  for (const event of events) {
    if (event.type === 'begin') {
      answer.upstreamId ??= event.upstreamId
      answer.upstreamModel ??= event.upstreamModel
    } else if (event.type === 'usage') {
      answer.usage = event.usage
    } else if (event.type === 'failure') {
      throw event.error
    } else if (event.type === 'finish') {
      const { reason, native, stopSequence, refusal } = event
      choiceAt(event.choice).finish = { reason, native, stopSequence, refusal }
    } else if (event.type === 'part_begin') {
      choiceAt(event.choice).parts.push(emptyPart(event.head))
    } else if (event.type === 'piece') {
      const part = choiceAt(event.choice).parts[event.part]
      assert(part, 'a piece follows the beginning of its part')
      addPiece(part, event.piece)
    }
  }
  return answer
}

/** Adds a piece to its part. */
export function addPiece(part: AnswerPart, piece: Piece): void {
  switch (piece.type) {
    case 'text':
    case 'arguments':
      part.text += piece.text
      return
    case 'summary':
      part.summary[piece.index] = `${part.summary[piece.index] ?? ''}${piece.text}`
      return
    case 'signature':
      part.signature = piece.signature
      return
    case 'sealed':
      part.sealed = piece.data
      return
    case 'annotation':
      part.annotations.push(piece.annotation)
      return
    case 'logprobs':
      part.logprobs ??= []
      for (const token of piece.tokens) part.logprobs.push(token)
  }
}
