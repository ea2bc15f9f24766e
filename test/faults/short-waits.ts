/** Milliseconds that the gateway of these tests waits; in truth they are minutes. */
export const shortWaits = { firstByteMs: 3_000, idleMs: 1_000, deadlineMs: 9_000 }

interface Replacement {
  file: RegExp
  from: string
  to: string
}

const replacements: readonly Replacement[] = [
  {
    file: /\/src\/transport\/time-limits\.ts$/,
    from: 'upstreamIdleMs = 300_000',
    to: `upstreamIdleMs = ${shortWaits.idleMs}`,
  },
  {
    file: /\/src\/execution\/operations\.ts$/,
    from: 'const minute = 60_000',
    to: `const minute = ${shortWaits.deadlineMs / 30}`,
  },
]

/**
 * Shortens the bounds of waits in every module that is loaded from now on, so that a provider's silence can be waited
 * out for real. Throws at their loading where a bound has another name or value by now.
 */
export function shortenWaits(): void {
  Bun.plugin({
    name: 'short waits',
    setup(build) {
      for (const { file, from, to } of replacements) {
        build.onLoad({ filter: file }, async ({ path }) => {
          const text = await Bun.file(path).text()
          if (!text.includes(from)) throw new Error(`${path} has no "${from}" to shorten`)
          return { contents: text.replace(from, to), loader: 'ts' }
        })
      }
    },
  })
}
