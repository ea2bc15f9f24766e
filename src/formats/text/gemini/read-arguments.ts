import { streamHeldFramesMax } from '../../../core/limits/text.ts'
import { isRecord } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>
type Container = Map<string, unknown> | unknown[]

/** The most entries of a list that may be missing before the next one; more means a broken provider. */
const missingEntriesMax = 1_000
/** One step of a path: a name, a quoted name, or an index. */
const step = /\.([^.[\]]+)|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\d{1,6}))\]/y

/**
 * Joins the arguments of a call that arrive value by value, each with its path; a text may come in several pieces.
 * Throws an Error for a path that cannot be followed.
 */
export class StreamedArguments {
  readonly #root = new Map<string, unknown>()
  #pieces = 0

  /** Adds the arguments of one frame. */
  add(partialArgs: unknown): void {
    if (!Array.isArray(partialArgs)) return
    for (const piece of partialArgs.filter(isRecord)) {
      this.#pieces += 1
      if (this.#pieces > streamHeldFramesMax) throw new RangeError('a call has too many pieces of arguments')
      this.#put(piece)
    }
  }

  toJson(): string {
    return JSON.stringify(plain(this.#root))
  }

  #put(piece: Wire): void {
    const value = valueOf(piece)
    if (value === undefined) return
    const steps = stepsOf(piece['jsonPath'])
    const last = steps.at(-1)
    if (last === undefined) throw new Error('a piece of arguments has no place')
    let container: Container = this.#root
    for (const [index, key] of steps.slice(0, -1).entries())
      container = inside(container, key, steps[index + 1] ?? '')
    const before = read(container, last)
    // Consecutive pieces of one text are joined.
    write(container, last, typeof before === 'string' && typeof value === 'string' ? before + value : value)
  }
}

function valueOf(piece: Wire): unknown {
  for (const name of ['stringValue', 'numberValue', 'boolValue'])
    if (piece[name] !== undefined) return piece[name]
  return 'nullValue' in piece ? null : undefined
}

function stepsOf(path: unknown): (string | number)[] {
  if (typeof path !== 'string' || !path.startsWith('$')) throw new Error('a piece of arguments has no path')
  const steps: (string | number)[] = []
  step.lastIndex = 1
  while (step.lastIndex < path.length) {
    const match = step.exec(path)
    if (match === null) throw new Error('the path of an argument cannot be read')
    const [, name, single, double, place] = match
    const quoted = single ?? double
    if (place !== undefined) steps.push(Number(place))
    else steps.push(quoted === undefined ? (name ?? '') : quoted.replaceAll(/\\(.)/g, '$1'))
  }
  return steps
}

/** The container at a step. A missing one is made: a list if the next step is an index. */
function inside(container: Container, key: string | number, next: string | number): Container {
  const known = read(container, key)
  if (known instanceof Map || Array.isArray(known)) return known
  const made: Container = typeof next === 'number' ? [] : new Map<string, unknown>()
  write(container, key, made)
  return made
}

function read(container: Container, key: string | number): unknown {
  if (Array.isArray(container)) return typeof key === 'number' ? container[key] : undefined
  return container.get(String(key))
}

function write(container: Container, key: string | number, value: unknown): void {
  if (!Array.isArray(container)) {
    container.set(String(key), value)
    return
  }
  if (typeof key !== 'number' || key > container.length + missingEntriesMax)
    throw new RangeError('an argument has no place in its list')
  while (container.length < key) container.push(null)
  container[key] = value
}

/** Maps become objects. Until then no name can collide with one of JavaScript's own. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return value
  const entries = [...value].map(([name, each]) => [String(name), plain(each)])
  return Object.fromEntries(entries)
}
