import type { Intentions } from './at.ts'

/**
 * Runs all SDKs of one registry in one process: `run.ts <plan.json>`. An SDK may reject the reply of a fake; what it has sent
 * counts, so its error is only printed.
 */
interface Plan {
  key: string
  soundFile: string
  address: string
  runs: readonly { program: string; intention: string; url: string }[]
}

const plan = (await Bun.file(process.argv[2] ?? '').json()) as Plan
const sound = await Bun.file(plan.soundFile).bytes()

// An import keeps the process from its connections, so that nothing is sent before the last SDK is here.
const loaded = new Map<string, Intentions>()
for (const program of new Set(plan.runs.map((run) => run.program))) {
  const { intentions } = (await import(program)) as { intentions: Intentions }
  loaded.set(program, intentions)
}

async function runOne({ program, intention, url }: Plan['runs'][number]): Promise<string | null> {
  try {
    const run = loaded.get(program)?.[intention]
    if (run === undefined) return 'the program has no such intention'
    await run({ url, key: plan.key, sound, soundFile: plan.soundFile, address: plan.address })
    return null
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
}

// Some SDKs keep their address in the module, so that a vendor's intentions go one by one.
const programs = Map.groupBy(plan.runs, ({ program }) => program)
const errors: Record<string, string> = {}
await Promise.all(
  [...programs.values()].map(async (runs) => {
    for (const run of runs) {
      const error = await runOne(run)
      if (error !== null) errors[`${run.program} ${run.intention}`] = error
    }
  }),
)
console.log(JSON.stringify(errors))
process.exit(0)
