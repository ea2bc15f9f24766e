import type { GatewayError } from '../../core/errors.ts'

/** Of several problems, the one whose status comes first here is answered. */
const precedence = [413, 400, 422, 404, 403, 402]

/** The problems of an upload so far. Keeps one: the first that was found of the highest precedence. */
export class Findings {
  #worst: GatewayError | null = null

  add(error: GatewayError): void {
    if (this.#worst === null || rankOf(error) < rankOf(this.#worst)) this.#worst = error
  }

  get worst(): GatewayError | null {
    return this.#worst
  }

  /** Whether nothing later in the body could have a higher precedence, except its size. */
  get isFinal(): boolean {
    return this.#worst !== null && rankOf(this.#worst) <= precedence.indexOf(400)
  }

  throwIfAny(): void {
    if (this.#worst !== null) throw this.#worst
  }
}

/** A status that is not in the list, such as that of storage being down, comes before all problems of the body. */
function rankOf(error: GatewayError): number {
  return precedence.indexOf(error.status)
}
