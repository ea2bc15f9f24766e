import type { Part, ReasoningPart, Turn } from '../../../canonical/text/conversation.ts'
import type { GeminiModel } from './quirks.ts'

type Wire = Record<string, unknown>

/** Google's placeholder for a lost signature: Google accepts the call, and the model thinks anew. */
const lostSignature = 'skip_thought_signature_validator'

/**
 * Puts the signatures of one turn back on the parts that they came with. A signature is a thought without text before
 * its part: a call's signature has the call's id, and any other belongs to the next text, or stands alone after the
 * last part. A thought with text carries its own signature.
 */
export class Signatures {
  readonly #model: GeminiModel
  /** By the id of the call that the signature came with. */
  readonly #ofCalls = new Map<string, string>()
  /** The signature of a text that has not come yet. */
  #waiting: string | null = null
  #hasCall = false

  constructor({ parts }: Turn, model: GeminiModel) {
    this.#model = model
    const calls = new Set(parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])))
    for (const part of parts) {
      const signature = signatureOf(part)
      if (signature !== null && part.type === 'reasoning' && part.id !== null && calls.has(part.id))
        this.#ofCalls.set(part.id, signature)
    }
  }

  /** A written part with the signature that belongs to it. */
  put(part: Part, written: Wire | Wire[] | null): Wire[] {
    const signature = signatureOf(part)
    if (signature !== null && part.type === 'reasoning') return this.#putThought(part, signature, written)
    if (written === null) return []
    if (Array.isArray(written)) return written
    if (part.type === 'tool_call') return [this.#signCall(part.id, written)]
    if (part.type !== 'text' || this.#waiting === null) return [written]
    const signed = { ...written, thoughtSignature: this.#waiting }
    this.#waiting = null
    return [signed]
  }

  /** A signature without a text, or one that came after its text. */
  rest(): Wire[] {
    return this.#waiting === null ? [] : [{ text: '', thoughtSignature: this.#waiting }]
  }

  #putThought({ id }: ReasoningPart, signature: string, written: Wire | Wire[] | null): Wire[] {
    if (written !== null && !Array.isArray(written)) return [{ ...written, thoughtSignature: signature }]
    if (id !== null && this.#ofCalls.has(id)) return []
    const before = this.rest()
    this.#waiting = signature
    return before
  }

  #signCall(id: string, written: Wire): Wire {
    const isFirst = !this.#hasCall
    this.#hasCall = true
    const signature = this.#ofCalls.get(id)
    if (signature !== undefined) return { ...written, thoughtSignature: signature }
    return isFirst && this.#model.needsSignatures ? { ...written, thoughtSignature: lostSignature } : written
  }
}

/** The part's signature; null when there is none or it is another provider's. */
function signatureOf(part: Part): string | null {
  return part.type === 'reasoning' && part.origin === 'gemini' ? (part.sealed ?? part.signature) : null
}
