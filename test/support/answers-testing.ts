import { BadAnswer } from '../../src/transport/answer-head.ts'
import { AnswerParser } from '../../src/transport/answer-parser.ts'

/** What was read of an answer. */
export interface ParsedAnswer {
  status: number
  headers: [string, string][]
  body: string
  /** `whole`: the answer has ended. `waiting`: more must come, or the connection must close. Else why it was refused. */
  end: string
  /** Bytes that belong to no answer. */
  surplus: number
  keepsConnection: boolean
}

/** Feeds an answer in Latin-1 in reads cut at these places; `isClosed` closes the connection after it. */
export function parseAnswer(text: string, cuts: readonly number[] = [], isClosed = false): ParsedAnswer {
  const parser = new AnswerParser()
  const body: Buffer[] = []
  const parsed: ParsedAnswer = {
    status: 0,
    headers: [],
    body: '',
    end: 'waiting',
    surplus: 0,
    keepsConnection: false,
  }
  parser.begin({
    onHead(head) {
      parsed.status = head.status
      parsed.headers = [...head]
      parsed.keepsConnection = head.keepsConnection
    },
    onBody: (bytes) => void body.push(bytes),
  })
  const bytes = Buffer.from(text, 'latin1')
  try {
    let start = 0
    for (const cut of [...cuts, bytes.length]) {
      // The parser may write into what it reads.
      const read = Buffer.from(bytes.subarray(start, cut))
      parsed.surplus += parser.hasEnded ? read.length : read.length - parser.feed(read)
      start = cut
    }
    if (parser.hasEnded || (isClosed && parser.close())) parsed.end = 'whole'
  } catch (thrown) {
    if (!(thrown instanceof BadAnswer)) throw thrown
    parsed.end = thrown.code
  }
  parsed.body = Buffer.concat(body).toString('latin1')
  return parsed
}

/** Every place of a text at which a read can end. */
export function everyCut(text: string): number[] {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => index + 1)
}
