import type { GatewayError } from '../../core/errors.ts'

/** What is answered when several things are wrong: the first of these. */
const precedence = [413, 400, 422, 404, 403, 402]

/** Everything wrong with an upload so far; keeps what will be answered: of the most important kind the first found. */
export class Findings {
  #worst: GatewayError | null = null

  add(error: GatewayError): void {
    if (this.#worst === null || rankOf(error) < rankOf(this.#worst)) this.#worst = error
  }

  get worst(): GatewayError | null {
    return this.#worst
  }

  /** Nothing that follows in the body can matter more, except its size. */
  get isFinal(): boolean {
    return this.#worst !== null && rankOf(this.#worst) <= precedence.indexOf(400)
  }

  throwIfAny(): void {
    if (this.#worst !== null) throw this.#worst
  }
}

/** Failures outside of the list, such as storage being down, are answered before anything about the body. */
function rankOf(error: GatewayError): number {
  return precedence.indexOf(error.status)
}
