/**
 * Marks by which the simulator knows again what it has said: signatures of thoughts, and thoughts that are sent encrypted.
 * A mark depends on its subject and its sealer alone, so every simulator knows the marks of every other, as all machines of
 * one provider do; it does not accept marks of another sealer.
 */
const secret = 'the simulator has no secrets'

function digestOf(text: string): string {
  return new Bun.CryptoHasher('sha256').update(`${secret}\u0000${text}`).digest('hex')
}

/** The sealer when none is named. */
export const usualSealer = ''

/** A mark for a subject. The salt makes two marks of equal subjects differ, such as of two hidden thoughts. */
export function seal(subject: string, salt = '', sealer = usualSealer): string {
  const nonce = digestOf(`nonce ${salt}`).slice(0, 16)
  return Buffer.from(`sim1.${nonce}.${digestOf(`${nonce} ${subject}${sealer}`)}`).toString('base64')
}

/** True when this sealer made the mark for exactly this subject, and it has not changed by a byte. */
export function isSealed(subject: string, mark: string, sealer = usualSealer): boolean {
  const [version, nonce, digest] = Buffer.from(mark, 'base64').toString('latin1').split('.')
  if (version !== 'sim1' || nonce === undefined) return false
  const text = `sim1.${nonce}.${digest}`
  return digest === digestOf(`${nonce} ${subject}${sealer}`) && Buffer.from(text).toString('base64') === mark
}
