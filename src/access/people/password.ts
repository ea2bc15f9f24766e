import { SerialTurns } from './serial-turns.ts'

/**
 * Argon2id with the least memory and the passes that OWASP's cheat sheet names for it (19 MiB, 2; read November 2026). One
 * check takes about 20 ms of a thread beside the event loop.
 */
const argon2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Passwords that are worked on at once, so that memory stays bounded when many people guess. */
const passwordsAtOnceMax = 2

/** Hashes passwords and checks them. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** Takes as long without a stored hash as with one, so that the time does not tell whether there is one. */
  isRight(password: string, passwordHash: string | null): Promise<boolean>
}

/** Passwords of this process, a few at a time. */
export function createPasswords(): Passwords {
  const turns = new SerialTurns(passwordsAtOnceMax)
  let decoy: string | null = null
  return {
    hash: (password) => turns.run(() => Bun.password.hash(password, argon2)),
    isRight: (password, passwordHash) =>
      turns.run(async () => {
        if (passwordHash !== null) return Bun.password.verify(password, passwordHash)
        decoy ??= await Bun.password.hash('nobody has this password', argon2)
        await Bun.password.verify(password, decoy)
        return false
      }),
  }
}
