import { judgeBooks } from '../../clients/books.ts'
import { rowsOf } from '../../clients/client-rows.ts'
import { aiSdkClients, passedClients } from '../../clients/clients.ts'
import { createPackages, type Packages } from '../../clients/packages.ts'
import { readTask } from '../../clients/task.ts'
import { startClientsWorld } from '../../clients/world.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'
import { checkOut, versionOfOutsiders } from '../version-before.ts'

export const proof: Proof = {
  title:
    'AI SDK 5, 6 and 7 by every provider, and official clients on their own format: cases and validation errors',
  async run() {
    const before = checkOut(versionOfOutsiders)
    if (before === null) return notRun('the history does not reach back to the version before')
    const packages = createPackages()
    const world = await startClientsWorld()
    try {
      const rows = await rowsOf([...aiSdkClients, ...passedClients], { packages, world, task: readTask() })
      const books = await judgeBooks(world)
      return combine([...rows, books, await judgeBefore(before, packages)])
    } finally {
      await world.stop()
      packages.remove()
    }
  },
}

/** Those that could not read the answers of the version before. */
const failedBefore = ['AI SDK 5, messages', 'AI SDK 6, messages']

async function judgeBefore(root: string, packages: Packages): Promise<ProofResult> {
  const clients = aiSdkClients.filter(({ name, mount }) => failedBefore.includes(name) && mount === 'chat')
  const world = await startClientsWorld(root)
  try {
    const rows = await rowsOf(clients, { packages, world, task: readTask() })
    const failed = rows.filter(({ status }) => status === 'FAIL').length
    const figures = rows.flatMap((row) => row.figures).map((figure) => `before: ${figure}`)
    return { status: failed === failedBefore.length ? 'PASS' : 'FAIL', figures }
  } finally {
    await world.stop()
  }
}
